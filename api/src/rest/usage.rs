//! `GET /v1/usage`: what the presented key has called in the running month. Free of charge. The key's name is opened with
//! the key itself.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use http::request::Parts;

use crate::answers::usage::answer;
use crate::auth::access::{Access, Known};
use crate::auth::presented_key::whole_key;
use crate::error::ApiError;
use crate::query::Given;
use crate::state::ApiState;

pub(crate) async fn usage(
    State(state): State<ApiState>,
    known: Option<Extension<Known>>,
    parts: Parts,
) -> Result<Response, ApiError> {
    let (Access::Keys(access), Some(Extension(known))) = (state.access(), known) else {
        // Nobody has a key here.
        return Err(ApiError::not_found());
    };
    let mut answer = answer(&state, access, &known, whole_key(&parts).as_ref()).await?;
    answer.ignored_parameters = Given::read(parts.uri.query().unwrap_or_default(), ["key"]).ignored();
    let body = serde_json::to_vec(&answer).map_err(ApiError::internal)?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response())
}
