//! The site: pages for people, rendered on the server, complete without scripts and without requests to other hosts.

mod assets;
mod card;
mod cite;
mod claim;
mod docs;
mod form;
mod home;
mod keys;
mod layout;
mod pricing;
mod problem;
mod project;
mod record;
mod status;
mod usage;
mod words;

use askama::Template;
use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderMap, HeaderValue};

use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;

pub(crate) use cite::cite;
pub(crate) use problem::of as problem_page;

/// Nothing from other hosts, nothing inline, and no framing by other sites. Scripts connect to this site alone, for suggestions.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// The paths of the pages.
pub(crate) fn router() -> Router<ApiState> {
    Router::new()
        .route(route::HOME, get(home::home))
        .route(route::COMPLETIONS, get(home::suggest))
        .route(route::PROJECT_PAGE, get(project::project))
        .route(route::KEYS, get(keys::form).post(keys::issue))
        .route(route::KEYS_LINK, get(keys::form).post(claim::ask))
        .route(route::CLAIM, get(claim::look).post(claim::act))
        .route(route::PRICING, get(pricing::pricing))
        .route(route::DOCS, get(docs::docs))
        .route(route::USAGE_PAGE, get(usage::form).post(usage::usage))
        .route(route::STATUS, get(status::status))
        .route(route::PROBLEMS, get(problem::problem))
        .route(route::ASSETS, get(assets::asset))
}

/// Returns a page as a response.
fn page(template: &impl Template) -> Result<Response, ApiError> {
    let text = template.render().map_err(ApiError::internal)?;
    Ok((headers(), text).into_response())
}

/// The headers of every page. Referrers are sent to this site only.
pub(crate) fn headers() -> HeaderMap {
    HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    ])
}
