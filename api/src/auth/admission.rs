//! Finds out who calls, and whether they may, before any work is done. REST, MCP and pages are admitted here; the messages of
//! an MCP request are held to the rate limit once its body says how many there are.

use std::net::IpAddr;

use http::Method;
use http::request::Parts;
use read::keys::ActiveKey;
use schemas::key::KeyHash;

use crate::auth::access::{Access, ApiKey};
use crate::auth::cors;
use crate::auth::presented_key;
use crate::auth::principal::Principal;
use crate::error::ApiError;
use crate::route::Route;
use crate::state::ApiState;

/// The longest path with its query, in bytes.
const LONGEST_ADDRESS: usize = 8 * 1024;

/// What is decided about a request before any work is done.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Who calls, and whether they may.
    Decided(Principal, Result<(), ApiError>),
    /// A key is presented that this node does not know; it may have been issued a moment ago.
    Unknown(KeyHash),
}

/// Finds out who calls, and refuses what need not be worked on.
pub(crate) fn admit(state: &ApiState, route: Route, parts: &Parts, peer: IpAddr) -> Admission {
    let principal = Principal::without_key(state);
    let is_watched = matches!(route, Route::Health | Route::Ready);
    if !is_watched && let Err(error) = admit_all(state, route, parts) {
        return Admission::Decided(principal, Err(error));
    }
    let wrong_method = wrong_method(route, &parts.method);
    let presented = match presented_key::key(parts) {
        Ok(presented) => presented,
        Err(error) => return Admission::Decided(principal, Err(wrong_method.unwrap_or(error))),
    };
    let Access::Keys(access) = state.access() else { return Admission::Decided(principal, Ok(())) };
    let known = match (&presented, state.keys()) {
        (Some(hash), Ok(keys)) => keys.reader.find(hash),
        (Some(_), Err(unready)) if route.is_keyed() || route == Route::Mcp => {
            return Admission::Decided(principal, Err(unready));
        }
        (None, _) | (Some(_), Err(_)) => None,
    };
    if let Some(key) = known {
        let (principal, admitted) = admit_key(state.access(), access.api_key(key), route, parts, peer);
        return Admission::Decided(principal, admitted);
    }
    if parts.method == Method::OPTIONS {
        return Admission::Decided(principal, Ok(()));
    }
    let limited = || limit_address(state.access(), parts, peer);
    let refused = match (presented, wrong_method) {
        // A key changes nothing about a method that the path does not have.
        (_, Some(error)) => limited().and(Err(error)),
        // Without a key the tools answer in part; a wrong one is a mistake that its holder should know of.
        (None, None) if route == Route::Mcp => Ok(()),
        // A caller who guesses keys is slowed down first.
        (Some(hash), None) if route == Route::Mcp || route.is_keyed() => match limited() {
            Ok(()) => return Admission::Unknown(hash),
            refused => refused,
        },
        (None, None) if route.is_keyed() => limited().and(Err(ApiError::missing_key())),
        (_, None) if route.is_limited_by_address() => limited(),
        (_, None) => Ok(()),
    };
    Admission::Decided(principal, refused)
}

/// What every request is held to.
fn admit_all(state: &ApiState, route: Route, parts: &Parts) -> Result<(), ApiError> {
    state.check_open()?;
    let address = parts.uri.path().len() + parts.uri.query().map_or(0, |query| query.len() + 1);
    if address > LONGEST_ADDRESS {
        return Err(ApiError::address_too_long());
    }
    cors::check_host(state, route, &parts.headers)
}

/// Returns the error of a method that a path which needs a key does not have. Other paths leave it to the router.
fn wrong_method(route: Route, method: &Method) -> Option<ApiError> {
    let reads = method == Method::GET || method == Method::HEAD;
    match route {
        _ if method == Method::OPTIONS => None,
        Route::Mcp if method != Method::POST => Some(ApiError::post_only()),
        _ if route.is_keyed() && !reads => Some(ApiError::method_not_allowed(route)),
        _ => None,
    }
}

/// Decides about a request whose key was not known at first.
pub(crate) fn admit_late(
    state: &ApiState,
    route: Route,
    parts: &Parts,
    peer: IpAddr,
    key: Option<ActiveKey>,
) -> (Principal, Result<(), ApiError>) {
    match (key, state.access()) {
        (Some(key), Access::Keys(access)) => {
            admit_key(state.access(), access.api_key(key), route, parts, peer)
        }
        _ => (Principal::without_key(state), Err(ApiError::invalid_key())),
    }
}

/// Decides about a request with a valid key.
fn admit_key(
    access: &Access,
    key: ApiKey,
    route: Route,
    parts: &Parts,
    peer: IpAddr,
) -> (Principal, Result<(), ApiError>) {
    let principal = Principal::ApiKey(key);
    let admitted = match wrong_method(route, &parts.method) {
        _ if parts.method == Method::OPTIONS => Ok(()),
        wrong_method if route.is_keyed() => {
            let allowed = principal.check_rate_limit(access, peer, 1).map_err(ApiError::too_many_requests);
            allowed.and(wrong_method.map_or(Ok(()), Err))
        }
        Some(error) => Err(error),
        // A key raises the limit of the API, not that of the pages.
        None if route.is_limited_by_address() => limit_address(access, parts, peer),
        None => Ok(()),
    };
    (principal, admitted)
}

/// Admits the key that a form brings in its body, as a call of the API with it; `None` if it is not valid.
///
/// # Errors
///
/// Fails where the keys are not loaded yet, or too many calls came within a second.
pub(crate) fn admit_form_key(
    state: &ApiState,
    hash: &KeyHash,
    peer: IpAddr,
) -> Result<Option<ApiKey>, ApiError> {
    let (Some(key), Some(access)) = (state.keys()?.reader.find(hash), state.access().keys()) else {
        return Ok(None);
    };
    let key = access.api_key(key);
    let principal = Principal::ApiKey(key.clone());
    principal.check_rate_limit(state.access(), peer, 1).map_err(ApiError::too_many_requests)?;
    Ok(Some(key))
}

/// Takes the call out of what its address may call in a second.
fn limit_address(access: &Access, parts: &Parts, peer: IpAddr) -> Result<(), ApiError> {
    let address = access.caller(peer, &parts.headers);
    Principal::Anonymous.check_rate_limit(access, address, 1).map_err(ApiError::too_many_requests)
}
