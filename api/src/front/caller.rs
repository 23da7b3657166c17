//! Who calls, and what they are allowed. This is the one place that decides it, before any work is done.

use std::net::IpAddr;

use http::request::Parts;
use http::{HeaderMap, Method};
use jiff::Timestamp;
use read::keys::KnownKey;
use schemas::key::KeyHash;

use super::rate::Allowance;
use super::{LONGEST_ADDRESS, presented};
use crate::access::{Access, Balance, KeyAccess, Known};
use crate::fault::Fault;
use crate::mcp::Visitor;
use crate::routes::Route;
use crate::state::ApiState;

/// Who calls, as far as it matters.
#[derive(Debug, Clone)]
pub(super) enum Caller {
    /// Anybody: nothing is counted.
    Anybody,
    /// Somebody without a good key.
    Nobody,
    /// The holder of a key.
    Known(Known),
}

/// What is decided about a request before any work is done.
#[derive(Debug)]
pub(super) enum Admission {
    /// Who calls, and whether they may.
    Decided(Caller, Result<(), Fault>),
    /// A key is presented that this node does not know; it may be a moment too early.
    Unknown(KeyHash),
}

impl Caller {
    /// Who stands behind a request that nothing is known of.
    pub(super) fn unknown(state: &ApiState) -> Caller {
        match state.access() {
            Access::Open => Caller::Anybody,
            Access::Keys(_) => Caller::Nobody,
        }
    }

    /// What the rate headers say.
    pub(super) fn allowance(&self, state: &ApiState, now: Timestamp) -> Allowance {
        match (self, state.access()) {
            (Caller::Anybody, _) | (_, Access::Open) => Allowance::UNLIMITED,
            (Caller::Nobody, _) => Allowance::NONE,
            (Caller::Known(known), Access::Keys(access)) => {
                Allowance::of(&access.balance(state.models(), known, now))
            }
        }
    }
}

impl Caller {
    /// The same for the tools of the MCP endpoint.
    pub(super) fn visitor(&self, state: &ApiState, headers: &HeaderMap, peer: IpAddr) -> Visitor {
        let Access::Keys(access) = state.access() else { return Visitor::Open };
        let address = access.proxies.caller(peer, headers);
        match self {
            Caller::Known(known) => Visitor::Keyed(known.clone(), address),
            Caller::Anybody | Caller::Nobody => Visitor::Anonymous(address),
        }
    }
}

impl Allowance {
    fn of(balance: &Balance) -> Allowance {
        Allowance { limit: balance.limit, remaining: balance.limit.saturating_sub(balance.used) }
    }
}

/// Finds out who calls, and refuses what need not be worked on.
pub(super) fn admit(state: &ApiState, route: Route, parts: &Parts, peer: IpAddr) -> Admission {
    let caller = Caller::unknown(state);
    if !matches!(route, Route::Health | Route::Ready)
        && let Err(fault) = state.check_open()
    {
        return Admission::Decided(caller, Err(fault));
    }
    let address = parts.uri.path().len() + parts.uri.query().map_or(0, |query| query.len() + 1);
    if address > LONGEST_ADDRESS {
        return Admission::Decided(caller, Err(Fault::address_too_long()));
    }
    let presented = match presented::key(parts) {
        Ok(presented) => presented,
        Err(fault) => return Admission::Decided(caller, Err(fault)),
    };
    let Access::Keys(access) = state.access() else { return Admission::Decided(caller, Ok(())) };
    let known = match (&presented, state.keys()) {
        (Some(hash), Ok(keys)) => keys.reader.find(hash),
        (Some(_), Err(unready)) if route.is_keyed() || route == Route::Mcp => {
            return Admission::Decided(caller, Err(unready));
        }
        (None, _) | (Some(_), Err(_)) => None,
    };
    let Some(key) = known else {
        let limited = || within_address(access, parts, peer);
        let refused = match presented {
            _ if parts.method == Method::OPTIONS => Ok(()),
            // Without a key the tools answer in part; a wrong one is a mistake that its holder should know of.
            None if route == Route::Mcp => Ok(()),
            // Somebody who guesses keys is slowed down first.
            Some(hash) if route == Route::Mcp || route.is_keyed() => match limited() {
                Ok(()) => return Admission::Unknown(hash),
                fault => fault,
            },
            // What is free of keys here is limited by address, so that nobody reads the catalog off the pages at will.
            _ if matches!(route, Route::Page | Route::Cite | Route::Feeds) => limited(),
            _ if !route.is_keyed() => Ok(()),
            _ => limited().and(Err(Fault::missing_key())),
        };
        return Admission::Decided(caller, refused);
    };
    let (caller, admitted) = admit_known(state, access, route, parts, key);
    Admission::Decided(caller, admitted)
}

/// Decides about a request whose key was not known at first.
pub(super) fn admit_late(
    state: &ApiState,
    route: Route,
    parts: &Parts,
    key: Option<KnownKey>,
) -> (Caller, Result<(), Fault>) {
    match (key, state.access()) {
        (Some(key), Access::Keys(access)) => admit_known(state, access, route, parts, key),
        _ => (Caller::unknown(state), Err(Fault::invalid_key())),
    }
}

fn admit_known(
    state: &ApiState,
    access: &KeyAccess,
    route: Route,
    parts: &Parts,
    key: KnownKey,
) -> (Caller, Result<(), Fault>) {
    let known = access.known(key);
    let within = within(state, access, route, parts, &known);
    (Caller::Known(known), within)
}

/// Whether the address may call now.
fn within_address(access: &KeyAccess, parts: &Parts, peer: IpAddr) -> Result<(), Fault> {
    let address = access.proxies.caller(peer, &parts.headers);
    access.bursts.address(address).map_err(Fault::too_many_requests)
}

/// Whether a known caller may call now.
fn within(
    state: &ApiState,
    access: &KeyAccess,
    route: Route,
    parts: &Parts,
    known: &Known,
) -> Result<(), Fault> {
    if !route.is_keyed() || parts.method == Method::OPTIONS {
        return Ok(());
    }
    access.bursts.key(known.key_id).map_err(Fault::too_many_requests)?;
    let reads = parts.method == Method::GET || parts.method == Method::HEAD;
    if route.operation().is_none() || !reads {
        return Ok(());
    }
    let now = state.now();
    let balance = access.balance(state.models(), known, now);
    if balance.used >= balance.limit { Err(used_up(&balance, now)) } else { Ok(()) }
}

/// The fault of a budget of which nothing is left.
pub(super) fn used_up(balance: &Balance, now: Timestamp) -> Fault {
    let used = balance.used.max(balance.limit);
    Fault::quota_exceeded(balance.limit, used, balance.budget.month.end(), now)
}
