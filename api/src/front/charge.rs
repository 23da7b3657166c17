//! Counts a call that is about to be answered: behind the work, so that a failed call does not count, and before the
//! answer, so that a counted call is answered.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use schemas::usage::{Call, CallId, Surface};
use uuid::{ContextV7, Uuid};

use super::Asked;
use super::caller::{Caller, used_up};
use super::outcome::Draft;
use super::rate::Allowance;
use crate::access::{Access, KeyAccess, Known};
use crate::fault::Fault;
use crate::metering::Outcome;
use crate::routes::Route;
use crate::state::ApiState;

static CALL_ID: HeaderName = HeaderName::from_static("x-call-id");

/// A draft that must be counted before it is sent.
pub(super) struct Charge {
    known: Known,
    operation: &'static str,
}

impl Charge {
    /// What is to be counted for a draft, if anything.
    pub(super) fn of(caller: &Caller, route: Route, draft: &Draft) -> Option<Charge> {
        let Caller::Known(known) = caller else { return None };
        let operation = route.operation().filter(|_| draft.status == StatusCode::OK)?;
        Some(Charge { known: known.clone(), operation })
    }

    /// Counts it. The draft is another one where it does not count; the allowance is what is left then.
    pub(super) async fn collect(self, state: &ApiState, asked: &Asked, draft: Draft) -> (Allowance, Draft) {
        let Access::Keys(access) = state.access() else { return (Allowance::UNLIMITED, draft) };
        self.count(access, state, asked, draft).await
    }

    async fn count(
        self,
        access: &KeyAccess,
        state: &ApiState,
        asked: &Asked,
        mut draft: Draft,
    ) -> (Allowance, Draft) {
        let now = state.now();
        let balance = access.balance(state.models(), &self.known, now);
        let call = Call {
            id: CallId(call_id(now)),
            key_id: self.known.key_id,
            tier: self.known.tier.as_ref().clone(),
            month: balance.budget.month,
            time: now,
            surface: Surface::Rest,
            operation: self.operation.to_owned(),
        };
        let outcome = access.meter.count(&balance.budget, &call, balance.limit, balance.counted).await;
        state.metrics().metered(&outcome);
        let limit = balance.limit;
        match outcome {
            Outcome::Counted { used } => {
                if let Ok(id) = HeaderValue::try_from(call.id.to_string()) {
                    draft.headers.insert(&CALL_ID, id);
                }
                (Allowance { limit, remaining: limit.saturating_sub(used) }, draft)
            }
            Outcome::Exceeded => {
                let fault = used_up(&balance, now);
                (
                    Allowance { limit, remaining: 0 },
                    Draft::problem(fault, HeaderMap::new(), asked, state.site()),
                )
            }
            Outcome::Unavailable(reason) => {
                let remaining = limit.saturating_sub(balance.used);
                let fault = Fault::uncountable(reason);
                (Allowance { limit, remaining }, Draft::problem(fault, HeaderMap::new(), asked, state.site()))
            }
        }
    }
}

/// Ordered by time, so that the ledger's index grows at its end.
fn call_id(now: jiff::Timestamp) -> Uuid {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    Uuid::new_v7(uuid::Timestamp::from_unix(ContextV7::new(), seconds, nanoseconds))
}
