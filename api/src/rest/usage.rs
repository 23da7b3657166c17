//! `GET /v1/usage`: the calls of the presented key in the current month. Not charged. The key's name is decrypted with the key
//! itself.

use axum::Extension;
use axum::extract::State;
use http::request::Parts;

use answers::auth::access::ApiKey;
use answers::auth::presented_key;
use answers::catalog::document::JsonDocument;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::state::ApiState;
use answers::usage::answer;

pub(crate) async fn usage(
    State(state): State<ApiState>,
    key: Option<Extension<ApiKey>>,
    parts: Parts,
) -> Result<JsonDocument, ApiError> {
    let (Some(access), Some(Extension(key))) = (state.access().keys(), key) else {
        // A node without keys.
        return Err(ApiError::not_found());
    };
    let mut answer = answer(&state, access, &key, presented_key::key(&parts).as_ref()).await?;
    answer.ignored_parameters = QueryParams::parse(parts.uri.query().unwrap_or_default(), ["key"]).ignored();
    serde_json::to_vec(&answer).map(JsonDocument::of).map_err(ApiError::internal)
}
