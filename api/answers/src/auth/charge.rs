//! Charges a call to its key: after the work, so that a failed call does not count, and before the answer, so that a counted call
//! is answered. REST and MCP each report the outcome in their own form.

use jiff::Timestamp;
use metering::Outcome;
use schemas::usage::{Call, CallId, Surface};
use uuid::{ContextV7, Uuid};

use crate::auth::access::{Access, Balance, counted};
use crate::auth::allowance::Allowance;
use crate::auth::principal::Principal;
use crate::deadline::Deadline;
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

impl Principal {
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
        let outcome = if balance.used >= balance.limit {
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
