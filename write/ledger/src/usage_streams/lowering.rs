//! Lowers a quota without losing a counted call.
//!
//! Measured on nats-server 2.15.1: with discard new per subject, lowering the limit of messages per subject from 10 to
//! 5 deletes the oldest 5 of a subject that has 10, at once, and the stream keeps refusing new ones there (10077). What is deleted
//! may not be copied yet, and raising the limit again would open the quota again. So the limit is lowered only when no subject has
//! more than the new one. That is counted while the stream accepts no message at all, so that none is added in between; until then
//! the stream keeps its limit, and the nodes refuse by what they have counted.

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, Stream};
use futures::TryStreamExt;

use super::{UsageStreamError, update};

/// The maximum message size of a halted stream, in bytes: every call is larger. Calls that are published meanwhile fail as if NATS
/// were unreachable, and are published again.
pub(super) const HALTED: i32 = 1;

/// Returns whether a stream is halted, possibly by a process that was killed.
pub(super) fn is_halted(config: &Config) -> bool {
    config.max_message_size == HALTED
}

/// Lowers the limit of messages per subject if that deletes nothing; otherwise logs that it is unchanged.
pub(super) async fn lower(jetstream: &Context, stream: &Stream, limit: i64) -> Result<(), UsageStreamError> {
    let config = stream.cached_info().config.clone();
    let accepting = Config { max_message_size: -1, ..config.clone() };
    // Counted before as well, so that the stream is not halted in vain.
    let before = largest_subject(stream).await?;
    if before > limit {
        warn_unchanged(&accepting, limit, before);
        return if is_halted(&config) { update(jetstream, &accepting).await } else { Ok(()) };
    }
    update(jetstream, &Config { max_message_size: HALTED, ..config }).await?;
    match largest_subject(stream).await {
        Ok(most) if most <= limit => {
            update(jetstream, &Config { max_messages_per_subject: limit, ..accepting }).await
        }
        Ok(most) => {
            warn_unchanged(&accepting, limit, most);
            update(jetstream, &accepting).await
        }
        Err(error) => {
            update(jetstream, &accepting).await?;
            Err(error)
        }
    }
}

fn warn_unchanged(config: &Config, limit: i64, most: i64) {
    tracing::warn!(
        stream = config.name,
        "the quota of {} is lowered to {limit} on NATS once no key has more calls there (one has {most}); until then \
         nodes refuse by their counters. It is tried again at the next start",
        config.max_messages_per_subject
    );
}

async fn largest_subject(stream: &Stream) -> Result<i64, UsageStreamError> {
    let mut subjects = stream.info_with_subjects(">").await.map_err(UsageStreamError::nats)?;
    let mut most = 0;
    while let Some((_, count)) = subjects.try_next().await.map_err(UsageStreamError::nats)? {
        most = most.max(i64::try_from(count).unwrap_or(i64::MAX));
    }
    Ok(most)
}
