//! The REST endpoints, one file each, and the router of the public listener.

mod changes;
mod cite;
mod discover;
mod discovery;
mod feed;
mod health;
mod media;
mod openapi;
mod project;
mod projects;
mod robots;
mod search;
mod similar;
mod sitemap;
mod suggest;
mod taste;
mod terms;
mod usage;
mod webhook;
mod xml;

use answers::catalog::list::List;
use answers::error::ApiError;
use answers::route::{self, Route};
use answers::state::ApiState;
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::Method;
use http::request::Parts;

use crate::pages;

/// Answers a search, or the projects similar to a listed one, without the router: these take microseconds. `None` for other requests.
pub(crate) fn answer_directly(
    state: &ApiState,
    route: Route,
    parts: &Parts,
) -> Option<Result<List, ApiError>> {
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return None;
    }
    let query = parts.uri.query().unwrap_or_default();
    match route {
        Route::Search => Some(search::answer(state, query)),
        Route::Similar => {
            let near = similar::find(state, parts.uri.path())?;
            Some(similar::answer(state, &near, query))
        }
        _ => None,
    }
}

/// Returns the router of the public listener.
pub(crate) fn router(state: ApiState) -> Router {
    let has_payments = state.payments().is_some();
    let router = Router::new()
        .route(route::SEARCH, get(search::search))
        .route(route::PROJECT, get(project::project))
        .route(route::SIMILAR, get(similar::similar))
        .route(route::PROJECTS, get(projects::projects))
        .route(route::TASTE, get(taste::taste))
        .route(route::DISCOVER, get(discover::discover))
        .route(route::TERMS, get(terms::terms))
        .route(route::SUGGEST, get(suggest::suggest))
        .route(route::CHANGES, get(changes::changes))
        .route(route::USAGE, get(usage::usage))
        .route(route::MEDIA, get(media::picture))
        .route(route::CITE_NEWEST, get(cite::newest))
        .route(route::CITE, get(cite::cite))
        .route(route::FEED, get(feed::feed))
        .route(route::ROBOTS, get(robots::answer(state.site())))
        .route(route::SITEMAP, get(sitemap::index))
        .route(route::OPENAPI, get(openapi::answer(state.site())))
        .route(route::OPENAPI_3_0, get(openapi::answer_older(state.site())))
        .route(route::SERVER_CARD, get(discovery::answer_card(state.site())))
        .route(route::AI_CATALOG, get(discovery::answer_catalog(state.site())))
        .route(route::REGISTRY_MANIFEST, get(discovery::answer_manifest(state.site())))
        .route(route::LLMS, get(discovery::answer_llms(state.site())))
        .route(route::HEALTH, get(health::alive))
        .route(route::READY, get(health::ready))
        .merge(pages::router());
    let router = if has_payments { router.route(route::WEBHOOK, post(webhook::stripe)) } else { router };
    router
        .fallback(sitemap::part_or_nothing)
        .method_not_allowed_fallback(async |Extension(route): Extension<Route>| {
            ApiError::method_not_allowed(route)
        })
        .with_state(state)
}
