//! What web pages of other sites may do (CORS). On a node with keys they may read every answer, since the key protects it; on a node
//! without keys, only those whose origin may use the MCP endpoint.

use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, VARY};
use http::{HeaderMap, HeaderValue};

use crate::auth::access::Access;
use crate::auth::origins::{self, Origins};
use crate::error::ApiError;
use crate::route::Route;
use crate::state::ApiState;

/// Refuses a request under a host name that is not this node's: on a node without keys for every path, else for the MCP endpoint
/// only. The other answers of a node with keys are public or need a key.
pub(crate) fn check_host(state: &ApiState, route: Route, headers: &HeaderMap) -> Result<(), ApiError> {
    match (state.access(), route) {
        (Access::Keys(_), Route::Mcp) => origins::check_host(state.origins(), state.site(), true, headers),
        (Access::Keys(_), _) => Ok(()),
        (Access::Open, _) => origins::check_host(state.origins(), state.site(), false, headers),
    }
}

/// Restricts `Access-Control-Allow-Origin` to allowed origins; `asked` is the origin of the request.
pub fn restrict(state: &ApiState, asked: Option<&HeaderValue>, headers: &mut HeaderMap) {
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
