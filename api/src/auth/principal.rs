//! Who is calling, for every surface alike.

use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use schemas::key::KeyId;

use crate::auth::access::{Access, Balance, KeyAccess, Known};
use crate::auth::allowance::Allowance;
use crate::state::ApiState;

/// Who is calling.
#[derive(Debug, Clone)]
pub(crate) enum Principal {
    /// Anybody, on a node where nothing is counted.
    Unmetered,
    /// A caller without a good key.
    Anonymous,
    /// The holder of a key.
    ApiKey(Known),
}

impl Principal {
    /// The key that the request comes with, if it is a good one.
    pub(crate) fn key_id(&self) -> Option<KeyId> {
        match self {
            Principal::ApiKey(known) => Some(known.key_id),
            Principal::Unmetered | Principal::Anonymous => None,
        }
    }

    /// Who stands behind a request that nothing is known of.
    pub(crate) fn unknown(state: &ApiState) -> Principal {
        match state.access() {
            Access::Open => Principal::Unmetered,
            Access::Keys(_) => Principal::Anonymous,
        }
    }

    /// What the rate headers say.
    pub(crate) fn allowance(&self, state: &ApiState, now: Timestamp) -> Allowance {
        match (self, state.access()) {
            (Principal::Unmetered, _) | (_, Access::Open) => Allowance::UNLIMITED,
            (Principal::Anonymous, _) => Allowance::NONE,
            (Principal::ApiKey(known), Access::Keys(access)) => {
                Allowance::of(&access.balance(state.models(), known, now), access)
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
        state: &ApiState,
        address: IpAddr,
        calls: u32,
    ) -> Result<(), Duration> {
        let Access::Keys(access) = state.access() else { return Ok(()) };
        match self {
            Principal::Unmetered => Ok(()),
            Principal::Anonymous => access.bursts.address(address, calls),
            Principal::ApiKey(known) => access.bursts.key(known.key_id, calls),
        }
    }
}

impl Allowance {
    pub(crate) fn of(balance: &Balance, access: &KeyAccess) -> Allowance {
        Allowance {
            limit: balance.limit,
            remaining: balance.limit.saturating_sub(balance.used),
            month: Some(balance.budget.month),
            burst: access.bursts.per_key(),
        }
    }
}
