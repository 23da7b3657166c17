//! What an endpoint answers, on its way to becoming a reply.

use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, LINK};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt, Collected};

use crate::answers::list::List;
use crate::error::ApiError;
use crate::http::context::RequestContext;
use crate::http::{entity_tag, problem};
use crate::mcp::Sent;
use crate::state::ApiState;

/// What an endpoint answers.
#[derive(Debug)]
pub(super) struct EndpointResult {
    status: StatusCode,
    content_type: Option<HeaderValue>,
    /// Further headers of its own.
    headers: HeaderMap,
    content: Result<Bytes, ApiError>,
}

/// A reply whose status is decided, so that it is known whether it counts.
#[derive(Debug)]
pub(super) struct PendingResponse {
    pub(super) status: StatusCode,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) tag: Option<HeaderValue>,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
    /// What the log should know of a fault.
    pub(super) cause: Option<String>,
}

impl EndpointResult {
    pub(super) async fn of(response: Response) -> EndpointResult {
        let (mut parts, body) = response.into_parts();
        let content = match parts.extensions.remove::<ApiError>() {
            Some(fault) => Err(fault),
            None => body.collect().await.map(Collected::to_bytes).map_err(ApiError::internal),
        };
        // What axum has measured may yet be encoded.
        parts.headers.remove(CONTENT_LENGTH);
        let content_type = parts.headers.remove(CONTENT_TYPE);
        EndpointResult { status: parts.status, content_type, headers: parts.headers, content }
    }
}

/// A message of the MCP endpoint.
impl From<Sent> for EndpointResult {
    fn from(Sent { status, content_type, headers, body }: Sent) -> EndpointResult {
        EndpointResult { status, content_type, headers, content: Ok(body.into()) }
    }
}

impl From<ApiError> for EndpointResult {
    fn from(fault: ApiError) -> EndpointResult {
        EndpointResult::from(Err::<List, ApiError>(fault))
    }
}

/// A list, or why there is none.
impl From<Result<List, ApiError>> for EndpointResult {
    fn from(list: Result<List, ApiError>) -> EndpointResult {
        let content_type = Some(HeaderValue::from_static("application/json"));
        let mut headers = HeaderMap::new();
        let content = list.map(|List { body, next }| {
            if let Some(next) = next {
                headers.insert(LINK, next);
            }
            body
        });
        EndpointResult { status: StatusCode::OK, content_type, headers, content }
    }
}

impl PendingResponse {
    /// Decides the status: a problem, or not modified, or what the endpoint says.
    pub(super) fn of(result: EndpointResult, context: &RequestContext, state: &ApiState) -> PendingResponse {
        let EndpointResult { status, content_type, headers, content } = result;
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(fault) => return PendingResponse::problem(fault, headers, context, state),
        };
        let mut pending = PendingResponse { status, content_type, tag: None, headers, bytes, cause: None };
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

    /// The reply that says what is wrong.
    pub(super) fn problem(
        fault: ApiError,
        mut headers: HeaderMap,
        context: &RequestContext,
        state: &ApiState,
    ) -> PendingResponse {
        let (cause, status) = (fault.cause().map(str::to_owned), fault.status());
        let instance = context.id.instance();
        let bytes = if context.wants_page {
            problem::write_page(fault, state, instance, &mut headers)
        } else {
            problem::write(fault, state.site(), instance, &mut headers)
        };
        PendingResponse { status, content_type: None, tag: None, headers, bytes, cause }
    }
}
