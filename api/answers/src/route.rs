//! The paths of the public listener, in one table: the router, the route of a request and the links of pages all follow from it. So
//! does what differs between routes: the name in metrics, the methods, whether a key is needed. The router connects each path with
//! its endpoint.

use std::time::Duration;

use http::HeaderValue;
use schemas::record::Category;

/// Declares the paths as axum matches them, each with its route.
macro_rules! paths {
    ($($name:ident = $pattern:literal, $route:ident;)+) => {
        $(#[doc = concat!("The path `", $pattern, "`.")] pub const $name: &str = $pattern;)+
        /// All paths; the most frequent ones come first.
        const PATHS: &[(&str, Route)] = &[$(($name, Route::$route)),+];
    };
}

paths! {
    SEARCH = "/v1/search", Search;
    PROJECT = "/v1/project/{slug}", Project;
    SIMILAR = "/v1/similar/{slug}", Similar;
    SIMILAR_TO_TEXT = "/v1/similar", Similar;
    PROJECTS = "/v1/projects", Projects;
    TASTE = "/v1/taste", Taste;
    DISCOVER = "/v1/discover", Discover;
    TERMS = "/v1/terms", Terms;
    SUGGEST = "/v1/suggest", Suggest;
    CHANGES = "/v1/changes", Changes;
    USAGE = "/v1/usage", Usage;
    MCP = "/mcp", Mcp;
    MCP_WITH_SLASH = "/mcp/", Mcp;
    MEDIA = "/media/{picture}/{file}", Media;
    CITE = "/cite/{slug}/{revision}", Cite;
    CITE_NEWEST = "/cite/{slug}", Cite;
    HOME = "/", Page;
    PROJECT_PAGE = "/projects/{slug}", Page;
    ARCHITECTURE = "/architecture", Page;
    INTERIORS = "/interiors", Page;
    DESIGN = "/design", Page;
    PHOTOGRAPHY = "/photography", Page;
    ART = "/art", Page;
    SURPRISE = "/surprise", Page;
    BOARD = "/board", Page;
    TERMS_PAGE = "/taste/{dimension}", Page;
    CONNECT = "/connect", Page;
    STUDIO = "/studios/{name}", Page;
    CURATOR = "/curators/{name}", Page;
    PRICING = "/pricing", Page;
    COMPLETIONS = "/suggest", Page;
    DOCS = "/docs", Page;
    DOCS_TOPIC = "/docs/{topic}", Page;
    STATUS = "/status", Page;
    KEYS = "/keys", Form;
    KEYS_LINK = "/keys/link", Form;
    USAGE_PAGE = "/usage", Form;
    CLAIM = "/claim/{token}", Form;
    ASSETS = "/assets/{version}/{file}", Asset;
    FAVICON = "/favicon.ico", Asset;
    TOUCH_ICON = "/apple-touch-icon.png", Asset;
    PROBLEMS = "/problems/{name}", Problems;
    HEALTH = "/healthz", Health;
    READY = "/readyz", Ready;
    FEED = "/feed.atom", Feeds;
    JSON_FEED = "/feed.json", Feeds;
    ROBOTS = "/robots.txt", Feeds;
    SITEMAP = "/sitemap.xml", Feeds;
    SITEMAP_PARTS = "/sitemap-{number}.xml", Feeds;
    OPENAPI = "/openapi.json", OpenApi;
    OPENAPI_3_0 = "/openapi-3.0.json", OpenApi;
    SERVER_CARD = "/mcp/server-card", Discovery;
    AI_CATALOG = "/.well-known/ai-catalog.json", Discovery;
    REGISTRY_MANIFEST = "/server.json", Discovery;
    LLMS = "/llms.txt", Discovery;
    WEBHOOK = "/webhooks/stripe", Webhook;
}

/// Returns the part of a path before its first parameter: `/v1/project/` of `/v1/project/{slug}`.
pub const fn prefix(pattern: &str) -> &str {
    let mut end = 0;
    while end < pattern.len() && pattern.as_bytes()[end] != b'{' {
        end += 1;
    }
    pattern.split_at(end).0
}

/// Returns the path of the page of a category.
pub const fn of_category(category: Category) -> &'static str {
    match category {
        Category::Architecture => ARCHITECTURE,
        Category::Interiors => INTERIORS,
        Category::Design => DESIGN,
        Category::Photography => PHOTOGRAPHY,
        Category::Art => ART,
    }
}

