//! Copies a log from one location to another, event by event with id, time and hash; the copy has the store id of the original.

mod source;
mod target;

use schemas::envelope::Recorded;
use schemas::ids::Position;

use super::{Head, LogLocation, StoreError};
use source::Source;
use target::Target;

/// A log that is at both locations now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedLog {
    /// The number of events that the target lacked.
    pub events: u64,
    /// The head of both.
    pub head: Head,
}

/// The reason why a log was not copied, or not completely: what was copied stays, and a retry continues after it.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target has another log.
    #[error("{0}; nothing was changed, name a place without a log, or with the beginning of this one")]
    Different(String),
    /// One of the two could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies the events that the target lacks, and verifies at the end that its whole log is the same. `progress` receives the last
/// copied position and the last position to copy. Nothing may write to either meanwhile: files are locked, and an append of another
/// write side to EventStoreDB is reported as a difference.
///
/// # Errors
///
/// Fails if one of the two cannot be read or written, or the target's log is not the beginning of the source's.
pub async fn copy(
    from: &LogLocation,
    to: &LogLocation,
    mut progress: impl FnMut(Position, Position) + Send,
) -> Result<CopiedLog, CopyError> {
    let mut source = Source::open(from).await?;
    let end = source.head().await?;
    let mut target = Target::open(to, source.store()).await?;
    let begin = target.head();
    check_is_prefix(&mut source, end, begin).await?;
    let mut at = begin.position;
    while at < end.position {
        progress(at, end.position);
        let page = source.read(at).await?;
        if page.events.is_empty() {
            return Err(StoreError::corrupt(format!("it ends at {at}, before {}", end.position)).into());
        }
        at = target.append(&page.events).await?;
    }
    progress(at, end.position);
    let copied = target.verify().await?;
    let reached = source.head().await?;
    if copied != reached {
        return Err(CopyError::Different(format!(
            "the copy ends at {} with the hash {}, the log at {} with {}: another process wrote to one of them meanwhile",
            copied.position, copied.hash, reached.position, reached.hash
        )));
    }
    Ok(CopiedLog { events: end.position.0 - begin.position.0, head: copied })
}

/// Passes each event that the target lacks to `each`, in order, and changes nothing.
///
/// # Errors
///
/// Fails if one of the two cannot be read, or the target's log is not the beginning of the source's.
pub async fn missing(
    from: &LogLocation,
    to: &LogLocation,
    mut each: impl FnMut(&Recorded) + Send,
) -> Result<CopiedLog, CopyError> {
    let mut source = Source::open(from).await?;
    let end = source.head().await?;
    let begin = target::end(to, source.store()).await?;
    check_is_prefix(&mut source, end, begin).await?;
    let mut at = begin.position;
    while at < end.position {
        let page = source.read(at).await?;
        let Some(last) = page.events.last() else {
            return Err(StoreError::corrupt(format!("it ends at {at}, before {}", end.position)).into());
        };
        at = last.event.position;
        page.events.iter().for_each(|one| each(&one.event));
    }
    Ok(CopiedLog { events: end.position.0 - begin.position.0, head: end })
}

/// Checks that the target's log, which ends at `begin`, is the beginning of the source's.
async fn check_is_prefix(source: &mut Source, end: Head, begin: Head) -> Result<(), CopyError> {
    if begin.position > end.position {
        let reason = format!(
            "there are events up to {} already, and this log ends at {}",
            begin.position, end.position
        );
        return Err(CopyError::Different(reason));
    }
    if begin.position == Position::START || source.hash_at(begin.position).await? == Some(begin.hash) {
        return Ok(());
    }
    let reason = format!("there is another event at {} already, or before it", begin.position);
    Err(CopyError::Different(reason))
}
