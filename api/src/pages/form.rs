//! What the site's forms have in common.

use bytes::Bytes;
use http::HeaderMap;

use crate::access::{Access, KeyAccess};
use crate::fault::Fault;
use crate::front::Peer;
use crate::query::Given;
use crate::state::ApiState;

/// What keys are held to, where there are keys.
pub(super) fn access(state: &ApiState) -> Result<&KeyAccess, Fault> {
    match state.access() {
        Access::Keys(access) => Ok(access),
        // Nobody needs a key here.
        Access::Open => Err(Fault::not_found()),
    }
}

/// Takes one of the keys, or links, that a network may ask for in an hour.
pub(super) fn spend(access: &KeyAccess, Peer(peer): Peer, headers: &HeaderMap) -> Result<(), Fault> {
    let address = access.proxies.caller(peer, headers);
    access.bursts.mint(address).map_err(Fault::too_many_keys)
}

/// A field of a form, trimmed; empty where it is absent, or there more than once.
pub(super) fn field(body: &Bytes, name: &'static str) -> String {
    let body = String::from_utf8_lossy(body);
    let value = Given::read(&body, [name]).single(name, &mut Vec::new());
    value.unwrap_or_default().trim().to_owned()
}
