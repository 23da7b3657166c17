//! What every request passes on its way in and every reply on its way out. One plain service and no tower of
//! layers: what a reply carries is decided, and paid for, in one place.

use std::future::{Ready, ready};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, Either};
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use jiff::Timestamp;
use tokio::time::Instant;
use tower::Service;

use crate::answers::list::List;
use crate::auth::access::Access;
use crate::auth::admission::Admission;
use crate::auth::allowance::Allowance;
use crate::auth::new_keys::Newcomers;
use crate::auth::principal::Principal;
use crate::auth::proxies::Peer;
use crate::auth::{admission, cors};
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::http::bodies::Bodies;
use crate::http::charge::Charge;
use crate::http::context::RequestContext;
use crate::http::request_id::RequestIds;
use crate::http::response::{EndpointResult, PendingResponse};
use crate::http::{access_log, encoding, framing, headers, problem, request_span};
use crate::mcp;
use crate::rest;
use crate::route::Route;
use crate::state::ApiState;

/// Takes every request through the same steps, to a router and back.
#[derive(Debug)]
pub(crate) struct Pipeline {
    router: Router,
    pub(super) state: ApiState,
    /// How long an answer, and before it a body, may take.
    pub(super) patience: Duration,
    pub(super) bodies: Bodies,
    ids: RequestIds,
    newcomers: Newcomers,
}

/// A reply: complete, its body in memory.
pub(crate) type Reply = Response<Full<Bytes>>;

/// A reply that is there, or one that is being made.
pub(crate) type Answering = Either<Ready<Reply>, BoxFuture<'static, Reply>>;

impl Pipeline {
    /// Makes the pipeline before a router that answers from the state. An answer, and before it a body, may take `patience`; the bodies
    /// of all requests under way may have `bodies` bytes together.
    pub(crate) fn new(router: Router, state: ApiState, patience: Duration, bodies: usize) -> Pipeline {
        Pipeline {
            router,
            state,
            patience,
            bodies: Bodies::new(bodies),
            ids: RequestIds::new(),
            newcomers: Newcomers::new(),
        }
    }

    /// Answers a request; there is always an answer.
    pub(crate) fn answer(self: &Arc<Self>, request: Request<Incoming>, peer: IpAddr) -> Answering {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        if let Err(fault) = framing::check(&parts) {
            let mut context =
                RequestContext::new(self.ids.next(), started, parts.method, parts.uri, &parts.headers);
            let pending = PendingResponse::of(fault.into(), &context, &self.state);
            return Either::Left(ready(self.finish(&mut context, &Principal::unknown(&self.state), pending)));
        }
        let reads = parts.method == Method::GET || parts.method == Method::HEAD;
        if reads && body.is_end_stream() {
            match Route::of(parts.uri.path()) {
                Route::Search => {
                    return self.at_once(started, parts, body, peer, Route::Search, rest::search::answer);
                }
                Route::Similar => {
                    if let Some(near) = rest::similar::find(&self.state, parts.uri.path()) {
                        let answer =
                            |state: &ApiState, query: &str| rest::similar::answer(state, &near, query);
                        return self.at_once(started, parts, body, peer, Route::Similar, answer);
                    }
                }
                _ => {}
            }
        }
        let pipeline = self.clone();
        Either::Right(Box::pin(async move { pipeline.route(started, parts, body, peer).await }))
    }

    /// The paths that are asked most are answered at once: a router, futures and boxed bodies cost half as much as they do.
    fn at_once(
        self: &Arc<Self>,
        started: Instant,
        parts: Parts,
        body: Incoming,
        peer: IpAddr,
        route: Route,
        answer: impl Fn(&ApiState, &str) -> Result<List, ApiError>,
    ) -> Answering {
        let (principal, admitted) = match admission::admit(&self.state, route, &parts, peer) {
            Admission::Decided(principal, admitted) => (principal, admitted),
            unknown @ Admission::Unknown(_) => {
                let pipeline = self.clone();
                let answering = async move { pipeline.admitted(started, parts, body, peer, unknown).await };
                return Either::Right(Box::pin(answering));
            }
        };
        let result = match admitted {
            Err(fault) => fault.into(),
            Ok(()) => {
                let query = parts.uri.query().unwrap_or_default();
                let answer = AssertUnwindSafe(|| answer(&self.state, query));
                catch_unwind(answer).unwrap_or_else(|_panic| Err(ApiError::panicked())).into()
            }
        };
        let mut context =
            RequestContext::new(self.ids.next(), started, parts.method, parts.uri, &parts.headers);
        context.key_id = principal.key_id();
        let pending = PendingResponse::of(result, &context, &self.state);
        match Charge::of(&principal, route, &pending) {
            None => Either::Left(ready(self.finish(&mut context, &principal, pending))),
            Some(charge) => {
                let (pipeline, deadline) = (self.clone(), Deadline::of(started, self.patience));
                Either::Right(Box::pin(
                    async move { pipeline.charge(charge, context, pending, deadline).await },
                ))
            }
        }
    }

