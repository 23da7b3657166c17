//! `GET /healthz` and `GET /readyz`: for supervisors and load balancers, without a key.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use answers::error::ApiError;
use answers::state::ApiState;

/// Answers that the process runs.
pub(crate) async fn alive() -> Response {
    now(r#"{"status":"ok"}"#)
}

/// Answers that the node is ready, or why it is not.
pub(crate) async fn ready(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let readiness = state.readiness();
    if readiness.ready {
        Ok(now(r#"{"status":"ready"}"#))
    } else {
        Err(ApiError::unavailable(readiness.reason))
    }
}

/// Returns an answer that must not be cached.
fn now(body: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, body).into_response()
}
