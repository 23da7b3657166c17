//! Who is calling, for REST, MCP and pages alike: what the caller may call within a second, and has left of the month.
//! [`admission`](super::admission) finds the principal of a request, [`charge`](super::charge) counts its calls.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use schemas::key::KeyId;

use crate::auth::access::{Access, ApiKey, Balance};
use crate::auth::allowance::Allowance;
use crate::state::ApiState;

/// Who is calling.
#[derive(Debug, Clone)]
pub(crate) enum Principal {
    /// Any caller of a node where nothing is counted.
    Unmetered,
    /// A caller without a valid key.
    Anonymous,
    /// The holder of a key.
    ApiKey(ApiKey),
}

impl Principal {
    /// Returns the principal of a request without a valid key.
    pub(crate) fn without_key(state: &ApiState) -> Principal {
        match state.access() {
            Access::Open => Principal::Unmetered,
            Access::Keys(_) => Principal::Anonymous,
        }
    }

    pub(crate) fn key_id(&self) -> Option<KeyId> {
        match self {
            Principal::ApiKey(key) => Some(key.key_id),
            Principal::Unmetered | Principal::Anonymous => None,
        }
    }

    /// Whether its calls are charged.
    pub(crate) fn is_metered(&self) -> bool {
        matches!(self, Principal::ApiKey(_))
    }

    /// Returns what the key has used of its month; `None` without a key.
    pub(crate) fn balance(&self, state: &ApiState, now: Timestamp) -> Option<Balance> {
        match (self, state.access()) {
            (Principal::ApiKey(key), Access::Keys(access)) => Some(access.balance(state.models(), key, now)),
            _ => None,
        }
    }

    /// Returns what the rate headers say.
    pub(crate) fn allowance(&self, state: &ApiState, now: Timestamp) -> Allowance {
        match (self, state.access()) {
            (Principal::Unmetered, _) | (_, Access::Open) => Allowance::UNLIMITED,
            (Principal::Anonymous, _) => Allowance::NONE,
            (Principal::ApiKey(key), Access::Keys(access)) => {
                Allowance::of(&access.balance(state.models(), key, now), access.bursts.per_key())
            }
        }
    }

    /// Takes calls that came at once, from this address, out of what may be called in a second.
    ///
    /// # Errors
    ///
    /// Returns the time to wait where nothing is left.
    pub(crate) fn check_rate_limit(
        &self,
        access: &Access,
        address: IpAddr,
        calls: u32,
    ) -> Result<(), Duration> {
        let Access::Keys(access) = access else { return Ok(()) };
        match self {
            Principal::Unmetered => Ok(()),
            Principal::Anonymous => access.bursts.address(address, calls),
            Principal::ApiKey(key) => access.bursts.key(key.key_id, calls),
        }
    }
}
