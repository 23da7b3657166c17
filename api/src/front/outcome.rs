//! What an endpoint answers, as long as it is no reply yet.

use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::{BodyExt, Collected};

use crate::fault::Fault;

/// What an endpoint answers, before it becomes a reply.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: StatusCode,
    pub(super) content_type: Option<HeaderValue>,
    /// Further headers of its own.
    pub(super) headers: HeaderMap,
    pub(super) content: Result<Bytes, Fault>,
}

impl Outcome {
    pub(super) async fn of(response: Response) -> Outcome {
        let (mut parts, body) = response.into_parts();
        let content = match parts.extensions.remove::<Fault>() {
            Some(fault) => Err(fault),
            None => body.collect().await.map(Collected::to_bytes).map_err(Fault::internal),
        };
        // What axum has measured may yet be encoded.
        parts.headers.remove(CONTENT_LENGTH);
        let content_type = parts.headers.remove(CONTENT_TYPE);
        Outcome { status: parts.status, content_type, headers: parts.headers, content }
    }
}

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Outcome {
        Outcome::from(Err(fault))
    }
}

/// A JSON document, or why there is none.
impl From<Result<Bytes, Fault>> for Outcome {
    fn from(content: Result<Bytes, Fault>) -> Outcome {
        let content_type = Some(HeaderValue::from_static("application/json"));
        Outcome { status: StatusCode::OK, content_type, headers: HeaderMap::new(), content }
    }
}
