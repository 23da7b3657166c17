//! `GET /healthz` and `GET /readyz`: for supervisors and load balancers, without a key.

use axum::extract::State;
use axum::response::IntoResponse;
use http::HeaderValue;
use http::header::CACHE_CONTROL;

use answers::catalog::document::JsonDocument;
use answers::error::ApiError;
use answers::state::ApiState;

/// Answers that the process runs.
pub(crate) async fn alive() -> impl IntoResponse {
    now(r#"{"status":"ok"}"#)
}

/// Answers that the node is ready, or why it is not.
pub(crate) async fn ready(State(state): State<ApiState>) -> Result<impl IntoResponse, ApiError> {
    let readiness = state.readiness();
    if readiness.ready {
        Ok(now(r#"{"status":"ready"}"#))
    } else {
        Err(ApiError::unavailable(readiness.reason))
    }
}

/// Returns an answer that must not be cached.
fn now(body: &'static str) -> impl IntoResponse {
    ([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], JsonDocument::of(body))
}
