//! The paths there are. One endpoint, one file.

mod health;
mod openapi;
mod problems;
mod project;
pub(crate) mod search;

use axum::Router;
use axum::routing::get;

use crate::fault::Fault;
use crate::state::ApiState;

/// A kind of path, as metrics name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Search,
    Project,
    Problems,
    OpenApi,
    Health,
    Ready,
    Other,
}

impl Route {
    pub(crate) const ALL: [Route; 7] = [
        Route::Search,
        Route::Project,
        Route::Problems,
        Route::OpenApi,
        Route::Health,
        Route::Ready,
        Route::Other,
    ];

    /// The path as axum matches it.
    pub(crate) fn pattern(self) -> &'static str {
        match self {
            Route::Search => "/v1/search",
            Route::Project => "/v1/project/{slug}",
            Route::Problems => "/problems/{name}",
            Route::OpenApi => "/openapi.json",
            Route::Health => "/healthz",
            Route::Ready => "/readyz",
            Route::Other => "other",
        }
    }

    /// The kind of a path.
    pub(crate) fn of(path: &str) -> Route {
        match path {
            "/v1/search" => Route::Search,
            "/openapi.json" => Route::OpenApi,
            "/healthz" => Route::Health,
            "/readyz" => Route::Ready,
            _ if path.starts_with("/v1/project/") => Route::Project,
            _ if path.starts_with("/problems/") => Route::Problems,
            _ => Route::Other,
        }
    }
}

/// All endpoints of the public listener.
pub(crate) fn router(state: ApiState) -> Router {
    Router::new()
        .route(Route::Search.pattern(), get(search::search))
        .route(Route::Project.pattern(), get(project::project))
        .route(Route::Problems.pattern(), get(problems::problem))
        .route(Route::OpenApi.pattern(), get(openapi::answer(state.site())))
        .route(Route::Health.pattern(), get(health::alive))
        .route(Route::Ready.pattern(), get(health::ready))
        .fallback(async || Fault::not_found())
        .method_not_allowed_fallback(async || Fault::method_not_allowed())
        .with_state(state)
}
