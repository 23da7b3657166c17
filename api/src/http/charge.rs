//! What a REST call costs, and what becomes of its response once that is settled.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use schemas::usage::Surface;

use crate::auth::access::{Access, Known};
use crate::auth::admission::used_up;
use crate::auth::allowance::Allowance;
use crate::auth::principal::Principal;
use crate::deadline::Deadline;
use crate::error::ApiError;
use crate::http::context::RequestContext;
use crate::http::response::PendingResponse;
use crate::metering::Outcome;
use crate::route::Route;
use crate::state::ApiState;

static CALL_ID: HeaderName = HeaderName::from_static("x-call-id");

/// A response that must be counted before it is sent.
pub(super) struct Charge {
    known: Known,
    operation: &'static str,
}

impl Charge {
    /// What is to be counted for a response, if anything.
    pub(super) fn of(principal: &Principal, route: Route, pending: &PendingResponse) -> Option<Charge> {
        let Principal::ApiKey(known) = principal else { return None };
        let operation = route.operation().filter(|_| pending.status == StatusCode::OK)?;
        Some(Charge { known: known.clone(), operation })
    }

    /// Counts it. The response is another one where it does not count; the allowance is what is left then.
    pub(super) async fn collect(
        self,
        state: &ApiState,
        context: &RequestContext,
        mut pending: PendingResponse,
        deadline: Deadline,
    ) -> (Allowance, PendingResponse) {
        let Access::Keys(access) = state.access() else { return (Allowance::UNLIMITED, pending) };
        let charged = access.charge(state, &self.known, Surface::Rest, self.operation, deadline).await;
        let allowance = Allowance::of(&charged.balance, access);
        let limit = allowance.limit;
        match charged.outcome {
            Outcome::Counted { used } => {
                if let Ok(id) = HeaderValue::try_from(charged.id.to_string()) {
                    pending.headers.insert(&CALL_ID, id);
                }
                (Allowance { remaining: limit.saturating_sub(used), ..allowance }, pending)
            }
            Outcome::Exceeded => {
                let fault = used_up(&charged.balance, charged.at);
                (
                    Allowance { remaining: 0, ..allowance },
                    PendingResponse::problem(fault, HeaderMap::new(), context, state),
                )
            }
            Outcome::Unavailable(reason) => {
                let fault = ApiError::uncountable(reason);
                (allowance, PendingResponse::problem(fault, HeaderMap::new(), context, state))
            }
        }
    }
}
