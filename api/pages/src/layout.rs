//! The frame of every page.

use answers::auth::access::Access;
use answers::route;
use answers::site::Site;
use answers::state::ApiState;
use schemas::api::site;
use schemas::record::Category;
use serde_json::{Value, json};

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
    /// The category whose feeds the page links, if not those of the whole catalog.
    pub(crate) category: Option<Category>,
    /// Further metadata.
    pub(crate) meta: Vec<Meta>,
    /// Whether it asks search engines not to index it.
    pub(crate) is_private: bool,
    /// Whether this node requires keys.
    pub(crate) has_keys: bool,
    /// Whether the catalog is known to have no project, so that there is nothing to search.
    pub(crate) is_empty: bool,
    /// The operator's links: name and URL.
    pub(crate) links: Vec<(&'static str, String)>,
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
            category: None,
            meta: Vec::new(),
            is_private: false,
            has_keys: matches!(state.access(), Access::Keys(_)),
            is_empty: state.listing().is_ok_and(|listing| listing.listed(None) == 0),
            links: site.links().collect(),
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

    /// Returns the feeds of the latest additions: media type, name and path.
    pub(crate) fn feeds(&self) -> [(&'static str, String, String); 2] {
        let of = self.category.map(|category| format!(": {}", category.title())).unwrap_or_default();
        let query =
            self.category.map(|category| format!("?category={}", category.as_str())).unwrap_or_default();
        let feed =
            |kind, name: &str, path| (kind, format!("{name}{of}"), format!("{}{path}{query}", self.base));
        [
            feed("application/atom+xml", "Atom feed", route::FEED),
            feed("application/feed+json", "JSON feed", route::JSON_FEED),
        ]
    }

    /// Adds what other sites show of a link to the page: Open Graph, and the kind of card. The description and the canonical URL are
    /// set before.
    pub(crate) fn shared_as(self, kind: &str, title: &str) -> Layout {
        let (name, description) = (self.name.clone(), self.description.clone());
        let url = self.canonical.clone().unwrap_or_else(|| self.site.clone());
        self.property("og:type", kind)
            .property("og:site_name", name)
            .property("og:title", title)
            .property("og:description", description)
            .property("og:url", url)
    }

    /// Sets the kind of the card: with a large picture, or without one.
    pub(crate) fn card(mut self, has_picture: bool) -> Layout {
        let content = if has_picture { "summary_large_image" } else { "summary" };
        self.meta.push(Meta { attribute: "name", name: "twitter:card", content: content.to_owned() });
        self
    }

    /// Adds an Open Graph property.
    pub(crate) fn property(mut self, name: &'static str, content: impl Into<String>) -> Layout {
        self.meta.push(Meta { attribute: "property", name, content: content.into() });
        self
    }

    /// Returns the entries of the navigation.
    pub(crate) fn navigation(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let keys = [(route::KEYS, "Get a key"), (route::USAGE_PAGE, "Usage"), (route::PRICING, "Pricing")];
        let search = (route::HOME, "Search");
        [(!self.is_empty).then_some(search), Some((route::DOCS, "API")), Some((route::CONNECT, "Connect"))]
            .into_iter()
            .flatten()
            .chain(keys.into_iter().filter(|_| self.has_keys))
    }

    pub(crate) fn is_here(&self, path: &str) -> bool {
        self.here == path
    }
}

/// Returns names and URLs, from the front page on, as a breadcrumb list of JSON-LD.
pub(crate) fn breadcrumb_list(items: &[(&str, &str)]) -> Value {
    let items = (1..).zip(items).map(|(position, (name, url))| {
        json!({"@type": "ListItem", "position": position, "name": name, "item": url})
    });
    json!({"@type": "BreadcrumbList", "itemListElement": items.collect::<Vec<Value>>()})
}

/// Returns rendered text with paths in place of this site's URLs, so that pages work under every host name.
pub(super) fn with_paths(rendered: &[u8], site: &Site) -> Vec<u8> {
    let mut text = Vec::with_capacity(rendered.len() + 64);
    site::fill(rendered, site.path(), &mut text);
    text
}
