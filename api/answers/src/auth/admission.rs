//! Admission: determines the principal of a request and whether it may proceed, before any work is done. The rate limit of an MCP
//! request is checked later, once its body says how many messages there are.

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

/// The decision about a request before any work is done.
#[derive(Debug)]
pub enum Admission {
    /// The principal, and why the request is refused, if it is.
    Decided(Principal, Result<(), ApiError>),
    /// The key is unknown to this node; it may have been issued a moment ago.
    Unknown(KeyHash),
}

/// Decides about a request from `peer`.
pub fn admit(state: &ApiState, route: Route, parts: &Parts, peer: IpAddr) -> Admission {
    let principal = Principal::without_key(state);
    let is_watched = matches!(route, Route::Health | Route::Ready);
    if !is_watched && let Err(error) = admit_all(state, route, parts) {
        return Admission::Decided(principal, Err(error));
    }
    let wrong_method = wrong_method(route, &parts.method);
    let presented = match presented_key::hash(parts) {
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
        // The path does not have the method, with or without a key.
        (_, Some(error)) => limited().and(Err(error)),
        // Without a key the tools return a preview; a wrong key is a mistake that its holder should learn of.
        (None, None) if route == Route::Mcp => Ok(()),
        // The rate limit comes first: it slows down a caller who guesses keys.
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

/// Checks that apply to every request.
fn admit_all(state: &ApiState, route: Route, parts: &Parts) -> Result<(), ApiError> {
    state.check_open()?;
    let address = parts.uri.path().len() + parts.uri.query().map_or(0, |query| query.len() + 1);
    if address > LONGEST_ADDRESS {
        return Err(ApiError::address_too_long());
    }
    cors::check_host(state, route, &parts.headers)
}

/// Returns the error for a method that a path with keys does not have. For other paths the router decides.
fn wrong_method(route: Route, method: &Method) -> Option<ApiError> {
    let reads = method == Method::GET || method == Method::HEAD;
    match route {
        _ if method == Method::OPTIONS => None,
        Route::Mcp if method != Method::POST => Some(ApiError::method_not_allowed(Route::Mcp)),
        _ if route.is_keyed() && !reads => Some(ApiError::method_not_allowed(route)),
        _ => None,
    }
}

/// Decides about a request whose key was unknown at first; `key` is what was found since.
pub fn admit_late(
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

/// Admits a call once more that was admitted and has waited since: its key may have been revoked meanwhile.
///
/// # Errors
///
/// If its key is no longer valid, or the keys cannot be read.
pub fn readmit(state: &ApiState, parts: &Parts) -> Result<(), ApiError> {
    let (Access::Keys(_), Some(hash)) = (state.access(), presented_key::hash(parts)?) else { return Ok(()) };
    state.keys()?.reader.find(&hash).map(drop).ok_or_else(ApiError::invalid_key)
}

/// Admits the key that a form brings in its body, as a call of the API with it; `None` if it is not valid.
///
/// # Errors
///
/// If the keys are not loaded yet or the rate limit is exceeded.
pub fn admit_form_key(state: &ApiState, hash: &KeyHash, peer: IpAddr) -> Result<Option<ApiKey>, ApiError> {
    let (Some(key), Some(access)) = (state.keys()?.reader.find(hash), state.access().keys()) else {
        return Ok(None);
    };
    let key = access.api_key(key);
    let principal = Principal::ApiKey(key.clone());
    principal.check_rate_limit(state.access(), peer, 1).map_err(ApiError::too_many_requests)?;
    Ok(Some(key))
}

/// Counts the request against the rate limit of its address.
fn limit_address(access: &Access, parts: &Parts, peer: IpAddr) -> Result<(), ApiError> {
    let address = access.caller(peer, &parts.headers);
    Principal::Anonymous.check_rate_limit(access, address, 1).map_err(ApiError::too_many_requests)
}
