//! Writes events of another log to this one, after checking that each is the next and has the right hash.

use std::collections::HashMap;

use schemas::chain::Link;
use schemas::ids::{StreamId, StreamVersion};
use sqlx::{Connection, SqliteConnection};

use super::backend::{Entry, ReplicatedEvent};
use super::commit::versions;
use super::commit_error::CommitError;
use super::insert;
use crate::{Head, StoreError};

/// Writes the events after `head` in one transaction and returns the new head. Nothing is written unless every position,
/// version and hash follows from the events before it.
pub(crate) async fn replay(
    writer: &mut SqliteConnection,
    head: Head,
    events: &[ReplicatedEvent],
) -> Result<Head, StoreError> {
    let written = async {
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let streams: Vec<&str> = events.iter().map(|one| one.event.stream.as_str()).collect();
        let mut ends = versions(&mut transaction, &streams).await?;
        let head = head_after(head, events, &mut ends)?;
        let entries: Vec<Entry<'_>> = events.iter().map(Entry::from).collect();
        insert::events(&mut transaction, &entries).await?;
        insert::set_head(&mut transaction, head).await?;
        transaction.commit().await?;
        Ok(head)
    };
    written.await.map_err(|error| match error {
        CommitError::Store(error) | CommitError::Unknown(error) => error,
        CommitError::Constraint(reason) => {
            StoreError::corrupt(format!("an event is recorded twice: {reason}"))
        }
        CommitError::ReplicaLags => StoreError::unavailable("the log changed while it was read; try again"),
    })
}

/// Checks that these events follow `head` and returns the head after them; `ends` are the versions of their streams, which
/// it updates.
pub(crate) fn head_after(
    mut head: Head,
    events: &[ReplicatedEvent],
    ends: &mut HashMap<StreamId, StreamVersion>,
) -> Result<Head, StoreError> {
    for ReplicatedEvent { event, .. } in events {
        let position = head.position.next();
        let wrong = |what: &str| StoreError::corrupt(format!("{what} (position {position})"));
        if event.position != position {
            return Err(wrong(&format!("the event has position {}", event.position)));
        }
        let version = ends.entry(event.stream.clone()).or_default();
        *version = version.next();
        if event.version != *version {
            return Err(wrong(&format!("the versions of the stream {} have a gap", event.stream)));
        }
        if Link::from(event).hash_after(head.hash) != event.hash {
            return Err(wrong("the event does not match its hash"));
        }
        head = Head { position, hash: event.hash };
    }
    Ok(head)
}
