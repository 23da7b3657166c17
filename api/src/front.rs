//! What every request passes on its way in and every reply on its way out. One plain service and no tower of
//! layers: what a reply carries is decided, and paid for, in one place.

mod caller;
mod encoding;
mod entity_tag;
mod headers;
mod rate;
mod request_id;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::FutureExt;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Collected, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout};
use tower::Service;

use crate::fault::Fault;
use crate::metrics::Metrics;
use crate::routes::Route;
use crate::site::Site;
use rate::Allowance;
use request_id::{RequestId, RequestIds};

/// The largest body that is read and thrown away.
const LARGEST_BODY: usize = 64 * 1024;
/// The longest address that is looked at.
pub(crate) const LONGEST_ADDRESS: usize = 8 * 1024;

/// Stands before a router.
#[derive(Debug)]
pub(crate) struct Front {
    router: Router,
    site: Site,
    metrics: Metrics,
    /// How long an answer, and before it a body, may take.
    patience: Duration,
    ids: RequestIds,
}

/// What the reply depends on of a request that has been handed on.
#[derive(Debug)]
struct Asked {
    id: RequestId,
    method: Method,
    uri: Uri,
    known_tags: Option<HeaderValue>,
    encodings: Option<HeaderValue>,
}

impl Front {
    pub(crate) fn new(router: Router, site: Site, metrics: Metrics, patience: Duration) -> Front {
        Front { router, site, metrics, patience, ids: RequestIds::new() }
    }

    /// Answers a request; there is always an answer.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Response {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        let asked = Asked {
            id: self.ids.next(),
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            known_tags: joined(&parts.headers, &IF_NONE_MATCH),
            encodings: joined(&parts.headers, &ACCEPT_ENCODING),
        };
        let (allowance, response) = match caller::admit(&parts) {
            Err(fault) => (Allowance::UNLIMITED, fault.into_response()),
            Ok(allowance) if parts.method == Method::OPTIONS => (allowance, headers::preflight()),
            Ok(allowance) => (allowance, self.work(parts, body).await),
        };
        let (response, cause) = self.finish(&asked, allowance, response).await;
        let took = started.elapsed();
        self.metrics.answered(Route::of(asked.uri.path()), response.status(), took);
        log(&asked, response.status(), took, cause.as_deref());
        response
    }

    /// The reply to something that never became a request.
    pub(crate) fn refuse(&self, fault: Fault) -> Response<Bytes> {
        let mut headers = HeaderMap::new();
        let status = fault.status();
        let id = self.ids.next();
        let body = fault.write(&self.site, id.instance(), &mut headers);
        tracing::debug!(status = status.as_u16(), request = %id, "refused before it was a request");
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers::complete(headers, status, Allowance::UNLIMITED, id);
        response
    }

    /// Runs the endpoint, whose panics and dawdling end here.
    async fn work(&self, parts: Parts, body: Incoming) -> Response {
        let mut work = pin!(AssertUnwindSafe(self.route(parts, body)).catch_unwind());
        // Most answers are ready at once and never need the clock.
        let outcome = match futures::poll!(work.as_mut()) {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => timeout(self.patience, work).await,
        };
        match outcome {
            Ok(Ok(response)) => response,
            Ok(Err(_panic)) => Fault::internal("the endpoint panicked").into_response(),
            Err(_elapsed) => Fault::timeout().into_response(),
        }
    }

    async fn route(&self, mut parts: Parts, body: Incoming) -> Response {
        if !body.is_end_stream()
            && let Err(fault) = self.discard(body).await
        {
            return fault.into_response();
        }
        // axum would throw the body of HEAD away before its length and tag are known.
        if parts.method == Method::HEAD {
            parts.method = Method::GET;
        }
        match self.router.clone().call(Request::from_parts(parts, Body::empty())).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Reads a body that nobody asked for, so that the connection can go on.
    async fn discard(&self, body: Incoming) -> Result<(), Fault> {
        if body.size_hint().lower() > LARGEST_BODY as u64 {
            return Err(Fault::body_too_large());
        }
        // A little less than the whole patience: the reply must still be made within it.
        let patience = self.patience.mul_f32(0.9);
        match timeout(patience, Limited::new(body, LARGEST_BODY).collect()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(Fault::body_too_large()),
            Ok(Err(_)) => Err(Fault::malformed_request()),
            Err(_elapsed) => Err(Fault::slow_body()),
        }
    }

    /// Makes the endpoint's response the reply: problem or not modified or encoded, with all common headers. What
    /// the log should know of a fault comes beside it.
    async fn finish(
        &self,
        asked: &Asked,
        allowance: Allowance,
        response: Response,
    ) -> (Response, Option<String>) {
        let (mut parts, body) = response.into_parts();
        let mut cause = None;
        let content = match parts.extensions.remove::<Fault>() {
            Some(fault) => Err(fault),
            None => body.collect().await.map(Collected::to_bytes).map_err(Fault::internal),
        };
        let mut bytes = content.unwrap_or_else(|fault| {
            cause = fault.cause().map(str::to_owned);
            parts.status = fault.status();
            // axum has measured another body.
            parts.headers.remove(CONTENT_LENGTH);
            fault.write(&self.site, asked.id.instance(), &mut parts.headers)
        });
        if parts.status == StatusCode::OK {
            let tag = entity_tag::of(&bytes);
            if asked.known_tags.as_ref().is_some_and(|known| entity_tag::is_known(&tag, known)) {
                parts.status = StatusCode::NOT_MODIFIED;
                parts.headers.remove(CONTENT_TYPE);
                parts.headers.remove(CONTENT_LENGTH);
                bytes = Bytes::new();
            }
            parts.headers.insert(ETAG, tag);
        }
        if let Some(encoded) = asked.encodings.as_ref().and_then(|asked| encoding::encode(asked, &bytes)) {
            parts.headers.insert(CONTENT_ENCODING, encoded.name);
            parts.headers.remove(CONTENT_LENGTH);
            bytes = encoded.bytes;
        }
        parts.headers = headers::complete(parts.headers, parts.status, allowance, asked.id);
        let has_body = !matches!(parts.status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
        let body = if asked.method == Method::HEAD && has_body {
            parts.headers.insert(CONTENT_LENGTH, bytes.len().into());
            Body::empty()
        } else {
            Body::from(bytes)
        };
        (Response::from_parts(parts, body), cause)
    }
}

/// The value of a list header, its lines joined.
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

/// One line a request, without its query: a key may stand there. Only what is the service's own fault is worth an
/// operator's attention.
fn log(asked: &Asked, status: StatusCode, took: Duration, cause: Option<&str>) {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if status.is_server_error() {
        tracing::warn!(
            method = %asked.method,
            path = asked.uri.path(),
            status = status.as_u16(),
            micros,
            request = %asked.id,
            cause,
            "answered with an error"
        );
    } else {
        tracing::debug!(
            method = %asked.method,
            path = asked.uri.path(),
            status = status.as_u16(),
            micros,
            request = %asked.id,
            "answered"
        );
    }
}
