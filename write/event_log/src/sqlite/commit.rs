//! Commits one batch of appends as one transaction: a few statements, whatever the size of the batch.

use std::collections::HashMap;

use schemas::ids::{CommandId, Position, StreamId, StreamVersion};
use sqlx::{Connection, SqliteConnection};

use super::admission::{BatchState, Placement, PreparedAppend};
use super::backend::{Backend, Entry};
use super::commit_error::CommitError;
use super::insert;
use super::rows;
use crate::{AppendError, Appended, Claim, Head, StoreError};

/// The outcome of each append of a committed batch, in its order, and the new head of the log.
pub(super) struct Committed {
    pub(super) outcomes: Vec<Result<Appended, AppendError>>,
    pub(super) head: Head,
}

/// Writes a batch after `head`, to the backend first if there is one. An append that is refused has its error as outcome and
/// does not affect the others.
pub(super) async fn commit<B: Backend>(
    writer: &mut SqliteConnection,
    head: Head,
    batch: &[PreparedAppend],
    backend: &mut B,
) -> Result<Committed, CommitError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    let mut state = load_state(&mut transaction, batch).await?;
    if state.head != head {
        return Err(StoreError::unavailable("another program wrote to its file; it is checked again").into());
    }
    let mut outcomes = Vec::with_capacity(batch.len());
    let mut admitted: Vec<(&PreparedAppend, Vec<Placement>)> = Vec::new();
    for prepared in batch {
        outcomes.push(state.admit(prepared).map(|(appended, placements)| {
            admitted.push((prepared, placements));
            appended
        }));
    }
    if !admitted.is_empty() {
        let entries: Vec<Entry<'_>> =
            admitted.iter().flat_map(|(prepared, placements)| prepared.entries(placements)).collect();
        insert::events(&mut transaction, &entries).await?;
        insert::set_head(&mut transaction, state.head).await?;
        backend.append(head, &entries).await?;
    }
    transaction.commit().await.map_err(|error| match CommitError::from(error) {
        // The backend has the batch already, whether or not the file has.
        CommitError::Store(error) if B::REMOTE => CommitError::Unknown(error),
        other => other,
    })?;
    Ok(Committed { outcomes, head: state.head })
}

async fn load_state(
    writer: &mut SqliteConnection,
    batch: &[PreparedAppend],
) -> Result<BatchState, CommitError> {
    let (_, head) = rows::log(&mut *writer).await?;
    let streams: Vec<&str> = batch.iter().map(|prepared| prepared.append.stream.as_str()).collect();
    Ok(BatchState {
        head,
        versions: versions(writer, &streams).await?,
        holders: holders(writer, batch).await?,
        executed: executed(writer, batch).await?,
    })
}

/// Returns the last version of each of these streams; a stream without events is absent.
pub(super) async fn versions(
    writer: &mut SqliteConnection,
    streams: &[&str],
) -> Result<HashMap<StreamId, StreamVersion>, CommitError> {
    let versions: Vec<(String, i64)> = sqlx::query_as(
        "SELECT stream, max(version) FROM events WHERE stream IN (SELECT value FROM json_each(?1)) GROUP BY stream",
    )
    .bind(rows::json(streams)?)
    .fetch_all(&mut *writer)
    .await?;
    let versions = versions
        .into_iter()
        .map(|(stream, version)| Ok((rows::stream(stream)?, StreamVersion(version.cast_unsigned()))));
    Ok(versions.collect::<Result<_, StoreError>>()?)
}

async fn holders(
    writer: &mut SqliteConnection,
    batch: &[PreparedAppend],
) -> Result<HashMap<Claim, StreamId>, CommitError> {
    let claims: Vec<&Claim> = batch.iter().flat_map(|prepared| &prepared.append.claims).collect();
    if claims.is_empty() {
        return Ok(HashMap::new());
    }
    let claimed: Vec<(usize, &str, &str)> = claims
        .iter()
        .enumerate()
        .map(|(index, claim)| (index, claim.namespace.as_str(), claim.name.as_str()))
        .collect();
    let held: Vec<(i64, String)> = sqlx::query_as(
        "SELECT a.value ->> 0, c.stream FROM json_each(?1) a CROSS JOIN claims c \
         ON c.namespace = a.value ->> 1 AND c.name = a.value ->> 2",
    )
    .bind(rows::json(&claimed)?)
    .fetch_all(writer)
    .await?;
    let mut holders = HashMap::new();
    for (index, stream) in held {
        if let Some(claim) = usize::try_from(index).ok().and_then(|index| claims.get(index)) {
            holders.insert((*claim).clone(), rows::stream(stream)?);
        }
    }
    Ok(holders)
}

async fn executed(
    writer: &mut SqliteConnection,
    batch: &[PreparedAppend],
) -> Result<HashMap<(CommandId, StreamId), Appended>, CommitError> {
    let commands: Vec<String> =
        batch.iter().map(|prepared| prepared.append.command.0.simple().to_string()).collect();
    let found: Vec<(Vec<u8>, String, i64, i64, i64)> = sqlx::query_as(
        "SELECT causation, stream, min(position), max(position), max(version) FROM events \
         WHERE causation IN (SELECT unhex(value) FROM json_each(?1)) GROUP BY causation, stream",
    )
    .bind(rows::json(&commands)?)
    .fetch_all(writer)
    .await?;
    let mut executed = HashMap::new();
    for (command, stream, first, last, version) in found {
        let appended = Appended {
            first: Position(first.cast_unsigned()),
            last: Position(last.cast_unsigned()),
            version: StreamVersion(version.cast_unsigned()),
        };
        executed.insert((CommandId(rows::uuid(&command)?), rows::stream(stream)?), appended);
    }
    Ok(executed)
}
