//! Events of another log, written as they are there once each is proven to stand in its place.

use std::collections::HashMap;

use schemas::chain::Link;
use schemas::ids::{StreamId, StreamVersion};
use sqlx::{Connection, SqliteConnection};

use super::backend::{Entry, Replicated};
use super::commit::versions;
use super::failure::Failure;
use super::insert;
use crate::{Head, StoreError};

/// Writes events behind `head` in one transaction, and says where the log ends then. Nothing is written unless every
/// position, version and hash follows from what is there.
pub(crate) async fn replay(
    writer: &mut SqliteConnection,
    head: Head,
    events: &[Replicated],
) -> Result<Head, StoreError> {
    let written = async {
        let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
        let streams: Vec<&str> = events.iter().map(|one| one.event.stream.as_str()).collect();
        let mut ends = versions(&mut transaction, &streams).await?;
        let head = follow(head, events, &mut ends)?;
        let entries: Vec<Entry<'_>> = events.iter().map(Entry::from).collect();
        insert::entries(&mut transaction, &entries).await?;
        insert::advance(&mut transaction, head).await?;
        transaction.commit().await?;
        Ok(head)
    };
    written.await.map_err(|failure| match failure {
        Failure::Store(error) | Failure::Unknown(error) => error,
        Failure::Rule(rule) => StoreError::corrupt(format!("an event stands there twice: {rule}")),
        Failure::Behind => StoreError::unavailable("the log moved while it was read; try again"),
    })
}

/// Where a log ends whose end was `head` and that these events were appended to; `ends` are the versions of their
/// streams before and after.
pub(crate) fn follow(
    mut head: Head,
    events: &[Replicated],
    ends: &mut HashMap<StreamId, StreamVersion>,
) -> Result<Head, StoreError> {
    for Replicated { event, .. } in events {
        let position = head.position.next();
        let wrong = |what: &str| StoreError::corrupt(format!("{what} (position {position})"));
        if event.position != position {
            return Err(wrong(&format!("the event says that it stands at {}", event.position)));
        }
        let version = ends.entry(event.stream.clone()).or_default();
        *version = version.next();
        if event.version != *version {
            return Err(wrong(&format!("the versions of the stream {} have a hole", event.stream)));
        }
        if Link::from(event).hash_after(head.hash) != event.hash {
            return Err(wrong("the event is not what its hash was made of"));
        }
        head = Head { position, hash: event.hash };
    }
    Ok(head)
}
