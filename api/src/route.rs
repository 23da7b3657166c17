//! The paths of the public listener, and what the rest of the crate must know of each: its name in metrics, its methods,
//! whether it needs a key. It knows no endpoint; `routes` ties each path to the one that answers it.

use http::HeaderValue;

/// The path prefix of a project's record.
pub(crate) const PROJECT: &str = "/v1/project";
/// The path of the search.
pub(crate) const SEARCH: &str = "/v1/search";
/// The path prefix of the projects that are similar to one.
pub(crate) const SIMILAR: &str = "/v1/similar";
/// The OpenAPI document for generators that only know version 3.0.
pub(crate) const OPENAPI_3_0: &str = "/openapi-3.0.json";
/// The card of the MCP endpoint, at the path that SEP-2127 reserves.
pub(crate) const SERVER_CARD: &str = "/mcp/server-card";
/// Where clients look that know nothing but a host.
pub(crate) const AI_CATALOG: &str = "/.well-known/ai-catalog.json";
/// The manifest that an operator hands to the MCP registry.
pub(crate) const REGISTRY_MANIFEST: &str = "/server.json";
/// The site in words, for language models.
pub(crate) const LLMS: &str = "/llms.txt";
/// The feed of the newest selections.
pub(crate) const FEED: &str = "/feed.atom";
/// What crawlers may read.
pub(crate) const ROBOTS: &str = "/robots.txt";
/// The index of the sitemap.
pub(crate) const SITEMAP: &str = "/sitemap.xml";
/// What the paths of all parts of the sitemap begin with.
pub(crate) const SITEMAP_PARTS: &str = "/sitemap-";

/// A kind of path, as metrics name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Search,
    Project,
    Similar,
    Usage,
    Mcp,
    Media,
    Cite,
    Feeds,
    Page,
    Form,
    Webhook,
    Asset,
    Problems,
    OpenApi,
    Discovery,
    Health,
    Ready,
    Other,
}

impl Route {
    pub(crate) const ALL: [Route; 18] = [
        Route::Search,
        Route::Project,
        Route::Similar,
        Route::Usage,
        Route::Mcp,
        Route::Media,
        Route::Cite,
        Route::Feeds,
        Route::Page,
        Route::Form,
        Route::Webhook,
        Route::Asset,
        Route::Problems,
        Route::OpenApi,
        Route::Discovery,
        Route::Health,
        Route::Ready,
        Route::Other,
    ];

    /// The path as axum matches it.
    pub(crate) fn pattern(self) -> &'static str {
        match self {
            Route::Search => "/v1/search",
            Route::Project => "/v1/project/{slug}",
            Route::Similar => "/v1/similar/{slug}",
            Route::Usage => "/v1/usage",
            Route::Mcp => "/mcp",
            Route::Media => "/media/{picture}/{file}",
            Route::Cite => "/cite/{slug}/{revision}",
            Route::Feeds => "feeds",
            Route::Page => "page",
            Route::Form => "form",
            Route::Webhook => "/webhooks/stripe",
            Route::Asset => "/assets/{file}",
            Route::Problems => "/problems/{name}",
            Route::OpenApi => "/openapi.json",
            Route::Discovery => "discovery",
            Route::Health => "/healthz",
            Route::Ready => "/readyz",
            Route::Other => "other",
        }
    }

    /// Whether it needs a key.
    pub(crate) fn is_keyed(self) -> bool {
        self.operation().is_some() || self == Route::Usage
    }

    /// What a call is counted as, if it counts. A call of a tool is counted where the tool is known.
    pub(crate) fn operation(self) -> Option<&'static str> {
        match self {
            Route::Search => Some("search"),
            Route::Project => Some("project"),
            Route::Similar => Some("similar"),
            Route::Usage
            | Route::Mcp
            | Route::Media
            | Route::Cite
            | Route::Feeds
            | Route::Page
            | Route::Form
            | Route::Webhook
            | Route::Asset
            | Route::Problems
            | Route::OpenApi
            | Route::Discovery
            | Route::Health
            | Route::Ready
            | Route::Other => None,
        }
    }

    /// Whether calls without a key are limited by address, and those with one too. Pictures, styles and fonts are not: a
    /// page brings many of them.
    pub(crate) fn is_limited_by_address(self) -> bool {
        matches!(
            self,
            Route::Page
                | Route::Cite
                | Route::Feeds
                | Route::Form
                | Route::Problems
                | Route::OpenApi
                | Route::Discovery
        )
    }

    /// Whether people are told there, in their browser, what went wrong.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Route::Cite | Route::Page | Route::Form | Route::Problems | Route::Other)
    }

    /// Its methods, as `Allow` lists them.
    pub(crate) fn methods(self) -> HeaderValue {
        match self {
            Route::Mcp | Route::Webhook => HeaderValue::from_static("POST, OPTIONS"),
            Route::Form => HeaderValue::from_static("GET, HEAD, POST, OPTIONS"),
            _ => HeaderValue::from_static("GET, HEAD, OPTIONS"),
        }
    }

    /// The kind of a path.
    pub(crate) fn of(path: &str) -> Route {
        match path {
            "/v1/search" => Route::Search,
            "/v1/usage" => Route::Usage,
            "/mcp" | "/mcp/" => Route::Mcp,
            "/openapi.json" | OPENAPI_3_0 => Route::OpenApi,
            SERVER_CARD | AI_CATALOG | REGISTRY_MANIFEST | LLMS => Route::Discovery,
            FEED | ROBOTS | SITEMAP => Route::Feeds,
            "/" | "/pricing" | "/docs" | "/status" => Route::Page,
            "/keys" | "/keys/link" | "/usage" => Route::Form,
            "/webhooks/stripe" => Route::Webhook,
            "/healthz" => Route::Health,
            "/readyz" => Route::Ready,
            _ if path.starts_with("/v1/project/") => Route::Project,
            _ if path.starts_with("/v1/similar/") => Route::Similar,
            _ if path.starts_with("/media/") => Route::Media,
            _ if path.starts_with("/cite/") => Route::Cite,
            _ if path.starts_with(SITEMAP_PARTS) => Route::Feeds,
            _ if path.starts_with("/projects/") => Route::Page,
            _ if path.starts_with("/claim/") => Route::Form,
            _ if path.starts_with("/assets/") => Route::Asset,
            _ if path.starts_with("/problems/") => Route::Problems,
            _ => Route::Other,
        }
    }
}
