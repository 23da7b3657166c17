//! A request as part of a trace: the one that its header names, if it names one. What is told of it is of a fixed set: never
//! its query, a key, a slug or an address.

use http::{HeaderMap, Method, StatusCode};
use tokio::time::Instant;
use traces::{Kind, Span, Traceparent};

use crate::route::Route;

/// Begins the span of a request. Where none is recorded, the header is looked at and nothing else.
pub(super) fn begin(started: Instant, method: &Method, path: &str, headers: &HeaderMap) -> Span {
    let parent = Traceparent::of_header(headers.get_all(traces::HEADER).iter().map(|value| value.as_bytes()));
    if !traces::is_exporting() {
        return Span::carrying(parent);
    }
    let route = Route::of(path);
    // Asked every few seconds by whoever watches the process.
    if matches!(route, Route::Health | Route::Ready) {
        return Span::carrying(parent);
    }
    let method = named(method);
    let mut span = Span::begun_before(started.elapsed(), Kind::Server, method, route.pattern(), parent);
    span.label("http.request.method", method);
    span.label("http.route", route.pattern());
    span
}

/// Notes how the request was answered.
pub(super) fn answered(span: &mut Span, status: StatusCode) {
    span.count("http.response.status_code", status.as_u16().into());
    if status.is_server_error() {
        span.failed("answered with an error");
    }
}

/// The method, if it is one of HTTP's.
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
    fn a_request_carries_the_trace_that_it_came_with_and_begins_none() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let told = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(traces::HEADER, HeaderValue::from_static(value));
            }
            begin(Instant::now(), &Method::GET, "/v1/search", &headers).traceparent()
        };
        assert_eq!(told(&[good]), good.parse().ok());
        assert_eq!([told(&[]), told(&["00-nothing"]), told(&[good, good])], [None; 3]);
    }

    #[test]
    fn a_method_of_a_clients_own_is_not_told() {
        assert_eq!(named(&Method::GET), "GET");
        assert_eq!(named(&Method::from_bytes(b"SECRET").unwrap()), "_OTHER");
    }
}
