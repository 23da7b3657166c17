//! The steps of every request, in one order: framing, admission, endpoint, charge, reply. One plain service instead of a stack of
//! tower layers: the headers of a reply and the cost of a call are decided in one place.

use std::future::{Ready, ready};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use answers::auth::admission::Admission;
use answers::auth::allowance::Allowance;
use answers::auth::caller::Caller;
use answers::auth::new_keys::NewKeys;
use answers::auth::principal::Principal;
use answers::auth::proxies::Peer;
use answers::auth::{admission, cors};
use answers::deadline::Deadline;
use answers::error::ApiError;
use answers::route::Route;
use answers::state::ApiState;
use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, Either};
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use jiff::Timestamp;
use schemas::api::problem::ProblemKind;
use schemas::key::KeyHash;
use schemas::usage::Surface;
use tokio::time::Instant;
use tower::Service;

use crate::http::bodies::BodyMemory;
use crate::http::context::RequestContext;
use crate::http::request_id::RequestIds;
use crate::http::response::{EndpointResult, PendingResponse};
use crate::http::{access_log, encoding, framing, headers, problem, request_span};
use crate::rest;

/// Runs the steps of every request.
#[derive(Debug)]
pub(crate) struct Pipeline {
    router: Router,
    pub(super) state: ApiState,
    /// The time limit of an answer, and of reading the body before it.
    pub(super) time_limit: Duration,
    pub(super) bodies: BodyMemory,
    ids: RequestIds,
    new_keys: NewKeys,
}

/// A request in the pipeline.
struct Received {
    context: RequestContext,
    parts: Parts,
    body: Incoming,
    peer: IpAddr,
}

/// A complete reply with its body in memory.
pub(crate) type Reply = Response<Full<Bytes>>;

/// A reply that is ready, or the future that makes it.
pub(crate) type ReplyFuture = Either<Ready<Reply>, BoxFuture<'static, Reply>>;

impl Pipeline {
    /// Returns a pipeline in front of a router. An answer, and before it reading the body, may take `time_limit`; the bodies of all
    /// requests under way are in `bodies`.
    pub(crate) fn new(router: Router, state: ApiState, time_limit: Duration, bodies: BodyMemory) -> Pipeline {
        Pipeline { router, state, time_limit, bodies, ids: RequestIds::new(), new_keys: NewKeys::default() }
    }

    /// Answers a request; there is always a reply.
    pub(crate) fn answer(self: &Arc<Self>, request: Request<Incoming>, peer: IpAddr) -> ReplyFuture {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        let context = RequestContext::new(self.ids.next(), started, &parts);
        let admission = match framing::check(&parts) {
            Ok(()) => admission::admit(&self.state, context.route, &parts, peer),
            Err(error) => Admission::Decided(Principal::without_key(&self.state), Err(error)),
        };
        let received = Received { context, parts, body, peer };
        match admission {
            Admission::Decided(principal, admitted) => self.admitted(received, principal, admitted),
            Admission::Unknown(hash) => {
                let pipeline = self.clone();
                Either::Right(Box::pin(async move { pipeline.admit_late(received, hash).await }))
            }
        }
    }

    /// Waits briefly for a key that this node does not have yet.
    async fn admit_late(self: Arc<Self>, received: Received, hash: KeyHash) -> Reply {
        let find = || self.state.keys().ok()?.reader.find(&hash);
        let key = self.new_keys.wait_for(hash, find).await;
        let Received { context, parts, peer, .. } = &received;
        let (principal, admitted) = admission::admit_late(&self.state, context.route, parts, *peer, key);
        self.admitted(received, principal, admitted).await
    }

    /// Runs the endpoint of an admitted request. A reply that does not wait is made without a future: for the most frequent paths,
    /// router, futures and boxed bodies would cost half as much as the work.
    fn admitted(
        self: &Arc<Self>,
        mut received: Received,
        principal: Principal,
        admitted: Result<(), ApiError>,
    ) -> ReplyFuture {
        let Received { context, parts, body, .. } = &mut received;
        context.key_id = principal.key_id();
        let result = match admitted {
            // An MCP client learns of it by the answer to its message, whose id is in the body.
            Err(error) if context.route == Route::Mcp && error.kind() == ProblemKind::InvalidKey => {
                let pipeline = self.clone();
                return Either::Right(Box::pin(async move {
                    pipeline.refuse_message(received, principal, error).await
                }));
            }
            Err(error) => Some(error.into()),
            Ok(()) if parts.method == Method::OPTIONS => Some(self.preflight(context.route, &parts.headers)),
            // A key that is used up is refused by endpoints before their work.
            Ok(()) if body.is_end_stream() && principal.used_up(&self.state).is_none() => {
                self.answer_directly(context.route, parts)
            }
            Ok(()) => None,
        };
        match result {
            Some(result) => {
                let deadline = Deadline::after(received.context.started, self.time_limit);
                self.charge_and_finish(received.context, principal, result, deadline)
            }
            None => {
                let pipeline = self.clone();
                Either::Right(Box::pin(async move { pipeline.run(received, principal).await }))
            }
        }
    }

