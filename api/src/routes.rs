//! The paths there are. One endpoint, one file.

mod cite;
mod discovery;
mod feed;
mod health;
mod list;
mod media;
mod openapi;
pub(crate) mod project;
mod robots;
pub(crate) mod search;
pub(crate) mod similar;
mod sitemap;
pub(crate) mod standing;
pub(crate) mod usage;
mod webhook;

use axum::Router;
use axum::routing::{get, post};
use http::{HeaderValue, Uri};

pub(crate) use list::List;

use crate::fault::Fault;
use crate::pages;
use crate::state::ApiState;

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
            "/openapi.json" | openapi::OLDER => Route::OpenApi,
            discovery::CARD | discovery::CATALOG | discovery::MANIFEST | discovery::LLMS => Route::Discovery,
            feed::PATH | robots::PATH | sitemap::INDEX => Route::Feeds,
            "/" | "/pricing" | "/docs" | "/status" => Route::Page,
            "/keys" | "/keys/link" | "/usage" => Route::Form,
            "/webhooks/stripe" => Route::Webhook,
            "/healthz" => Route::Health,
            "/readyz" => Route::Ready,
            _ if path.starts_with("/v1/project/") => Route::Project,
            _ if path.starts_with("/v1/similar/") => Route::Similar,
            _ if path.starts_with("/media/") => Route::Media,
            _ if path.starts_with("/cite/") => Route::Cite,
            _ if path.starts_with(sitemap::PARTS) => Route::Feeds,
            _ if path.starts_with("/projects/") => Route::Page,
            _ if path.starts_with("/claim/") => Route::Form,
            _ if path.starts_with("/assets/") => Route::Asset,
            _ if path.starts_with("/problems/") => Route::Problems,
            _ => Route::Other,
        }
    }
}

/// All endpoints of the public listener.
pub(crate) fn router(state: ApiState) -> Router {
    let told_of_payments = state.payments().is_some();
    let router = Router::new()
        .route(Route::Search.pattern(), get(search::search))
        .route(Route::Project.pattern(), get(project::project))
        .route(Route::Similar.pattern(), get(similar::similar))
        .route(Route::Usage.pattern(), get(usage::usage))
        .route(Route::Media.pattern(), get(media::picture))
        .route("/cite/{slug}", get(cite::newest))
        .route(Route::Cite.pattern(), get(cite::cite))
        .route(feed::PATH, get(feed::feed))
        .route(robots::PATH, get(robots::answer(state.site())))
        .route(sitemap::INDEX, get(sitemap::index))
        .route(Route::OpenApi.pattern(), get(openapi::answer(state.site())))
        .route(openapi::OLDER, get(openapi::answer_older(state.site())))
        .route(discovery::CARD, get(discovery::answer_card(state.site())))
        .route(discovery::CATALOG, get(discovery::answer_catalog(state.site())))
        .route(discovery::MANIFEST, get(discovery::answer_manifest(state.site())))
        .route(discovery::LLMS, get(discovery::answer_llms(state.site())))
        .route(Route::Health.pattern(), get(health::alive))
        .route(Route::Ready.pattern(), get(health::ready))
        .merge(pages::router());
    let router =
        if told_of_payments { router.route(Route::Webhook.pattern(), post(webhook::stripe)) } else { router };
    router
        .fallback(sitemap::part_or_nothing)
        .method_not_allowed_fallback(async |uri: Uri| Fault::method_not_allowed(Route::of(uri.path())))
        .with_state(state)
}
