//! What a key has used in the current month, for REST and the usage page.

use std::time::Duration;

use read::keys::StoredKey;
use schemas::api::usage::{KeyRecord, UsageAnswer};
use schemas::key::Key;

use crate::auth::access::{ApiKey, KeyAccess};
use crate::error::ApiError;
use crate::state::ApiState;

/// How long to wait for the counters, which usually have this node's own calls within a fraction of a second.
const CATCH_UP: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(10);

/// Returns what a key has used in the current month. `key` is the key as it was presented, which decrypts its name.
///
/// # Errors
///
/// If the counters or keys cannot be read.
pub async fn answer(
    state: &ApiState,
    access: &KeyAccess,
    api_key: &ApiKey,
    key: Option<&Key>,
) -> Result<UsageAnswer, ApiError> {
    settle(state, access, api_key).await;
    let balance = access.balance(state.models(), api_key, state.now());
    let (counters, keys) = (state.counters()?, state.keys()?);
    let stored = keys.reader.record(api_key.key_id).await.map_err(ApiError::unavailable_because)?;
    let stored = stored.ok_or_else(|| ApiError::internal("a key that may call is not in the model"))?;
    let month = balance.budget.month;
    Ok(UsageAnswer {
        key: record(
            stored,
            key,
            counters.reader.last_used(api_key.key_id).await.map_err(ApiError::unavailable_because)?,
        ),
        tier: api_key.tier.as_ref().clone(),
        month,
        limit: balance.limit,
        used: balance.used,
        remaining: balance.limit.saturating_sub(balance.used),
        resets_at: month.end(),
        days: counters.reader.days(api_key.key_id, month).await.map_err(ApiError::unavailable_because)?,
        ignored_parameters: Vec::new(),
    })
}

/// Waits briefly for the counters, so that the days add up to the total.
async fn settle(state: &ApiState, access: &KeyAccess, key: &ApiKey) {
    let settled = async {
        loop {
            let balance = access.balance(state.models(), key, state.now());
            if balance.used == balance.counted.used {
                return;
            }
            tokio::time::sleep(POLL).await;
        }
    };
    // While NATS is unreachable the counters cannot catch up; then the days are older than the total.
    let _ = tokio::time::timeout(CATCH_UP, settled).await;
}

fn record(stored: StoredKey, key: Option<&Key>, last_used_at: Option<jiff::Timestamp>) -> KeyRecord {
    let sealed = stored.sealed_name.as_ref();
    let opened = key.zip(sealed).and_then(|(key, sealed)| key.open_name(sealed));
    KeyRecord {
        key_id: stored.key_id,
        hint: stored.hint,
        // Events of version 0.1 have the name in the clear.
        name: opened.or(stored.name),
        tier: stored.tier,
        created_at: stored.created_at,
        last_used_at,
        revoked_at: stored.revoked_at,
    }
}
