//! The REST endpoints, one file each, and the router of the public listener.

mod changes;
mod cite;
mod discover;
mod discovery;
mod feed;
mod health;
mod media;
mod project;
mod projects;
mod search;
mod similar;
mod similar_to_text;
mod sitemap;
mod taste;
mod usage;
mod webhook;
mod words;

use std::sync::Arc;

use answers::catalog::document::JsonDocument;
use answers::error::ApiError;
use answers::route::{self, Route};
use answers::state::ApiState;
use axum::extract::{RawQuery, State};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use http::Method;
use http::request::Parts;

/// Answers a plain search, or the projects similar to a listed one, without the router: these take microseconds. `None` for other
/// requests.
pub(crate) fn answer_directly(
    state: &ApiState,
    route: Route,
    parts: &Parts,
) -> Option<Result<JsonDocument, ApiError>> {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return None;
    }
    let query = parts.uri.query().unwrap_or_default();
    match route {
        Route::Search => search::answer_plain(state, query),
        Route::Similar => {
            let near = similar::find(state, parts.uri.path())?;
            similar::answer_plain(state, &near, query)
        }
        _ => None,
    }
}

/// Returns the method of an endpoint that answers from the query without waiting.
fn get_from_query(answer: fn(&ApiState, &str) -> Result<JsonDocument, ApiError>) -> MethodRouter<ApiState> {
    get(async move |State(state): State<ApiState>, RawQuery(query): RawQuery| {
        answer(&state, query.as_deref().unwrap_or_default())
    })
}

/// Returns the router of the public listener.
pub(crate) fn router(state: ApiState) -> Router {
    let has_payments = state.payments().is_some();
    let parts = Arc::new(sitemap::Parts::default());
    let router = endpoints()
        .route(route::CITE_NEWEST, get(cite::newest))
        .route(route::SITEMAP, get(sitemap::index))
        .route(route::HEALTH, get(health::alive))
        .route(route::READY, get(health::ready))
        .merge(discovery::router(state.site()))
        .merge(pages::router(endpoints().with_state(state.clone())));
    let router = if has_payments { router.route(route::WEBHOOK, post(webhook::stripe)) } else { router };
    router
        .fallback(move |state, caller, method, uri| {
            sitemap::part_or_nothing(parts.clone(), state, caller, method, uri)
        })
        .method_not_allowed_fallback(async |Extension(route): Extension<Route>| {
            ApiError::method_not_allowed(route)
        })
        .with_state(state)
}

/// Returns the router of the operations of the OpenAPI document.
fn endpoints() -> Router<ApiState> {
    Router::new()
        .route(route::SEARCH, get(search::search))
        .route(route::PROJECT, get(project::project))
        .route(route::SIMILAR, get(similar::similar))
        .route(route::SIMILAR_TO_TEXT, get(similar_to_text::similar_to_text))
        .route(route::PROJECTS, get(projects::projects))
        .route(route::TASTE, get(taste::taste))
        .route(route::DISCOVER, get(discover::discover))
        .route(route::TERMS, get_from_query(words::terms))
        .route(route::SUGGEST, get_from_query(words::suggest))
        .route(route::CHANGES, get(changes::changes))
        .route(route::USAGE, get(usage::usage))
        .route(route::MEDIA, get(media::picture))
        .route(route::CITE, get(cite::cite))
        .route(route::FEED, get(feed::atom))
        .route(route::JSON_FEED, get(feed::json))
}
