//! A log brought from one store into another, event by event with its id, its time and its hash, and the same store's.

mod source;
mod target;

use schemas::envelope::Recorded;
use schemas::ids::Position;

use super::{Head, LogPlace, StoreError};
use source::Source;
use target::Target;

/// A log that stands in both places now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedLog {
    /// How many events were missing in the second.
    pub events: u64,
    /// Where both end.
    pub head: Head,
}

/// Why a log was not brought over, or not whole: what is there stays, and another try goes on behind it.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The two are not the same log.
    #[error("{reason}; nothing was changed, name a place without a log, or with the beginning of this one")]
    Different {
        /// Where they differ.
        reason: String,
    },
    /// A store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Copies what the second place does not have yet, and proves at the end that its whole log is the first's. `progress`
/// is told the last position that stands there, and the one to reach. Nobody may write to either meanwhile: the files
/// are locked, and an append of another write side to EventStoreDB shows as a difference.
pub async fn copy(
    from: &LogPlace,
    to: &LogPlace,
    mut progress: impl FnMut(Position, Position) + Send,
) -> Result<CopiedLog, CopyError> {
    let mut source = Source::open(from).await?;
    let end = source.head().await?;
    let mut target = Target::open(to, source.store()).await?;
    let begin = target.head();
    begins(&mut source, end, begin).await?;
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
    let proven = target.prove().await?;
    let reached = source.head().await?;
    if proven != reached {
        return Err(CopyError::Different {
            reason: format!(
                "the copy ends at {} with the hash {}, the log at {} with {}: somebody wrote to one of them meanwhile",
                proven.position, proven.hash, reached.position, reached.hash
            ),
        });
    }
    Ok(CopiedLog { events: end.position.0 - begin.position.0, head: proven })
}

/// Shows each event that the second place lacks, in their order, and changes nothing.
///
/// # Errors
///
/// Where one of the two cannot be read, or what the second has is not the beginning of the first.
pub async fn missing(
    from: &LogPlace,
    to: &LogPlace,
    mut each: impl FnMut(&Recorded) + Send,
) -> Result<CopiedLog, CopyError> {
    let mut source = Source::open(from).await?;
    let end = source.head().await?;
    let begin = target::end(to, source.store()).await?;
    begins(&mut source, end, begin).await?;
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

/// Whether what the target has is the source's beginning.
async fn begins(source: &mut Source, end: Head, begin: Head) -> Result<(), CopyError> {
    if begin.position > end.position {
        let reason = format!(
            "there are events up to {} already, and this log ends at {}",
            begin.position, end.position
        );
        return Err(CopyError::Different { reason });
    }
    if begin.position == Position::START || source.hash_at(begin.position).await? == Some(begin.hash) {
        return Ok(());
    }
    let reason = format!("there is another event at {} already, or before it", begin.position);
    Err(CopyError::Different { reason })
}
