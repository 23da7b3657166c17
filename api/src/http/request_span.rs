//! The span of a request, in the trace that its `traceparent` header names, if any. Its labels are from a fixed set: never a
//! query, a key, a slug or an address.

use http::{HeaderMap, Method, StatusCode};
use tokio::time::Instant;
use traces::{Kind, Span, Traceparent};

use answers::route::Route;

/// Begins the span of a request. If spans are not exported, it only propagates the header.
pub(super) fn begin(started: Instant, method: &Method, route: Route, headers: &HeaderMap) -> Span {
    let parent =
        Traceparent::from_header(headers.get_all(traces::HEADER).iter().map(|value| value.as_bytes()));
    if !traces::is_exporting() {
        return Span::unrecorded(parent);
    }
    // Probes call these every few seconds.
    if matches!(route, Route::Health | Route::Ready) {
        return Span::unrecorded(parent);
    }
    let method = named(method);
    let mut span = Span::started_before(started.elapsed(), Kind::Server, method, route.name(), parent);
    span.label("http.request.method", method);
    span.label("http.route", route.name());
    span
}

/// Records how the request was answered.
pub(super) fn answered(span: &mut Span, status: StatusCode) {
    span.count("http.response.status_code", status.as_u16().into());
    if status.is_server_error() {
        span.failed("answered with an error");
    }
}

/// Returns the method, or `_OTHER` if HTTP does not define it.
fn named(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::OPTIONS => "OPTIONS",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        _ => "_OTHER",
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_request_continues_its_trace_and_starts_none() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let propagated = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(traces::HEADER, HeaderValue::from_static(value));
            }
            begin(Instant::now(), &Method::GET, Route::Search, &headers).traceparent()
        };
        assert_eq!(propagated(&[good]), good.parse().ok());
        assert_eq!([propagated(&[]), propagated(&["00-nothing"]), propagated(&[good, good])], [None; 3]);
    }

    #[test]
    fn a_method_that_http_does_not_define_is_recorded_as_other() {
        assert_eq!(named(&Method::GET), "GET");
        assert_eq!(named(&Method::from_bytes(b"SECRET").unwrap()), "_OTHER");
    }
}
