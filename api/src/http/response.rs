//! The result of an endpoint, until it is a reply.

use answers::auth::charge::Charged;
use answers::catalog::document::{JsonDocument, Uncharged};
use answers::error::ApiError;
use answers::state::ApiState;
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, LINK};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Collected};
use mcp::McpReply;
use metering::Outcome;
use pages::SuggestedProjects;

use crate::http::context::RequestContext;
use crate::http::{entity_tag, problem};

static CALL_ID: HeaderName = HeaderName::from_static("x-call-id");

/// The result of an endpoint.
#[derive(Debug)]
pub(super) struct EndpointResult {
    status: StatusCode,
    content_type: Option<HeaderValue>,
    /// Further headers of its own.
    headers: HeaderMap,
    content: Result<Bytes, ApiError>,
    /// The projects that the page of an error shows.
    suggested: SuggestedProjects,
    /// Whether its call is charged, if the path is one of those that are.
    is_charged: bool,
}

/// A reply whose status is decided, which determines whether the call is charged.
#[derive(Debug)]
pub(super) struct PendingResponse {
    pub(super) status: StatusCode,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) tag: Option<HeaderValue>,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
    /// Whether its call is charged, if the path is one of those that are.
    pub(super) is_charged: bool,
    /// The cause of an error, for the log.
    pub(super) cause: Option<String>,
}

/// An empty result.
impl Default for EndpointResult {
    fn default() -> EndpointResult {
        EndpointResult {
            status: StatusCode::OK,
            content_type: None,
            headers: HeaderMap::new(),
            content: Ok(Bytes::new()),
            suggested: SuggestedProjects::default(),
            is_charged: true,
        }
    }
}

impl EndpointResult {
    /// Returns a result without a body.
    pub(super) fn empty(status: StatusCode, headers: HeaderMap) -> EndpointResult {
        EndpointResult { status, headers, ..EndpointResult::default() }
    }

    /// Returns the result of an MCP message that is refused, since its key is not valid; `body` is as much of it as was read.
    pub(super) fn refused_message(
        error: ApiError,
        body: &[u8],
        context: &RequestContext,
        state: &ApiState,
    ) -> EndpointResult {
        let (status, mut headers) = (error.status(), HeaderMap::new());
        let about = (context.id.instance(), body);
        let content = problem::write_message(error, state.site(), about, &mut headers).into();
        let content_type = Some(HeaderValue::from_static("application/json"));
        let content = Ok(content);
        EndpointResult {
            status,
            content_type,
            headers,
            content,
            is_charged: false,
            ..EndpointResult::default()
        }
    }

    /// Returns the result of an endpoint of the router, for the page of an unknown project with those that its slug suggests.
    pub(super) async fn of(response: Response, context: &RequestContext, state: &ApiState) -> EndpointResult {
        let (mut parts, body) = response.into_parts();
        let is_charged = parts.extensions.remove::<Uncharged>().is_none();
        let content = match parts.extensions.remove::<ApiError>() {
            Some(error) => Err(error),
            None => body.collect().await.map(Collected::to_bytes).map_err(ApiError::internal),
        };
        let suggested = match &content {
            Err(error) if context.wants_page => SuggestedProjects::of(error.suggestions(), state).await,
            _ => SuggestedProjects::default(),
        };
        // The body may be compressed, so the length that axum has set is not final.
        parts.headers.remove(CONTENT_LENGTH);
        let content_type = parts.headers.remove(CONTENT_TYPE);
        let (status, headers) = (parts.status, parts.headers);
        EndpointResult { status, content_type, headers, content, suggested, is_charged }
    }
}

/// A message of the MCP endpoint.
impl From<McpReply> for EndpointResult {
    fn from(McpReply { status, content_type, headers, body }: McpReply) -> EndpointResult {
        EndpointResult {
            status,
            content_type,
            headers,
            content: Ok(body.into()),
            ..EndpointResult::default()
        }
    }
}

impl From<ApiError> for EndpointResult {
    fn from(error: ApiError) -> EndpointResult {
        EndpointResult::from(Err::<JsonDocument, ApiError>(error))
    }
}

/// A document, or why there is none.
impl From<Result<JsonDocument, ApiError>> for EndpointResult {
    fn from(document: Result<JsonDocument, ApiError>) -> EndpointResult {
        let content_type = Some(HeaderValue::from_static("application/json"));
        let mut headers = HeaderMap::new();
        let is_charged = document.as_ref().is_ok_and(|document| document.is_charged);
        let content = document.map(|JsonDocument { body, next, .. }| {
            if let Some(next) = next {
                headers.insert(LINK, next);
            }
            body
        });
        EndpointResult { content_type, headers, content, is_charged, ..EndpointResult::default() }
    }
}

impl PendingResponse {
    /// Decides the status: that of an error, 304, or the one of the endpoint.
    pub(super) fn of(result: EndpointResult, context: &RequestContext, state: &ApiState) -> PendingResponse {
        let EndpointResult { status, content_type, headers, content, suggested, is_charged } = result;
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(error) => return PendingResponse::problem(error, headers, suggested, (context, state)),
        };
        let mut pending =
            PendingResponse { status, content_type, tag: None, headers, bytes, is_charged, cause: None };
        let reads = context.method == Method::GET || context.method == Method::HEAD;
        if status == StatusCode::OK && reads {
            let tag = entity_tag::of(&pending.bytes);
            if context.known_tags.as_ref().is_some_and(|known| entity_tag::is_known(&tag, known)) {
                pending.status = StatusCode::NOT_MODIFIED;
                pending.content_type = None;
                pending.bytes = Bytes::new();
            }
            pending.tag = Some(tag);
        }
        pending
    }

    /// Returns the response after its call was charged: with the id of the call, or an error if the call was not counted.
    pub(super) fn charged(
        mut self,
        charged: Charged,
        context: &RequestContext,
        state: &ApiState,
    ) -> PendingResponse {
        let error = match charged.outcome {
            Outcome::Counted { .. } => {
                if let Ok(id) = HeaderValue::try_from(charged.id.to_string()) {
                    self.headers.insert(&CALL_ID, id);
                }
                return self;
            }
            Outcome::Exceeded => charged.balance.exceeded(charged.at),
            Outcome::Unavailable(reason) => ApiError::charge_unavailable(reason),
        };
        PendingResponse::problem(error, HeaderMap::new(), SuggestedProjects::default(), (context, state))
    }

    /// Returns the response of an error.
    fn problem(
        error: ApiError,
        mut headers: HeaderMap,
        suggested: SuggestedProjects,
        (context, state): (&RequestContext, &ApiState),
    ) -> PendingResponse {
        let (cause, status) = (error.cause().map(str::to_owned), error.status());
        let instance = context.id.instance();
        let bytes = if context.wants_page {
            problem::write_page(error, suggested, (context, state), &mut headers)
        } else {
            problem::write(error, state.site(), instance, &mut headers)
        };
        PendingResponse { status, content_type: None, tag: None, headers, bytes, is_charged: false, cause }
    }
}
