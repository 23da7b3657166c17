//! Charges a call to its key: after the work, so that a failed call does not count, and before the answer, so that a counted call
//! is answered. REST and MCP each report the outcome in their own form. A call that will be refused is so before its work.

use jiff::Timestamp;
use metering::Outcome;
use schemas::usage::{Call, CallId, Surface};
use uuid::{ContextV7, Uuid};

use crate::auth::access::{Access, Balance, counted};
use crate::auth::allowance::Allowance;
use crate::auth::principal::Principal;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::state::ApiState;

/// The result of charging a call.
pub struct Charged {
    /// The id of the call.
    pub id: CallId,
    /// The balance of the key, with this call if it was counted.
    pub balance: Balance,
    /// The values of the rate-limit headers.
    pub allowance: Allowance,
    /// The time of the call.
    pub at: Timestamp,
    /// Whether the call was counted.
    pub outcome: Outcome,
}

/// A key whose quota is used up as far as this node knows: its charge would be refused, so its calls are refused before their work, once
/// it is known that they would be charged.
#[derive(Debug)]
pub struct UsedUp {
    balance: Balance,
    at: Timestamp,
}

impl UsedUp {
    /// Refuses the call as its charge would, and returns the balance of the key.
    pub fn refuse(self, state: &ApiState) -> Balance {
        state.metrics().record_charge(&Outcome::Exceeded);
        self.balance
    }

    /// Refuses a list that finds something. One that finds nothing is not charged.
    ///
    /// # Errors
    ///
    /// The error of the charge, if `total` projects are found.
    pub fn refuse_list(self, state: &ApiState, total: u64) -> Result<(), ApiError> {
        if total == 0 { Ok(()) } else { Err(self.into_error(state)) }
    }

    /// Returns the error of the charge that is refused.
    pub fn into_error(self, state: &ApiState) -> ApiError {
        let at = self.at;
        self.refuse(state).exceeded(at)
    }
}

impl Balance {
    /// Returns the error of a call that is over the quota.
    pub fn exceeded(&self, at: Timestamp) -> ApiError {
        ApiError::quota_exceeded(self.limit, self.used, self.budget.month.end(), at)
    }
}

impl Principal {
    /// Returns that its key is used up, if it is.
    pub fn used_up(&self, state: &ApiState) -> Option<UsedUp> {
        let at = state.now();
        let balance = self.balance(state, at).filter(Balance::is_used_up)?;
        Some(UsedUp { balance, at })
    }

    /// Charges a call that is about to be answered; returns `None` if the caller is not metered.
    pub async fn charge(
        &self,
        state: &ApiState,
        surface: Surface,
        operation: &'static str,
        deadline: Deadline,
    ) -> Option<Charged> {
        let (Principal::ApiKey(key), Access::Keys(access)) = (self, state.access()) else { return None };
        let at = state.now();
        let mut balance = access.balance(state.models(), key, at);
        let id = CallId(call_id(at));
        let call = Call {
            id,
            key_id: key.key_id,
            tier: key.tier.as_ref().clone(),
            month: balance.budget.month,
            time: at,
            surface,
            operation: operation.to_owned(),
        };
        let outcome = if balance.is_used_up() {
            // NATS would refuse it too.
            Outcome::Exceeded
        } else {
            let (budget, models) = (&balance.budget, state.models());
            let counted = || counted(models, budget);
            access.meter.count(budget, &call, balance.limit, counted, deadline.instant()).await
        };
        match outcome {
            Outcome::Counted { used } => balance.used = used,
            Outcome::Exceeded => balance.used = balance.used.max(balance.limit),
            Outcome::Unavailable(_) => {}
        }
        state.metrics().record_charge(&outcome);
        let allowance = Allowance::of(&balance, access.rate_limits.per_key());
        Some(Charged { id, balance, allowance, at, outcome })
    }
}

/// Returns an id that is ordered by time, so that the ledger's index grows at its end.
fn call_id(now: Timestamp) -> Uuid {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(ContextV7::new(), seconds, nanoseconds))
}