/// The maximum time for which a call of changes waits.
pub const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Declares the groups of paths: what each is, its name, and the operation as which its calls are charged, if they are.
macro_rules! routes {
    ($($(#[$doc:meta])* $route:ident = $name:expr $(, charged as $operation:literal)?;)+) => {
        /// A group of paths that are treated alike.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Route {
            $($(#[$doc])* $route,)+
        }

        impl Route {
            /// All routes, each at the index of its discriminant.
            pub const ALL: [Route; [$($name),+].len()] = [$(Route::$route),+];

            /// Returns its name in metrics, traces and the status page.
            pub fn name(self) -> &'static str {
                match self { $(Route::$route => $name,)+ }
            }

            /// Returns the operation as which a call is charged, if it is. Calls of MCP tools are charged by the endpoint.
            pub fn operation(self) -> Option<&'static str> {
                match self {
                    $($(Route::$route => Some($operation),)?)+
                    _ => None,
                }
            }
        }
    };
}

routes! {
    /// Search by text.
    Search = SEARCH, charged as "search";
    /// The record of a project.
    Project = PROJECT, charged as "project";
    /// The projects similar to one, or to a text.
    Similar = SIMILAR, charged as "similar";
    /// The newest projects, or several by slug.
    Projects = PROJECTS, charged as "projects";
    /// Search by taste.
    Taste = TASTE, charged as "taste";
    /// A random project.
    Discover = DISCOVER, charged as "discover";
    /// The words of the taste dimensions.
    Terms = TERMS;
    /// Suggestions while a text is typed.
    Suggest = SUGGEST;
    /// What happened to the projects.
    Changes = CHANGES, charged as "changes";
    /// The usage of a key.
    Usage = USAGE;
    /// The MCP endpoint.
    Mcp = MCP;
    /// Stored pictures.
    Media = MEDIA;
    /// Citations.
    Cite = CITE;
    /// The feeds, the sitemap and `robots.txt`.
    Feeds = "feeds";
    /// Pages for people.
    Page = "page";
    /// Pages with a form.
    Form = "form";
    /// The webhook of the payment provider.
    Webhook = WEBHOOK;
    /// Styles, scripts and fonts.
    Asset = "/assets/{file}";
    /// The pages that explain problems.
    Problems = PROBLEMS;
    /// The OpenAPI documents.
    OpenApi = OPENAPI;
    /// Documents from which agents learn of the service.
    Discovery = "discovery";
    /// Whether the process runs.
    Health = HEALTH;
    /// Whether the node is ready.
    Ready = READY;
    /// All other paths.
    Other = "other";
}

impl Route {
    /// Returns whether it needs a key.
    pub fn is_keyed(self) -> bool {
        self.operation().is_some() || matches!(self, Route::Usage | Route::Terms | Route::Suggest)
    }

    /// Returns whether calls are limited by address, with and without a key. Pictures, styles and fonts are not: a page loads many
    /// of them.
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

    /// Returns whether browsers get errors as a page.
    pub fn is_for_people(self) -> bool {
        matches!(self, Route::Cite | Route::Page | Route::Form | Route::Problems | Route::Other)
    }

    /// Returns how long its calls may wait for something to happen, beside the time of an answer.
    pub fn longest_wait(self) -> Duration {
        match self {
            Route::Changes => LONGEST_WAIT,
            _ => Duration::ZERO,
        }
    }

    /// Returns its methods, as `Allow` lists them.
    pub fn methods(self) -> HeaderValue {
        match self {
            Route::Mcp | Route::Webhook => HeaderValue::from_static("POST, OPTIONS"),
            Route::Form => HeaderValue::from_static("GET, HEAD, POST, OPTIONS"),
            _ => HeaderValue::from_static("GET, HEAD, OPTIONS"),
        }
    }

    /// Returns the route of a path.
    pub fn of(path: &str) -> Route {
        let is_kind = |(pattern, _): &&(&str, Route)| match prefix(pattern) {
            whole if whole.len() == pattern.len() => path == whole,
            prefix => path.starts_with(prefix),
        };
        PATHS.iter().find(is_kind).map_or(Route::Other, |(_, route)| *route)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_the_route_in_the_table() {
        for (pattern, route) in PATHS {
            assert_eq!(Route::of(&pattern.replace(['{', '}'], "")), *route, "{pattern}");
        }
        for path in ["", "/v1", "/v1/search/", "/v1/searching", "/keys/", "/cite", "/project", "/sitemap"] {
            assert_eq!(Route::of(path), Route::Other, "{path}");
        }
        assert_eq!([Route::of("/cite/a/b/c"), Route::of("/sitemap-x")], [Route::Cite, Route::Feeds]);
    }

    #[test]
    fn every_path_of_the_openapi_document_is_in_the_table() {
        let text = include_str!("../../../schemas/openapi.json");
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        let root = document["servers"][0]["url"].as_str().unwrap();
        for (path, operation) in document["paths"].as_object().unwrap() {
            let root = operation["servers"][0]["url"].as_str().unwrap_or(root).trim_end_matches('/');
            let whole = format!("{root}{path}");
            assert!(PATHS.iter().any(|(pattern, _)| **pattern == *whole), "{whole}");
        }
    }
}
