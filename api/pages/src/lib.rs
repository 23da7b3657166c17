//! The site: pages for people, rendered on the server, complete without scripts and without requests to other hosts.

mod assets;
mod board;
mod card;
mod cite;
mod claim;
mod client_setups;
mod code;
mod colours;
mod connect;
mod docs;
mod fonts;
mod form;
mod home;
mod keys;
mod layout;
mod new_key;
mod pricing;
mod problem;
mod project;
mod record;
mod status;
mod usage;
mod words;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderMap, HeaderValue};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use answers::auth::caller::Caller;
use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use read::archive::Facet;
use schemas::record::Category;
use schemas::taste::Dimension;

use home::Landing;

pub use cite::cite;
pub use client_setups::ClientSetup;
pub use code::Code;
pub use new_key::KeyUses;
pub use problem::{SuggestedProjects, of as problem_page};

/// Nothing from other hosts, nothing inline, and no framing by other sites. Scripts connect to this site alone, for suggestions.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
);

/// The paths of the pages.
///
/// `endpoints` answer the examples of the API reference.
pub fn router(endpoints: Router) -> Router<ApiState> {
    Category::ALL
        .into_iter()
        .fold(Router::new(), |router, category| {
            let page = move |state: State<ApiState>, caller: Caller, query: RawQuery| {
                home::category(category, state, caller, query)
            };
            router.route(route::of_category(category), get(page))
        })
        .route(route::HOME, get(home::home))
        .route(route::SURPRISE, get(home::surprise))
        .route(route::TERMS_PAGE, get(home::terms))
        .route(route::CONNECT, get(connect::connect))
        .route(route::BOARD, get(board::board))
        .route(
            route::STUDIO,
            get(|state, caller, name, query| {
                home::named(Facet::Studio, Landing::Studio, (state, caller), name, query)
            }),
        )
        .route(
            route::CURATOR,
            get(|state, caller, name, query| {
                home::named(Facet::Curator, Landing::Curator, (state, caller), name, query)
            }),
        )
        .route(route::COMPLETIONS, get(home::suggest))
        .route(route::PROJECT_PAGE, get(project::project))
        .route(route::KEYS, get(keys::form).post(keys::issue))
        .route(route::KEYS_LINK, get(keys::form).post(claim::ask))
        .route(route::CLAIM, get(claim::look).post(claim::act))
        .route(route::PRICING, get(pricing::pricing))
        .route(route::DOCS, get(docs::overview))
        .route(route::DOCS_TOPIC, get(docs::topic))
        .route(route::USAGE_PAGE, get(usage::form).post(usage::usage))
        .route(route::STATUS, get(status::status))
        .route(route::PROBLEMS, get(problem::problem))
        .route(route::ASSETS, get(assets::asset))
        .route(route::FAVICON, get(assets::icon(route::FAVICON)))
        .route(route::TOUCH_ICON, get(assets::icon(route::TOUCH_ICON)))
        .layer(Extension(docs::Endpoints(endpoints)))
}

/// Returns the paths of the pages of the API reference and of the words of taste.
pub fn other_paths() -> impl Iterator<Item = String> {
    docs::paths().chain(Dimension::ALL.map(|dimension| home::terms_path(dimension, None, "")))
}

/// Returns the UTC day, which citations on pages name as their date of access.
pub fn today(state: &ApiState) -> Date {
    TimeZone::UTC.to_datetime(state.now()).date()
}

/// Returns a page as a response.
fn page(template: &impl Template) -> Result<Response, ApiError> {
    let text = text_of(template).map_err(ApiError::internal)?;
    Ok((headers(), text).into_response())
}

/// Returns the text of a page.
fn text_of(template: &impl Template) -> Result<String, askama::Error> {
    template.render().map(fonts::named)
}

/// The headers of every page. Referrers are sent to this site only.
pub fn headers() -> HeaderMap {
    HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    ])
}
