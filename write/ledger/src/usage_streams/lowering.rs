//! How a quota is lowered without losing a counted call.
//!
//! Measured on nats-server 2.15.1: with discard new per subject, lowering the limit of messages a subject from 10 to 5
//! deletes the oldest 5 of a subject that holds 10, at once, and goes on refusing new ones there (10077). What is
//! deleted may not be copied yet, and raising the limit again would open the quota anew. So the limit is lowered only
//! when no subject holds more than the new one. That is counted while the stream takes no message at all, so that none
//! slips in between; until then the stream keeps its limit, and the nodes refuse by what they have counted.

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, Stream};
use futures::TryStreamExt;

use super::{UsageStreamError, update};

/// The longest message, in bytes, of a stream that is halted: every call has more. Calls that come in meanwhile fail as
/// if NATS were away, and are sent again.
pub(super) const HALTED: i32 = 1;

/// Whether a stream is halted, or was left so by a process that was killed.
pub(super) fn is_halted(config: &Config) -> bool {
    config.max_message_size == HALTED
}

/// Lowers the limit of messages a subject, if nothing is deleted by it; else it stays, and that is told.
pub(super) async fn lower(jetstream: &Context, stream: &Stream, limit: i64) -> Result<(), UsageStreamError> {
    let config = stream.cached_info().config.clone();
    let going = Config { max_message_size: -1, ..config.clone() };
    // Looked at before, so that the stream is not halted in vain.
    let before = fullest(stream).await?;
    if before > limit {
        stays(&going, limit, before);
        return if is_halted(&config) { update(jetstream, &going).await } else { Ok(()) };
    }
    update(jetstream, &Config { max_message_size: HALTED, ..config }).await?;
    match fullest(stream).await {
        Ok(most) if most <= limit => {
            update(jetstream, &Config { max_messages_per_subject: limit, ..going }).await
        }
        Ok(most) => {
            stays(&going, limit, most);
            update(jetstream, &going).await
        }
        Err(error) => {
            update(jetstream, &going).await?;
            Err(error)
        }
    }
}

fn stays(config: &Config, limit: i64, most: i64) {
    tracing::warn!(
        stream = config.name,
        "the quota of {} is lowered to {limit} on NATS once no key has more calls there (one has {most}); until then \
         nodes refuse by their counters. It is tried again at the next start",
        config.max_messages_per_subject
    );
}

/// How many messages the fullest subject holds.
async fn fullest(stream: &Stream) -> Result<i64, UsageStreamError> {
    let mut subjects = stream.info_with_subjects(">").await.map_err(UsageStreamError::nats)?;
    let mut most = 0;
    while let Some((_, count)) = subjects.try_next().await.map_err(UsageStreamError::nats)? {
        most = most.max(i64::try_from(count).unwrap_or(i64::MAX));
    }
    Ok(most)
}
