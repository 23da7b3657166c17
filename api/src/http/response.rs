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
pub(super) struct Outcome {
    status: StatusCode,
    content_type: Option<HeaderValue>,
    /// Further headers of its own.
    headers: HeaderMap,
    content: Result<Bytes, ApiError>,
}

/// A reply whose status is decided, so that it is known whether it counts.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) status: StatusCode,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) tag: Option<HeaderValue>,
    pub(super) headers: HeaderMap,
    pub(super) bytes: Bytes,
    /// What the log should know of a fault.
    pub(super) cause: Option<String>,
}

impl Outcome {
    pub(super) async fn of(response: Response) -> Outcome {
        let (mut parts, body) = response.into_parts();
        let content = match parts.extensions.remove::<ApiError>() {
            Some(fault) => Err(fault),
            None => body.collect().await.map(Collected::to_bytes).map_err(ApiError::internal),
        };
        // What axum has measured may yet be encoded.
        parts.headers.remove(CONTENT_LENGTH);
        let content_type = parts.headers.remove(CONTENT_TYPE);
        Outcome { status: parts.status, content_type, headers: parts.headers, content }
    }
}

/// A message of the MCP endpoint.
impl From<Sent> for Outcome {
    fn from(Sent { status, content_type, headers, body }: Sent) -> Outcome {
        Outcome { status, content_type, headers, content: Ok(body.into()) }
    }
}

impl From<ApiError> for Outcome {
    fn from(fault: ApiError) -> Outcome {
        Outcome::from(Err::<List, ApiError>(fault))
    }
}

/// A list, or why there is none.
impl From<Result<List, ApiError>> for Outcome {
    fn from(list: Result<List, ApiError>) -> Outcome {
        let content_type = Some(HeaderValue::from_static("application/json"));
        let mut headers = HeaderMap::new();
        let content = list.map(|List { body, next }| {
            if let Some(next) = next {
                headers.insert(LINK, next);
            }
            body
        });
        Outcome { status: StatusCode::OK, content_type, headers, content }
    }
}

impl Draft {
    /// Decides the status: a problem, or not modified, or what the endpoint says.
    pub(super) fn of(outcome: Outcome, context: &RequestContext, state: &ApiState) -> Draft {
        let Outcome { status, content_type, headers, content } = outcome;
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(fault) => return Draft::problem(fault, headers, context, state),
        };
        let mut draft = Draft { status, content_type, tag: None, headers, bytes, cause: None };
        let reads = context.method == Method::GET || context.method == Method::HEAD;
        if status == StatusCode::OK && reads {
            let tag = entity_tag::of(&draft.bytes);
            if context.known_tags.as_ref().is_some_and(|known| entity_tag::is_known(&tag, known)) {
                draft.status = StatusCode::NOT_MODIFIED;
                draft.content_type = None;
                draft.bytes = Bytes::new();
            }
            draft.tag = Some(tag);
        }
        draft
    }

    /// The reply that says what is wrong.
    pub(super) fn problem(
        fault: ApiError,
        mut headers: HeaderMap,
        context: &RequestContext,
        state: &ApiState,
    ) -> Draft {
        let (cause, status) = (fault.cause().map(str::to_owned), fault.status());
        let instance = context.id.instance();
        let bytes = if context.wants_page {
            problem::write_page(fault, state, instance, &mut headers)
        } else {
            problem::write(fault, state.site(), instance, &mut headers)
        };
        Draft { status, content_type: None, tag: None, headers, bytes, cause }
    }
}
