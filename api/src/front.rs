//! What every request passes on its way in and every reply on its way out. One plain service and no tower of
//! layers: what a reply carries is decided, and paid for, in one place.

mod caller;
mod encoding;
mod entity_tag;
mod headers;
mod outcome;
mod rate;
mod request_id;

use std::future::{Ready, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, Either};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout};
use tower::Service;

use crate::fault::Fault;
use crate::routes::{self, Route};
use crate::state::ApiState;
use outcome::Outcome;
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
    state: ApiState,
    /// How long an answer, and before it a body, may take.
    patience: Duration,
    ids: RequestIds,
}

/// A reply: complete, its body in memory.
pub(crate) type Reply = Response<Full<Bytes>>;

/// A reply that is there, or one that is being made.
pub(crate) type Answering = Either<Ready<Reply>, BoxFuture<'static, Reply>>;

/// What the reply depends on of a request that has been handed on.
#[derive(Debug)]
struct Asked {
    started: Instant,
    id: RequestId,
    method: Method,
    uri: Uri,
    known_tags: Option<HeaderValue>,
    encodings: Option<HeaderValue>,
}

impl Front {
    /// Stands before a router that answers from the state.
    pub(crate) fn new(router: Router, state: ApiState, patience: Duration) -> Front {
        Front { router, state, patience, ids: RequestIds::new() }
    }

    /// Answers a request; there is always an answer.
    pub(crate) fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Answering {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        let reads = parts.method == Method::GET || parts.method == Method::HEAD;
        if reads && body.is_end_stream() && Route::of(parts.uri.path()) == Route::Search {
            return Either::Left(ready(self.search(started, parts)));
        }
        let front = self.clone();
        Either::Right(Box::pin(async move { front.route(started, parts, body).await }))
    }

    /// The path that is asked most is answered at once: a router, futures and boxed bodies cost half as much as it does.
    fn search(&self, started: Instant, parts: Parts) -> Reply {
        let (allowance, outcome) = match caller::admit(&parts) {
            Err(fault) => (Allowance::UNLIMITED, fault.into()),
            Ok(allowance) => {
                let query = parts.uri.query().unwrap_or_default();
                let answer = AssertUnwindSafe(|| routes::search::answer(&self.state, query));
                (allowance, catch_unwind(answer).unwrap_or_else(|_panic| Err(panicked())).into())
            }
        };
        let asked = Asked::new(self.ids.next(), started, parts.method, parts.uri, &parts.headers);
        self.finish(&asked, allowance, outcome)
    }

    async fn route(&self, started: Instant, parts: Parts, body: Incoming) -> Reply {
        let id = self.ids.next();
        let asked = Asked::new(id, started, parts.method.clone(), parts.uri.clone(), &parts.headers);
        let (allowance, response) = match caller::admit(&parts) {
            Err(fault) => (Allowance::UNLIMITED, fault.into_response()),
            Ok(allowance) if parts.method == Method::OPTIONS => (allowance, headers::preflight()),
            Ok(allowance) => (allowance, self.work(parts, body).await),
        };
        let outcome = Outcome::of(response).await;
        self.finish(&asked, allowance, outcome)
    }

    /// The reply to something that never became a request.
    pub(crate) fn refuse(&self, fault: Fault) -> Response<Bytes> {
        let mut headers = HeaderMap::new();
        let status = fault.status();
        let id = self.ids.next();
        let body = fault.write(self.state.site(), id.instance(), &mut headers);
        tracing::debug!(status = status.as_u16(), request = %id, "refused before it was a request");
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() =
            headers::complete(headers, headers::Named::default(), status, Allowance::UNLIMITED, id);
        response
    }

    /// Runs the endpoint, whose panics and dawdling end here.
    async fn work(&self, parts: Parts, body: Incoming) -> Response {
        let mut work = pin!(AssertUnwindSafe(self.call(parts, body)).catch_unwind());
        // Most answers are ready at once and never need the clock.
        let outcome = match futures::poll!(work.as_mut()) {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => timeout(self.patience, work).await,
        };
        match outcome {
            Ok(Ok(response)) => response,
            Ok(Err(_panic)) => panicked().into_response(),
            Err(_elapsed) => Fault::timeout().into_response(),
        }
    }

    async fn call(&self, mut parts: Parts, body: Incoming) -> Response {
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

    /// Makes the outcome the reply: problem or not modified or encoded, with all common headers. Counts and logs it.
    fn finish(&self, asked: &Asked, allowance: Allowance, outcome: Outcome) -> Reply {
        let Outcome { mut status, mut content_type, mut headers, content } = outcome;
        let mut cause = None;
        let mut bytes = content.unwrap_or_else(|fault| {
            cause = fault.cause().map(str::to_owned);
            status = fault.status();
            content_type = None;
            fault.write(self.state.site(), asked.id.instance(), &mut headers)
        });
        let mut tag = None;
        if status == StatusCode::OK {
            let own = entity_tag::of(&bytes);
            if asked.known_tags.as_ref().is_some_and(|known| entity_tag::is_known(&own, known)) {
                status = StatusCode::NOT_MODIFIED;
                content_type = None;
                bytes = Bytes::new();
            }
            tag = Some(own);
        }
        if let Some(encoded) = asked.encodings.as_ref().and_then(|asked| encoding::encode(asked, &bytes)) {
            headers.insert(CONTENT_ENCODING, encoded.name);
            bytes = encoded.bytes;
        }
        let named = headers::Named { content_type, tag };
        let mut headers = headers::complete(headers, named, status, allowance, asked.id);
        let has_body = !matches!(status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
        if asked.method == Method::HEAD && has_body {
            headers.insert(CONTENT_LENGTH, bytes.len().into());
            bytes = Bytes::new();
        }
        let took = asked.started.elapsed();
        self.state.metrics().answered(Route::of(asked.uri.path()), status, took);
        log(asked, status, took, cause.as_deref());
        let mut reply = Response::new(Full::new(bytes));
        *reply.status_mut() = status;
        *reply.headers_mut() = headers;
        reply
    }
}

impl Asked {
    fn new(id: RequestId, started: Instant, method: Method, uri: Uri, headers: &HeaderMap) -> Asked {
        let known_tags = joined(headers, &IF_NONE_MATCH);
        let encodings = joined(headers, &ACCEPT_ENCODING);
        Asked { started, id, method, uri, known_tags, encodings }
    }
}

fn panicked() -> Fault {
    Fault::internal("the endpoint panicked")
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
