//! What a REST call costs, and what becomes of its draft once that is settled.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use schemas::usage::Surface;

use crate::auth::access::{Access, Known};
use crate::auth::admission::{Caller, used_up};
use crate::auth::allowance::Allowance;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::http::context::RequestContext;
use crate::http::response::Draft;
use crate::metering::Outcome;
use crate::route::Route;
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
    pub(super) async fn collect(
        self,
        state: &ApiState,
        context: &RequestContext,
        mut draft: Draft,
        deadline: Deadline,
    ) -> (Allowance, Draft) {
        let Access::Keys(access) = state.access() else { return (Allowance::UNLIMITED, draft) };
        let charged = access.charge(state, &self.known, Surface::Rest, self.operation, deadline).await;
        let allowance = Allowance::of(&charged.balance, access);
        let limit = allowance.limit;
        match charged.outcome {
            Outcome::Counted { used } => {
                if let Ok(id) = HeaderValue::try_from(charged.id.to_string()) {
                    draft.headers.insert(&CALL_ID, id);
                }
                (Allowance { remaining: limit.saturating_sub(used), ..allowance }, draft)
            }
            Outcome::Exceeded => {
                let fault = used_up(&charged.balance, charged.at);
                (
                    Allowance { remaining: 0, ..allowance },
                    Draft::problem(fault, HeaderMap::new(), context, state),
                )
            }
            Outcome::Unavailable(reason) => {
                let fault = ApiError::uncountable(reason);
                (allowance, Draft::problem(fault, HeaderMap::new(), context, state))
            }
        }
    }
}
