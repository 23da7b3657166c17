//! Commits to a replica: events of other write sides are read first, and whether the backend appended a batch that it did not
//! acknowledge is found out by reading it.

use ::sqlite::integer;
use schemas::ids::{EventId, Position};
use sqlx::SqliteConnection;
use tokio::time::Instant;

use super::Writer;
use crate::sqlite::admission::PreparedAppend;
use crate::sqlite::backend::{Backend, BackendReadError};
use crate::sqlite::commit::Committed;
use crate::sqlite::commit_error::CommitError;
use crate::sqlite::replay::replay;
use crate::sqlite::rows;
use crate::{AppendError, StoreError};

impl<B: Backend> Writer<B> {
    /// Commits a batch; an error is certain, unless it is [`CommitError::Unknown`].
    pub(super) async fn commit(&mut self, batch: &[PreparedAppend]) -> Result<Committed, CommitError> {
        let until = Instant::now() + B::RETRY_FOR;
        // Whether the file has all that the backend had when the batch came, and whether the backend may have the batch.
        let (mut caught_up, mut sent) = (!B::REMOTE, false);
        loop {
            let before = self.head;
            match self.attempt(batch).await {
                Ok(committed) if caught_up || committed.head != before || !conflicts(&committed) => {
                    return if sent { self.recognise_own(batch, committed).await } else { Ok(committed) };
                }
                // Nothing was appended, so the backend has not confirmed yet that the file is up to date.
                Ok(_) => {}
                Err(CommitError::ReplicaLags) if Instant::now() < until => {}
                Err(CommitError::Unknown(error)) if !sent || Instant::now() < until => {
                    sent = true;
                    tracing::warn!(%error, "the event store did not answer; whether it has the append is looked up");
                }
                Err(error) => return Err(error),
            }
            self.catch_up_until(until).await?;
            caught_up = true;
        }
    }

    /// Reads what other write sides appended, and reports whether that succeeded.
    pub(super) async fn poll_backend(&mut self) -> Result<(), StoreError> {
        let outcome = self.catch_up().await;
        self.backend.report(outcome.as_ref().err());
        outcome.map_err(StoreError::from)
    }

    /// Reads all events of the backend that the file lacks.
    pub(in crate::sqlite) async fn catch_up(&mut self) -> Result<(), BackendReadError> {
        loop {
            let page = self.backend.read(self.head).await?;
            if !page.events.is_empty() {
                let mut connection = self.connected().await?;
                self.head = replay(&mut connection, self.head, &page.events).await?;
                self.connection = Some(connection);
            }
            if !page.more {
                return Ok(());
            }
        }
    }

    async fn catch_up_until(&mut self, until: Instant) -> Result<(), StoreError> {
        loop {
            match self.catch_up().await {
                Err(BackendReadError::Store(StoreError::Unavailable(_))) if Instant::now() < until => {
                    self.backend.back_off().await;
                }
                outcome => return outcome.map_err(StoreError::from),
            }
        }
    }

    /// Turns repeated appends into successful ones if the events found are the very ones that were sent just now.
    async fn recognise_own(
        &mut self,
        batch: &[PreparedAppend],
        mut committed: Committed,
    ) -> Result<Committed, CommitError> {
        let mut connection = self.connected().await?;
        for (prepared, outcome) in batch.iter().zip(&mut committed.outcomes) {
            if let Err(AppendError::Repeated(done)) = outcome
                && let Some(first) = prepared.payloads.first()
                && id_at(&mut connection, done.first).await? == first.id
            {
                *outcome = Ok(*done);
            }
        }
        self.connection = Some(connection);
        Ok(committed)
    }
}

fn conflicts(committed: &Committed) -> bool {
    committed.outcomes.iter().any(|outcome| matches!(outcome, Err(AppendError::Conflict(_))))
}

async fn id_at(connection: &mut SqliteConnection, position: Position) -> Result<EventId, StoreError> {
    let id: Vec<u8> = sqlx::query_scalar("SELECT id FROM events WHERE position = ?1")
        .bind(integer(position.0))
        .fetch_one(connection)
        .await?;
    rows::uuid(&id).map(EventId)
}
