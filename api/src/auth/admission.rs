//! Who calls, and what they are allowed. This is the one place that decides it, before any work is done.

use std::net::IpAddr;

use http::Method;
use http::request::Parts;
use jiff::Timestamp;
use read::keys::KnownKey;
use schemas::key::KeyHash;

use crate::auth::access::{Access, Balance, KeyAccess};
use crate::auth::cors;
use crate::auth::presented_key;
use crate::auth::principal::Principal;
use crate::error::ApiError;
use crate::route::Route;
use crate::state::ApiState;

/// The longest address that is looked at.
const LONGEST_ADDRESS: usize = 8 * 1024;

/// What is decided about a request before any work is done.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Who calls, and whether they may.
    Decided(Principal, Result<(), ApiError>),
    /// A key is presented that this node does not know; it may be a moment too early.
    Unknown(KeyHash),
}

/// Finds out who calls, and refuses what need not be worked on.
pub(crate) fn admit(state: &ApiState, route: Route, parts: &Parts, peer: IpAddr) -> Admission {
    let principal = Principal::unknown(state);
    let is_watched = matches!(route, Route::Health | Route::Ready);
    if !is_watched && let Err(fault) = admit_all(state, route, parts) {
        return Admission::Decided(principal, Err(fault));
    }
    let wrong_method = wrong_method(route, &parts.method);
    let presented = match presented_key::key(parts) {
        Ok(presented) => presented,
        Err(fault) => return Admission::Decided(principal, Err(wrong_method.unwrap_or(fault))),
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
        let (principal, admitted) = admit_known(access, route, parts, peer, key);
        return Admission::Decided(principal, admitted);
    }
    if parts.method == Method::OPTIONS {
        return Admission::Decided(principal, Ok(()));
    }
    let limited = || within_address(access, parts, peer);
    let refused = match (presented, wrong_method) {
        // A key changes nothing about a method that the path does not have.
        (_, Some(fault)) => limited().and(Err(fault)),
        // Without a key the tools answer in part; a wrong one is a mistake that its holder should know of.
        (None, None) if route == Route::Mcp => Ok(()),
        // Somebody who guesses keys is slowed down first.
        (Some(hash), None) if route == Route::Mcp || route.is_keyed() => match limited() {
            Ok(()) => return Admission::Unknown(hash),
            fault => fault,
        },
        (None, None) if route.is_keyed() => limited().and(Err(ApiError::missing_key())),
        (_, None) if route.is_limited_by_address() => limited(),
        (_, None) => Ok(()),
    };
    Admission::Decided(principal, refused)
}

/// What is asked of a request whoever sends it.
fn admit_all(state: &ApiState, route: Route, parts: &Parts) -> Result<(), ApiError> {
    state.check_open()?;
    let address = parts.uri.path().len() + parts.uri.query().map_or(0, |query| query.len() + 1);
    if address > LONGEST_ADDRESS {
        return Err(ApiError::address_too_long());
    }
    cors::check_host(state, route, &parts.headers)
}

/// The fault of a method that a path which asks for keys does not have. Other paths leave it to the router.
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
    key: Option<KnownKey>,
) -> (Principal, Result<(), ApiError>) {
    match (key, state.access()) {
        (Some(key), Access::Keys(access)) => admit_known(access, route, parts, peer, key),
        _ => (Principal::unknown(state), Err(ApiError::invalid_key())),
    }
}

fn admit_known(
    access: &KeyAccess,
    route: Route,
    parts: &Parts,
    peer: IpAddr,
    key: KnownKey,
) -> (Principal, Result<(), ApiError>) {
    let known = access.known(key);
    let admitted = match wrong_method(route, &parts.method) {
        _ if parts.method == Method::OPTIONS => Ok(()),
        wrong_method if route.is_keyed() => {
            let allowed = access.bursts.key(known.key_id, 1).map_err(ApiError::too_many_requests);
            allowed.and(wrong_method.map_or(Ok(()), Err))
        }
        Some(fault) => Err(fault),
        // A key buys calls of the interface: it does not open the pages.
        None if route.is_limited_by_address() => within_address(access, parts, peer),
        None => Ok(()),
    };
    (Principal::ApiKey(known), admitted)
}

/// Whether the address may call now.
fn within_address(access: &KeyAccess, parts: &Parts, peer: IpAddr) -> Result<(), ApiError> {
    let address = access.proxies.caller(peer, &parts.headers);
    access.bursts.address(address, 1).map_err(ApiError::too_many_requests)
}

/// The fault of a budget of which nothing is left.
pub(crate) fn used_up(balance: &Balance, now: Timestamp) -> ApiError {
    let used = balance.used.max(balance.limit);
    ApiError::quota_exceeded(balance.limit, used, balance.budget.month.end(), now)
}
