//! What pages of other sites may do. Where keys are asked for they may read every answer, since the key is what protects;
//! where none are, only the pages that the MCP endpoint lets in may.

use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, VARY};
use http::{HeaderMap, HeaderValue};

use crate::auth::access::Access;
use crate::auth::origins::{self, Origins};
use crate::error::ApiError;
use crate::route::Route;
use crate::state::ApiState;

/// Refuses a request that came by a name that is not this node's: everywhere where nobody is asked for a key, and else at the
/// MCP endpoint. Other answers of a node with keys are for everybody, or for whoever has one.
pub(crate) fn check_host(state: &ApiState, route: Route, headers: &HeaderMap) -> Result<(), ApiError> {
    match (state.access(), route) {
        (Access::Keys(_), Route::Mcp) => origins::check_host(state.origins(), state.site(), true, headers),
        (Access::Keys(_), _) => Ok(()),
        (Access::Open, _) => origins::check_host(state.origins(), state.site(), false, headers),
    }
}

/// Takes the leave to read the reply back from pages of origins that are not let in; `asked` is the one that asks.
pub(crate) fn narrow(state: &ApiState, asked: Option<&HeaderValue>, headers: &mut HeaderMap) {
    let is_for_all = matches!(state.access(), Access::Keys(_)) || *state.origins() == Origins::Any;
    if is_for_all || !headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
        return;
    }
    if headers.get(VARY).is_none_or(|vary| vary != "Origin") {
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
    let is_let_in =
        |origin: &&HeaderValue| state.origins().allow(state.site(), origin.to_str().unwrap_or_default());
    match asked.filter(is_let_in) {
        Some(origin) => headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone()),
        None => headers.remove(ACCESS_CONTROL_ALLOW_ORIGIN),
    };
}
