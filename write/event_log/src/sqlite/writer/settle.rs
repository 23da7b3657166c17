//! Committing where the file is a replica: what others appended meanwhile is read first, and whether the log behind it
//! took a batch that it did not answer is settled by looking.

use ::sqlite::integer;
use schemas::ids::{EventId, Position};
use sqlx::SqliteConnection;
use tokio::time::Instant;

use super::Writer;
use crate::sqlite::admission::Prepared;
use crate::sqlite::backend::{Backend, Unread};
use crate::sqlite::commit::Committed;
use crate::sqlite::failure::Failure;
use crate::sqlite::replay::replay;
use crate::sqlite::rows;
use crate::{AppendError, StoreError};

impl<B: Backend> Writer<B> {
    /// Commits a batch, or says why not once that is known.
    pub(super) async fn commit(&mut self, batch: &[Prepared]) -> Result<Committed, Failure> {
        let until = Instant::now() + B::PATIENCE;
        // `sure`: the file has all that was in the log when the batch came. `sent`: the batch may be in the log.
        let (mut sure, mut sent) = (!B::REMOTE, false);
        loop {
            let before = self.head;
            match self.attempt(batch).await {
                Ok(committed) if sure || committed.head != before || !conflicts(&committed) => {
                    return if sent { self.own(batch, committed).await } else { Ok(committed) };
                }
                // Nothing was appended, so nothing showed yet whether the file knows all.
                Ok(_) => {}
                Err(Failure::Behind) if Instant::now() < until => {}
                Err(Failure::Unknown(error)) if !sent || Instant::now() < until => {
                    sent = true;
                    tracing::warn!(%error, "the event store did not answer; what it took is looked up");
                }
                Err(failure) => return Err(failure),
            }
            self.catch_up_until(until).await?;
            sure = true;
        }
    }

    /// Looks for what others appended, and reports whether that succeeded.
    pub(super) async fn look(&mut self) -> Result<(), StoreError> {
        let outcome = self.catch_up().await;
        self.backend.report(outcome.as_ref().err());
        outcome.map_err(StoreError::from)
    }

    /// Reads all that the log behind the file has and the file has not.
    pub(in crate::sqlite) async fn catch_up(&mut self) -> Result<(), Unread> {
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
                Err(Unread::Store(StoreError::Unavailable { .. })) if Instant::now() < until => {
                    self.backend.back_off().await;
                }
                outcome => return outcome.map_err(StoreError::from),
            }
        }
    }

    /// Appends of a batch that are found as done before, by the very events that were sent, were done just now.
    async fn own(&mut self, batch: &[Prepared], mut committed: Committed) -> Result<Committed, Failure> {
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
    committed.outcomes.iter().any(|outcome| matches!(outcome, Err(AppendError::Conflict { .. })))
}

async fn id_at(connection: &mut SqliteConnection, position: Position) -> Result<EventId, StoreError> {
    let id: Vec<u8> = sqlx::query_scalar("SELECT id FROM events WHERE position = ?1")
        .bind(integer(position.0))
        .fetch_one(connection)
        .await?;
    rows::uuid(&id).map(EventId)
}
