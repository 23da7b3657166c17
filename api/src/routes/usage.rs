//! `GET /v1/usage`: what the presented key has called in the running month. Free of charge.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use read::keys::StoredKey;
use schemas::api::usage::{KeyRecord, UsageAnswer};

use crate::access::{Access, KeyAccess, Known};
use crate::fault::Fault;
use crate::state::ApiState;

/// The counters follow this node's own calls within a fraction of a second; so long is waited for them.
const CATCH_UP: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(10);

pub(crate) async fn usage(
    State(state): State<ApiState>,
    known: Option<Extension<Known>>,
) -> Result<Response, Fault> {
    let (Access::Keys(access), Some(Extension(known))) = (state.access(), known) else {
        // Nobody has a key here.
        return Err(Fault::not_found());
    };
    let answer = answer(&state, access, &known).await?;
    let body = serde_json::to_vec(&answer).map_err(Fault::internal)?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response())
}

/// What a key has called in the running month.
pub(crate) async fn answer(
    state: &ApiState,
    access: &KeyAccess,
    known: &Known,
) -> Result<UsageAnswer, Fault> {
    settle(state, access, known).await;
    let balance = access.balance(state.models(), known, state.now());
    let (counters, keys) = (state.counters()?, state.keys()?);
    let stored = keys.reader.record(known.key_id).await.map_err(Fault::unavailable_because)?;
    let stored = stored.ok_or_else(|| Fault::internal("a key that may call is not in the model"))?;
    let month = balance.budget.month;
    Ok(UsageAnswer {
        key: record(
            stored,
            counters.reader.last_used(known.key_id).await.map_err(Fault::unavailable_because)?,
        ),
        tier: known.tier.as_ref().clone(),
        month,
        limit: balance.limit,
        used: balance.used,
        remaining: balance.limit.saturating_sub(balance.used),
        resets_at: month.end(),
        days: counters.reader.days(known.key_id, month).await.map_err(Fault::unavailable_because)?,
    })
}

/// Waits a moment for the counters, so that the days and the total say the same.
async fn settle(state: &ApiState, access: &KeyAccess, known: &Known) {
    let settled = async {
        loop {
            let balance = access.balance(state.models(), known, state.now());
            if balance.used == balance.counted.used {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    // While NATS is away they cannot follow; then the days are older than the total.
    let _ = tokio::time::timeout(CATCH_UP, settled).await;
}

fn record(stored: StoredKey, last_used_at: Option<jiff::Timestamp>) -> KeyRecord {
    KeyRecord {
        key_id: stored.key_id,
        hint: stored.hint,
        name: stored.name,
        tier: stored.tier,
        created_at: stored.created_at,
        last_used_at,
        revoked_at: stored.revoked_at,
    }
}
