//! Fields, limits and refusals of the site's forms.

use answers::accept;
use answers::auth::access::KeyAccess;
use answers::auth::proxies::Peer;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::state::ApiState;
use askama::Template;
use axum::response::Response;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

use super::page;

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// Returns how keys are checked and issued; a node without keys does not have these pages.
pub(super) fn access(state: &ApiState) -> Result<&KeyAccess, ApiError> {
    state.access().keys().ok_or_else(ApiError::not_found)
}

/// Takes one of the keys, or links, that a network may request in an hour.
pub(super) fn limit_requests(
    access: &KeyAccess,
    Peer(peer): Peer,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let address = access.proxies.caller(peer, headers);
    access.rate_limits.new_key(address).map_err(ApiError::too_many_keys)
}

/// Returns a field of a form, trimmed; empty where it is absent, or given more than once.
pub(super) fn field(body: &Bytes, name: &'static str) -> String {
    let body = String::from_utf8_lossy(body);
    let value = QueryParams::parse(&body, [name]).single(name);
    value.unwrap_or_default().trim().to_owned()
}

/// Refuses a body whose `Content-Type` is not that of a form.
pub(super) fn check_kind(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case(FORM) { Ok(()) } else { Err(ApiError::not_a_form()) }
}

/// Returns whether the client accepts JSON and not HTML: a program, not a browser.
pub(super) fn wants_problem(headers: &HeaderMap) -> bool {
    let takes = |kind| accept::names(headers, kind);
    (takes("application/json") || takes("application/problem+json")) && !takes("text/html")
}

/// Returns a page that says why nothing was done.
pub(super) fn refused(status: StatusCode, template: &impl Template) -> Result<Response, ApiError> {
    let mut response = page(template)?;
    *response.status_mut() = status;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    #[test]
    fn a_client_that_takes_only_json_is_a_program() {
        let wants = |accept: &str| wants_problem(&HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]));
        assert!(wants("application/json") && wants("application/problem+json, */*"));
        assert!(wants("application/json, text/html;q=0"));
        assert!(!wants("text/html,application/xhtml+xml,application/json;q=0.9") && !wants("*/*"));
        assert!(!wants("application/json;q=0, */*"));
    }

    #[test]
    fn a_form_has_the_media_type_of_forms() {
        let checked = |kind: &str| {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())]);
            check_kind(&headers).map_err(|error| error.status().as_u16())
        };
        assert_eq!(checked("Application/x-www-form-urlencoded; charset=utf-8"), Ok(()));
        assert!(check_kind(&HeaderMap::new()).is_ok());
        assert_eq!([checked("application/json"), checked("text/plain")], [Err(415); 2]);
    }
}