    /// Refuses an MCP message whose key is not valid. One that does not come in time or within the limits is refused without its id.
    async fn refuse_message(
        self: Arc<Self>,
        received: Received,
        principal: Principal,
        error: ApiError,
    ) -> Reply {
        let Received { context, parts, body, peer } = received;
        let address = self.bodies.caller(peer, &parts.headers);
        let message = self.message(body, (&principal, address)).await;
        let bytes = message.as_ref().map_or(&[][..], |message| &message.bytes);
        let result = EndpointResult::refused_message(error, bytes, &context, &self.state);
        drop(message);
        let deadline = Deadline::after(context.started, self.time_limit);
        self.charge_and_finish(context, principal, result, deadline).await
    }

    /// Returns the answer to a plain call, which takes microseconds and does not wait; `None` if the router has to answer.
    fn answer_directly(&self, route: Route, parts: &Parts) -> Option<EndpointResult> {
        let answer = AssertUnwindSafe(|| rest::answer_directly(&self.state, route, parts));
        catch_unwind(answer).unwrap_or_else(|_panic| Some(Err(ApiError::panicked()))).map(Into::into)
    }

    fn preflight(&self, route: Route, headers: &HeaderMap) -> EndpointResult {
        match self.check_origin(route, headers) {
            Ok(()) => EndpointResult::empty(StatusCode::NO_CONTENT, headers::preflight(route)),
            Err(error) => error.into(),
        }
    }

    /// Runs an endpoint that reads a body or waits for something, as part of its caller's trace, if there is one.
    async fn run(self: Arc<Self>, received: Received, principal: Principal) -> Reply {
        let Received { context, parts, body, peer } = received;
        let mut deadline = Deadline::after(context.started, self.time_limit);
        let work = async {
            match context.route {
                Route::Mcp => self.mcp(parts, body, &principal, peer).await,
                route => {
                    let response = self.work(route, parts, body, (&principal, peer), &mut deadline).await;
                    EndpointResult::of(response, &context, &self.state).await
                }
            }
        };
        let result = match context.span.traceparent() {
            None => work.await,
            traceparent => traces::scope(traceparent, work).await,
        };
        self.charge_and_finish(context, principal, result, deadline).await
    }

    /// Charges the call, if it counts, and completes its reply.
    fn charge_and_finish(
        self: &Arc<Self>,
        mut context: RequestContext,
        principal: Principal,
        result: EndpointResult,
        deadline: Deadline,
    ) -> ReplyFuture {
        let pending = PendingResponse::of(result, &context, &self.state);
        let is_counted = pending.status == StatusCode::OK && pending.is_charged;
        let operation = context.route.operation().filter(|_| is_counted);
        let Some(operation) = operation.filter(|_| principal.is_metered()) else {
            return Either::Left(ready(self.finish(&mut context, &principal, pending)));
        };
        let pipeline = self.clone();
        Either::Right(Box::pin(async move {
            let charge = principal.charge(&pipeline.state, Surface::Rest, operation, deadline);
            match charge.await {
                None => pipeline.finish(&mut context, &principal, pending),
                Some(charged) => {
                    let allowance = charged.allowance;
                    let pending = pending.charged(charged, &context, &pipeline.state);
                    pipeline.complete(&mut context, allowance, pipeline.state.now(), pending)
                }
            }
        }))
    }

    /// Returns the reply to a head that is not a valid request, or to a connection over the limit.
    pub(crate) fn refuse(&self, error: ApiError) -> Response<Bytes> {
        let mut headers = HeaderMap::new();
        let status = error.status();
        let id = self.ids.next();
        let body = problem::write(error, self.state.site(), id.instance(), &mut headers);
        tracing::debug!(status = status.as_u16(), request = %id, "rejected before the request was parsed");
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let now = self.state.now();
        let allowance = self.anonymous_allowance(now);
        let reply_headers = headers::ReplyHeaders::default();
        let mut headers = headers::complete(headers, reply_headers, status, allowance, id, now.as_second());
        cors::restrict(&self.state, None, &mut headers);
        *response.headers_mut() = headers;
        response
    }