    async fn route(&self, started: Instant, parts: Parts, body: Incoming, peer: IpAddr) -> Reply {
        let admission = admission::admit(&self.state, Route::of(parts.uri.path()), &parts, peer);
        self.admitted(started, parts, body, peer, admission).await
    }

    async fn admitted(
        &self,
        started: Instant,
        mut parts: Parts,
        body: Incoming,
        peer: IpAddr,
        admission: Admission,
    ) -> Reply {
        let id = self.ids.next();
        let route = Route::of(parts.uri.path());
        let mut context =
            RequestContext::new(id, started, parts.method.clone(), parts.uri.clone(), &parts.headers);
        let (principal, admitted) = match admission {
            Admission::Decided(principal, admitted) => (principal, admitted),
            Admission::Unknown(hash) => {
                let find = || self.state.keys().ok()?.reader.find(&hash);
                let key = self.newcomers.wait_for(hash, find).await;
                admission::admit_late(&self.state, route, &parts, peer, key)
            }
        };
        context.key_id = principal.key_id();
        let mut deadline = Deadline::of(started, self.patience);
        let result = match admitted {
            Err(fault) => fault.into(),
            Ok(()) if parts.method == Method::OPTIONS => match self.check_origin(route, &parts.headers) {
                Ok(()) => EndpointResult::of(headers::preflight(route)).await,
                Err(fault) => fault.into(),
            },
            Ok(()) => {
                if let Principal::ApiKey(known) = &principal {
                    parts.extensions.insert(known.clone());
                }
                parts.extensions.insert(Peer(peer));
                match context.span.traceparent() {
                    None => self.run(route, parts, body, &principal, peer, &mut deadline).await,
                    traceparent => {
                        let work = self.run(route, parts, body, &principal, peer, &mut deadline);
                        traces::within(traceparent, work).await
                    }
                }
            }
        };
        let pending = PendingResponse::of(result, &context, &self.state);
        match Charge::of(&principal, route, &pending) {
            None => self.finish(&mut context, &principal, pending),
            Some(charge) => self.charge(charge, context, pending, deadline).await,
        }
    }

    async fn run(
        &self,
        route: Route,
        parts: Parts,
        body: Incoming,
        principal: &Principal,
        peer: IpAddr,
        deadline: &mut Deadline,
    ) -> EndpointResult {
        if route == Route::Mcp {
            return self.mcp(parts, body, principal, peer).await;
        }
        let response = self.work(route, parts, body, deadline).await;
        EndpointResult::of(response).await
    }

    /// Counts a call and completes its reply.
    async fn charge(
        &self,
        charge: Charge,
        mut context: RequestContext,
        pending: PendingResponse,
        deadline: Deadline,
    ) -> Reply {
        let (allowance, pending) = charge.collect(&self.state, &context, pending, deadline).await;
        self.complete(&mut context, allowance, self.state.now(), pending)
    }

    /// The reply to something that never became a request.
    pub(crate) fn refuse(&self, fault: ApiError) -> Response<Bytes> {
        let mut headers = HeaderMap::new();
        let status = fault.status();
        let id = self.ids.next();
        let body = problem::write(fault, self.state.site(), id.instance(), &mut headers);
        tracing::debug!(status = status.as_u16(), request = %id, "refused before it was a request");
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let now = self.state.now();
        let allowance = self.anonymous_allowance(now);
        let named = headers::Named::default();
        let mut headers = headers::complete(headers, named, status, allowance, id, now.as_second());
        cors::narrow(&self.state, None, &mut headers);
        *response.headers_mut() = headers;
        response
    }

