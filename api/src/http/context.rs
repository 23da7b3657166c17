//! The parts of a request that its reply depends on, kept while its endpoint has the rest.

use answers::route::Route;
use http::header::{ACCEPT_ENCODING, IF_NONE_MATCH, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Uri};
use schemas::key::KeyId;
use tokio::time::Instant;
use traces::Span;

use super::request_id::RequestId;
use super::request_span;

/// A request's method, path, conditions and caller; its body and headers go to the endpoint.
#[derive(Debug)]
pub(super) struct RequestContext {
    pub(super) started: Instant,
    pub(super) id: RequestId,
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) route: Route,
    pub(super) known_tags: Option<HeaderValue>,
    pub(super) encodings: Option<HeaderValue>,
    /// The header `Origin`.
    pub(super) origin: Option<HeaderValue>,
    /// Whether an error is answered with a page: the path is for people and the client accepts HTML.
    pub(super) wants_page: bool,
    /// The caller's key, if it has a valid one; known after admission.
    pub(super) key_id: Option<KeyId>,
    /// The span of its work in a trace.
    pub(super) span: Span,
}

impl RequestContext {
    pub(super) fn new(id: RequestId, started: Instant, parts: &Parts) -> RequestContext {
        let Parts { method, uri, headers, .. } = parts;
        let known_tags = joined(headers, &IF_NONE_MATCH);
        let encodings = joined(headers, &ACCEPT_ENCODING);
        let path = uri.path();
        let route = Route::of(path);
        let is_of_the_interface = path == "/v1" || path.starts_with("/v1/");
        let wants_page =
            route.is_for_people() && !is_of_the_interface && answers::accept::names(headers, "text/html");
        let origin = headers.get(ORIGIN).cloned();
        let span = request_span::begin(started, method, route, headers);
        RequestContext {
            started,
            id,
            method: method.clone(),
            uri: uri.clone(),
            route,
            known_tags,
            encodings,
            origin,
            wants_page,
            key_id: None,
            span,
        }
    }
}

/// Returns the value of a list header with its lines joined.
fn joined(headers: &HeaderMap, name: &http::HeaderName) -> Option<HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    let rest: Vec<&HeaderValue> = values.collect();
    if rest.is_empty() {
        return Some(first.clone());
    }
    let mut joined = first.as_bytes().to_vec();
    for value in rest {
        joined.extend_from_slice(b", ");
        joined.extend_from_slice(value.as_bytes());
    }
    HeaderValue::from_bytes(&joined).ok()
}