    /// Reads the body and runs the endpoint, whose time begins after the body is read.
    async fn work(
        &self,
        route: Route,
        mut parts: Parts,
        body: Incoming,
        (principal, peer): (&Principal, IpAddr),
        deadline: &mut Deadline,
    ) -> Response {
        // The body counts against the memory of all bodies until it is answered.
        let sent = match self.body(route, &parts, body, (principal, peer)).await {
            Ok(sent) => sent,
            Err(error) => return error.into_response(),
        };
        if let Principal::ApiKey(key) = principal {
            parts.extensions.insert(key.clone());
        }
        parts.extensions.insert(Peer(peer));
        parts.extensions.insert(Caller {
            principal: principal.clone(),
            address: self.bodies.caller(peer, &parts.headers),
            is_conditional: parts.headers.contains_key(IF_NONE_MATCH),
        });
        parts.extensions.insert(route);
        let body = sent.as_ref().map_or_else(Body::empty, |sent| Body::from(sent.bytes.clone()));
        *deadline = Deadline::within(self.time_limit + route.longest_wait());
        parts.extensions.insert(*deadline);
        let called = deadline.bound(self.call(parts, body)).await;
        called.unwrap_or_else(IntoResponse::into_response)
    }

    /// Answers a request to the MCP endpoint.
    async fn mcp(&self, parts: Parts, body: Incoming, principal: &Principal, peer: IpAddr) -> EndpointResult {
        if parts.method != Method::POST {
            return ApiError::method_not_allowed(Route::Mcp).into();
        }
        if let Err(error) = self.check_origin(Route::Mcp, &parts.headers) {
            return error.into();
        }
        let address = self.bodies.caller(peer, &parts.headers);
        let message = match self.message(body, (principal, address)).await {
            Ok(message) => message,
            Err(error) => return error.into(),
        };
        let deadline = Deadline::within(self.time_limit);
        // Each call of a tool has the deadline for itself: a counted call is answered.
        let answer = mcp::answer(&self.state, (principal, address), &parts.headers, &message.bytes, deadline);
        match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(Ok(sent)) => sent.into(),
            Ok(Err(error)) => error.into(),
            Err(_panic) => ApiError::panicked().into(),
        }
    }

    /// Refuses web pages of other origins at the MCP endpoint.
    fn check_origin(&self, route: Route, headers: &HeaderMap) -> Result<(), ApiError> {
        match route {
            Route::Mcp => answers::auth::origins::check(self.state.origins(), self.state.site(), headers),
            _ => Ok(()),
        }
    }

    async fn call(&self, mut parts: Parts, sent: Body) -> Response {
        // axum would discard the body of HEAD before its length and tag are known.
        if parts.method == Method::HEAD {
            parts.method = Method::GET;
        }
        match self.router.clone().call(Request::from_parts(parts, sent)).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Returns the allowance of a caller without a key.
    fn anonymous_allowance(&self, now: Timestamp) -> Allowance {
        Principal::without_key(&self.state).allowance(&self.state, now)
    }

    fn finish(&self, context: &mut RequestContext, principal: &Principal, pending: PendingResponse) -> Reply {
        let now = self.state.now();
        self.complete(context, principal.allowance(&self.state, now), now, pending)
    }

    /// Completes a pending response: compresses it and adds the common headers. Counts and logs it.
    fn complete(
        &self,
        context: &mut RequestContext,
        allowance: Allowance,
        now: Timestamp,
        pending: PendingResponse,
    ) -> Reply {
        let PendingResponse { status, content_type, tag, mut headers, mut bytes, cause, .. } = pending;
        let encodings = context.encodings.as_ref().filter(|_| encoding::is_worth_it(content_type.as_ref()));
        if let Some(encoded) = encodings.and_then(|accepted| encoding::encode(accepted, &bytes)) {
            headers.insert(CONTENT_ENCODING, encoded.name);
            bytes = encoded.bytes;
        }
        let reply_headers =
            headers::ReplyHeaders { content_type, tag, is_kept: context.method != Method::POST };
        // A shared cache may store a public reply: it must not contain the quota of one caller.
        let is_shared =
            headers.get(CACHE_CONTROL).is_some_and(|caching| caching.as_bytes().starts_with(b"public"));
        let allowance = if is_shared { self.anonymous_allowance(now) } else { allowance };
        let mut headers =
            headers::complete(headers, reply_headers, status, allowance, context.id, now.as_second());
        cors::restrict(&self.state, context.origin.as_ref(), &mut headers);
        if self.state.is_shutting_down() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let has_body = !matches!(status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
        if context.method == Method::HEAD && has_body {
            headers.insert(CONTENT_LENGTH, bytes.len().into());
            bytes = Bytes::new();
        }
        let took = context.started.elapsed();
        self.state.metrics().record_answer(context.route, status, took);
        access_log::answered(context, status, took, cause.as_deref());
        request_span::answered(&mut context.span, status);
        let mut reply = Response::new(Full::new(bytes));
        *reply.status_mut() = status;
        *reply.headers_mut() = headers;
        reply
    }
}
