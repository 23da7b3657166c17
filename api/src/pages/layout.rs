//! What surrounds every page.

use schemas::api::site;

use super::assets;
use crate::auth::access::Access;
use crate::site::Site;
use crate::state::ApiState;

/// The frame of a page.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// What stands before every path: the site may live below one.
    pub(crate) base: String,
    /// Where the site is reached.
    pub(crate) site: String,
    /// The path of the style sheet and its like.
    pub(crate) assets: String,
    /// What the catalog is called.
    pub(crate) name: String,
    /// One line about it.
    pub(crate) tagline: String,
    /// The heading of the window.
    pub(crate) title: String,
    /// One sentence for those who list pages.
    pub(crate) description: String,
    /// The path in the navigation that this page belongs to.
    pub(crate) here: &'static str,
    /// The address that the page goes by.
    pub(crate) canonical: Option<String>,
    /// Further metadata.
    pub(crate) meta: Vec<Meta>,
    /// Whether search engines leave it out.
    pub(crate) is_private: bool,
    /// Whether anybody needs a key here.
    pub(crate) has_keys: bool,
}

/// A piece of metadata: its attribute is `name`, or `property` for Open Graph.
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

    /// For one reader only: nothing that search engines should keep.
    pub(crate) fn private(self) -> Layout {
        Layout { is_private: true, ..self }
    }

    /// With the sentence that describes it, and the path that it goes by.
    pub(crate) fn describing(self, description: impl Into<String>, path: &str) -> Layout {
        let canonical = Some(format!("{}{path}", self.site));
        Layout { description: description.into(), canonical, ..self }
    }

    /// The title of the window: the catalog's name stands in each.
    pub(crate) fn window(&self) -> String {
        if self.title == self.name { self.name.clone() } else { format!("{} · {}", self.title, self.name) }
    }

    /// With a piece of Open Graph.
    pub(crate) fn property(mut self, name: &'static str, content: impl Into<String>) -> Layout {
        self.meta.push(Meta { attribute: "property", name, content: content.into() });
        self
    }

    /// Where every page leads to.
    pub(crate) fn navigation(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let keys = [("/keys", "Get a key"), ("/usage", "Usage"), ("/pricing", "Pricing")];
        [("/", "Search"), ("/docs", "API")].into_iter().chain(keys.into_iter().filter(|_| self.has_keys))
    }

    pub(crate) fn is_here(&self, path: &str) -> bool {
        self.here == path
    }
}

/// Text that a read model has rendered, with paths in place of this site's addresses, so that a page works by whatever
/// name it is reached.
pub(super) fn with_paths(rendered: &[u8], site: &Site) -> Vec<u8> {
    let mut text = Vec::with_capacity(rendered.len() + 64);
    site::fill(rendered, site.path(), &mut text);
    text
}
