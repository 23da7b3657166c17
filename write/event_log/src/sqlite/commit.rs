//! One batch of appends as one transaction: a few statements however many there are, and one commit.

use std::collections::HashMap;

use schemas::ids::{CommandId, Position, StreamId, StreamVersion};
use sqlx::{Connection, SqliteConnection};

use super::admission::{Known, Place, Prepared};
use super::backend::{Backend, Entry};
use super::failure::Failure;
use super::insert;
use super::rows;
use crate::{AppendError, Appended, Claim, Head, StoreError};

/// What became of each append of a committed batch, in its order, and where the log ends now.
pub(super) struct Committed {
    pub(super) outcomes: Vec<Result<Appended, AppendError>>,
    pub(super) head: Head,
}

/// Writes a batch behind `head`, into the log behind the file first if there is one; appends that cannot be taken are
/// answered so and do not hinder the others.
pub(super) async fn commit<B: Backend>(
    writer: &mut SqliteConnection,
    head: Head,
    batch: &[Prepared],
    backend: &mut B,
) -> Result<Committed, Failure> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    let mut known = known(&mut transaction, batch).await?;
    if known.head != head {
        return Err(StoreError::unavailable("another program wrote to its file; it is checked anew").into());
    }
    let (mut outcomes, mut taken) = (Vec::with_capacity(batch.len()), Vec::<(&Prepared, Vec<Place>)>::new());
    for prepared in batch {
        outcomes.push(known.admit(prepared).map(|(appended, places)| {
            taken.push((prepared, places));
            appended
        }));
    }
    if !taken.is_empty() {
        let entries: Vec<Entry<'_>> =
            taken.iter().flat_map(|(prepared, places)| prepared.entries(places)).collect();
        insert::entries(&mut transaction, &entries).await?;
        insert::advance(&mut transaction, known.head).await?;
        backend.append(head, &entries).await?;
    }
    transaction.commit().await.map_err(|error| match Failure::from(error) {
        // What the log behind the file took stands, whatever became of the file.
        Failure::Store(error) if B::REMOTE => Failure::Unknown(error),
        failure => failure,
    })?;
    Ok(Committed { outcomes, head: known.head })
}

async fn known(writer: &mut SqliteConnection, batch: &[Prepared]) -> Result<Known, Failure> {
    let (_, head) = rows::log(&mut *writer).await?;
    let streams: Vec<&str> = batch.iter().map(|prepared| prepared.append.stream.as_str()).collect();
    Ok(Known {
        head,
        versions: versions(writer, &streams).await?,
        holders: holders(writer, batch).await?,
        done: done(writer, batch).await?,
    })
}

/// The last version of each of these streams that is there.
pub(super) async fn versions(
    writer: &mut SqliteConnection,
    streams: &[&str],
) -> Result<HashMap<StreamId, StreamVersion>, Failure> {
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
    batch: &[Prepared],
) -> Result<HashMap<Claim, StreamId>, Failure> {
    let claims: Vec<&Claim> = batch.iter().flat_map(|prepared| &prepared.append.claims).collect();
    if claims.is_empty() {
        return Ok(HashMap::new());
    }
    let asked: Vec<(usize, &str, &str)> = claims
        .iter()
        .enumerate()
        .map(|(index, claim)| (index, claim.namespace.as_str(), claim.name.as_str()))
        .collect();
    let held: Vec<(i64, String)> = sqlx::query_as(
        "SELECT a.value ->> 0, c.stream FROM json_each(?1) a CROSS JOIN claims c \
         ON c.namespace = a.value ->> 1 AND c.name = a.value ->> 2",
    )
    .bind(rows::json(&asked)?)
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

async fn done(
    writer: &mut SqliteConnection,
    batch: &[Prepared],
) -> Result<HashMap<(CommandId, StreamId), Appended>, Failure> {
    let commands: Vec<String> =
        batch.iter().map(|prepared| prepared.append.command.0.simple().to_string()).collect();
    let found: Vec<(Vec<u8>, String, i64, i64, i64)> = sqlx::query_as(
        "SELECT causation, stream, min(position), max(position), max(version) FROM events \
         WHERE causation IN (SELECT unhex(value) FROM json_each(?1)) GROUP BY causation, stream",
    )
    .bind(rows::json(&commands)?)
    .fetch_all(writer)
    .await?;
    let mut done = HashMap::new();
    for (command, stream, first, last, version) in found {
        let appended = Appended {
            first: Position(first.cast_unsigned()),
            last: Position(last.cast_unsigned()),
            version: StreamVersion(version.cast_unsigned()),
        };
        done.insert((CommandId(rows::uuid(&command)?), rows::stream(stream)?), appended);
    }
    Ok(done)
}
