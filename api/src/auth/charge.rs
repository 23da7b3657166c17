//! Takes a call out of the allowance of its key: behind the work, so that a failed call does not count, and before the
//! answer, so that a counted call is answered.

use jiff::Timestamp;
use schemas::usage::{Call, CallId, Surface};
use uuid::{ContextV7, Uuid};

use crate::auth::access::{Balance, KeyAccess, Known};
use crate::deadline::Deadline;
use crate::metering::Outcome;
use crate::state::ApiState;

/// A call that was to be counted.
pub(crate) struct Charged {
    pub(crate) id: CallId,
    /// As it was before.
    pub(crate) balance: Balance,
    pub(crate) at: Timestamp,
    pub(crate) outcome: Outcome,
}

impl KeyAccess {
    /// Counts a call that is about to be answered.
    pub(crate) async fn charge(
        &self,
        state: &ApiState,
        known: &Known,
        surface: Surface,
        operation: &'static str,
        deadline: Deadline,
    ) -> Charged {
        let at = state.now();
        let balance = self.balance(state.models(), known, at);
        let id = CallId(call_id(at));
        let call = Call {
            id,
            key_id: known.key_id,
            tier: known.tier.as_ref().clone(),
            month: balance.budget.month,
            time: at,
            surface,
            operation: operation.to_owned(),
        };
        let outcome = if balance.used >= balance.limit {
            // NATS would say the same.
            Outcome::Exceeded
        } else {
            let budget = &balance.budget;
            self.meter.count(budget, &call, balance.limit, balance.counted, deadline.instant()).await
        };
        state.metrics().metered(&outcome);
        Charged { id, balance, at, outcome }
    }
}

/// Ordered by time, so that the ledger's index grows at its end.
fn call_id(now: Timestamp) -> Uuid {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(ContextV7::new(), seconds, nanoseconds))
}
