//! The paths there are. One endpoint, one file.

mod cite;
mod discovery;
mod feed;
mod health;
mod media;
mod openapi;
mod project;
mod robots;
pub(crate) mod search;
pub(crate) mod similar;
mod sitemap;
mod usage;
mod webhook;
mod xml;

use axum::Router;
use axum::routing::{get, post};
use http::Uri;

use crate::error::ApiError;
use crate::pages;
use crate::route::{self, Route};
use crate::state::ApiState;

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
        .route(route::FEED, get(feed::feed))
        .route(route::ROBOTS, get(robots::answer(state.site())))
        .route(route::SITEMAP, get(sitemap::index))
        .route(Route::OpenApi.pattern(), get(openapi::answer(state.site())))
        .route(route::OPENAPI_3_0, get(openapi::answer_older(state.site())))
        .route(route::SERVER_CARD, get(discovery::answer_card(state.site())))
        .route(route::AI_CATALOG, get(discovery::answer_catalog(state.site())))
        .route(route::REGISTRY_MANIFEST, get(discovery::answer_manifest(state.site())))
        .route(route::LLMS, get(discovery::answer_llms(state.site())))
        .route(Route::Health.pattern(), get(health::alive))
        .route(Route::Ready.pattern(), get(health::ready))
        .merge(pages::router());
    let router =
        if told_of_payments { router.route(Route::Webhook.pattern(), post(webhook::stripe)) } else { router };
    router
        .fallback(sitemap::part_or_nothing)
        .method_not_allowed_fallback(async |uri: Uri| ApiError::method_not_allowed(Route::of(uri.path())))
        .with_state(state)
}
