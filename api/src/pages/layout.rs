//! The frame of every page.

use answers::auth::access::Access;
use answers::route;
use answers::site::Site;
use answers::state::ApiState;
use schemas::api::site;

use super::assets;

/// The values of the frame of a page.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The prefix of every path, if the site is served below one.
    pub(crate) base: String,
    /// The base URL of the site.
    pub(crate) site: String,
    /// The path of the assets.
    pub(crate) assets: String,
    /// The name of the catalog.
    pub(crate) name: String,
    /// The tagline of the catalog.
    pub(crate) tagline: String,
    /// The title of the page.
    pub(crate) title: String,
    /// A one-sentence description for search engines.
    pub(crate) description: String,
    /// The entry of the navigation that is marked as current.
    pub(crate) here: &'static str,
    /// The canonical URL of the page.
    pub(crate) canonical: Option<String>,
    /// Further metadata.
    pub(crate) meta: Vec<Meta>,
    /// Whether it asks search engines not to index it.
    pub(crate) is_private: bool,
    /// Whether this node requires keys.
    pub(crate) has_keys: bool,
}

/// A `meta` element: its attribute is `name`, or `property` for Open Graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) attribute: &'static str,
    pub(crate) name: &'static str,
    pub(crate) content: String,
}

impl Layout {
    pub(crate) fn new(state: &ApiState, here: &'static str, title: impl Into<String>) -> Layout {
        let site = state.site();
        let base = site.path().to_owned();
        Layout {
            assets: format!("{base}/assets/{}", *assets::VERSION),
            base,
            site: site.to_string(),
            name: site.name().to_owned(),
            tagline: site.tagline().to_owned(),
            title: title.into(),
            description: site.about().unwrap_or(site.tagline()).to_owned(),
            here,
            canonical: None,
            meta: Vec::new(),
            is_private: false,
            has_keys: matches!(state.access(), Access::Keys(_)),
        }
    }

    /// Marks the page as not to be indexed.
    pub(crate) fn private(self) -> Layout {
        Layout { is_private: true, ..self }
    }

    /// Sets the description and the canonical path.
    pub(crate) fn describing(self, description: impl Into<String>, path: &str) -> Layout {
        let canonical = Some(format!("{}{path}", self.site));
        Layout { description: description.into(), canonical, ..self }
    }

    /// Returns the title of the window, which contains the catalog's name.
    pub(crate) fn window(&self) -> String {
        if self.title == self.name { self.name.clone() } else { format!("{} · {}", self.title, self.name) }
    }

    /// Adds an Open Graph property.
    pub(crate) fn property(mut self, name: &'static str, content: impl Into<String>) -> Layout {
        self.meta.push(Meta { attribute: "property", name, content: content.into() });
        self
    }

    /// Returns the entries of the navigation.
    pub(crate) fn navigation(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let keys = [(route::KEYS, "Get a key"), (route::USAGE_PAGE, "Usage"), (route::PRICING, "Pricing")];
        [(route::HOME, "Search"), (route::DOCS, "API")]
            .into_iter()
            .chain(keys.into_iter().filter(|_| self.has_keys))
    }

    pub(crate) fn is_here(&self, path: &str) -> bool {
        self.here == path
    }
}

/// Returns rendered text with paths in place of this site's URLs, so that pages work under every host name.
pub(super) fn with_paths(rendered: &[u8], site: &Site) -> Vec<u8> {
    let mut text = Vec::with_capacity(rendered.len() + 64);
    site::fill(rendered, site.path(), &mut text);
    text
}
