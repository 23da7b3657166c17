//! `GET /healthz` and `GET /readyz`: for supervisors and load balancers, free of keys.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use answers::error::ApiError;
use answers::state::ApiState;

/// The process is alive.
pub(crate) async fn alive() -> Response {
    now(r#"{"status":"ok"}"#)
}

/// The node may be sent requests, or the reason why not.
pub(crate) async fn ready(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let readiness = state.readiness();
    if readiness.ready {
        Ok(now(r#"{"status":"ready"}"#))
    } else {
        Err(ApiError::unavailable(readiness.reason))
    }
}

/// An answer that is true at this moment only.
fn now(body: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, body).into_response()
}