    /// Reads the body and runs the endpoint, whose time begins once the body is there.
    async fn work(
        &self,
        route: Route,
        mut parts: Parts,
        body: Incoming,
        deadline: &mut Deadline,
    ) -> Response {
        // It keeps its place among the bodies until the answer is there.
        let sent = match self.body(route, &parts, body).await {
            Ok(sent) => sent,
            Err(fault) => return fault.into_response(),
        };
        let body = sent.as_ref().map_or_else(Body::empty, |sent| Body::from(sent.bytes.clone()));
        *deadline = Deadline::within(self.patience);
        parts.extensions.insert(*deadline);
        let called = deadline.bound(self.call(parts, body)).await;
        called.unwrap_or_else(IntoResponse::into_response)
    }

    /// Answers a message to the MCP endpoint.
    async fn mcp(&self, parts: Parts, body: Incoming, principal: &Principal, peer: IpAddr) -> EndpointResult {
        if parts.method != Method::POST {
            return ApiError::post_only().into();
        }
        if let Err(fault) = self.check_origin(Route::Mcp, &parts.headers) {
            return fault.into();
        }
        let message = match self.message(body).await {
            Ok(message) => message,
            Err(fault) => return fault.into(),
        };
        let address = match self.state.access() {
            Access::Keys(access) => access.proxies.caller(peer, &parts.headers),
            Access::Open => peer,
        };
        let deadline = Deadline::within(self.patience);
        // Each call of a tool is bounded by itself: what was counted is answered.
        let answer = mcp::answer(&self.state, (principal, address), &parts.headers, &message.bytes, deadline);
        match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(Ok(sent)) => sent.into(),
            Ok(Err(fault)) => fault.into(),
            Err(_panic) => ApiError::panicked().into(),
        }
    }

    /// Refuses pages of other origins at the MCP endpoint.
    fn check_origin(&self, route: Route, headers: &HeaderMap) -> Result<(), ApiError> {
        match route {
            Route::Mcp => crate::auth::origins::check(self.state.origins(), self.state.site(), headers),
            _ => Ok(()),
        }
    }

    async fn call(&self, mut parts: Parts, sent: Body) -> Response {
        // axum would throw the body of HEAD away before its length and tag are known.
        if parts.method == Method::HEAD {
            parts.method = Method::GET;
        }
        match self.router.clone().call(Request::from_parts(parts, sent)).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// What somebody without a key is allowed.
    fn anonymous_allowance(&self, now: Timestamp) -> Allowance {
        Principal::unknown(&self.state).allowance(&self.state, now)
    }

    fn finish(&self, context: &mut RequestContext, principal: &Principal, pending: PendingResponse) -> Reply {
        let now = self.state.now();
        self.complete(context, principal.allowance(&self.state, now), now, pending)
    }

    /// Completes a pending response: encoded, with all common headers. Counts and logs it.
    fn complete(
        &self,
        context: &mut RequestContext,
        allowance: Allowance,
        now: Timestamp,
        pending: PendingResponse,
    ) -> Reply {
        let PendingResponse { status, content_type, tag, mut headers, mut bytes, cause } = pending;
        let encodings = context.encodings.as_ref().filter(|_| encoding::is_worth_it(content_type.as_ref()));
        if let Some(encoded) = encodings.and_then(|accepted| encoding::encode(accepted, &bytes)) {
            headers.insert(CONTENT_ENCODING, encoded.name);
            bytes = encoded.bytes;
        }
        let named = headers::Named { content_type, tag, is_kept: context.method != Method::POST };
        // What anybody may keep says of nobody how much is left.
        let is_for_all =
            headers.get(CACHE_CONTROL).is_some_and(|caching| caching.as_bytes().starts_with(b"public"));
        let allowance = if is_for_all { self.anonymous_allowance(now) } else { allowance };
        let mut headers = headers::complete(headers, named, status, allowance, context.id, now.as_second());
        cors::narrow(&self.state, context.origin.as_ref(), &mut headers);
        if self.state.is_leaving() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let has_body = !matches!(status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
        if context.method == Method::HEAD && has_body {
            headers.insert(CONTENT_LENGTH, bytes.len().into());
            bytes = Bytes::new();
        }
        let took = context.started.elapsed();
        self.state.metrics().answered(Route::of(context.uri.path()), status, took);
        access_log::answered(context, status, took, cause.as_deref());
        request_span::answered(&mut context.span, status);
        let mut reply = Response::new(Full::new(bytes));
        *reply.status_mut() = status;
        *reply.headers_mut() = headers;
        reply
    }
}
