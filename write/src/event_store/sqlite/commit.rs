//! One batch of appends as one transaction: a few statements however many there are, and one commit.

use std::collections::HashMap;

use schemas::ids::{CommandId, Position, StreamId, StreamVersion};
use sqlx::{Connection, QueryBuilder, Sqlite, SqliteConnection};

use super::admission::{Known, Place, Prepared};
use super::rows::{self, failure};
use crate::event_store::{AppendError, Appended, Claim, Head, StoreError};

/// How many rows one statement inserts; SQLite takes 32,766 values, a row of events has 11.
const ROWS: usize = 500;

/// What became of each append of a committed batch, in its order, and where the log ends now.
pub(super) struct Committed {
    pub(super) outcomes: Vec<Result<Appended, AppendError>>,
    pub(super) head: Head,
}

/// Why a batch was not committed. Nothing of it was written, unless the commit itself failed.
pub(super) enum Failure {
    /// The rows break a rule of the tables, so at least one append of the batch is wrong.
    Rule(String),
    /// The connection cannot be trusted any more.
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Failure {
        match &error {
            sqlx::Error::Database(database) if database.is_unique_violation() => {
                Failure::Rule(database.message().to_owned())
            }
            _ => Failure::Store(failure(error)),
        }
    }
}

/// Writes a batch behind `head`; appends that cannot be taken are answered so and do not hinder the others.
pub(super) async fn commit(
    writer: &mut SqliteConnection,
    head: Head,
    batch: &[Prepared],
) -> Result<Committed, Failure> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    let mut known = known(&mut transaction, batch).await?;
    if known.head != head {
        return Err(StoreError::unavailable("another program wrote to its file; it is checked anew").into());
    }
    let (mut outcomes, mut taken) = (Vec::with_capacity(batch.len()), Vec::new());
    for prepared in batch {
        outcomes.push(known.admit(prepared).map(|(appended, places)| {
            taken.push((prepared, places));
            appended
        }));
    }
    if !taken.is_empty() {
        insert_events(&mut transaction, &taken).await?;
        insert_claims(&mut transaction, &taken).await?;
        advance(&mut transaction, known.head).await?;
    }
    transaction.commit().await?;
    Ok(Committed { outcomes, head: known.head })
}

async fn known(writer: &mut SqliteConnection, batch: &[Prepared]) -> Result<Known, Failure> {
    let (_, head) = rows::log(&mut *writer).await?;
    let streams: Vec<&str> = batch.iter().map(|prepared| prepared.append.stream.as_str()).collect();
    let versions: Vec<(String, i64)> = sqlx::query_as(
        "SELECT value, coalesce((SELECT max(version) FROM events WHERE stream = value), 0) FROM json_each(?1)",
    )
    .bind(rows::json(&streams)?)
    .fetch_all(&mut *writer)
    .await?;
    let versions = versions
        .into_iter()
        .map(|(stream, version)| Ok((rows::stream(stream)?, StreamVersion(version.cast_unsigned()))));
    Ok(Known {
        head,
        versions: versions.collect::<Result<_, StoreError>>()?,
        holders: holders(writer, batch).await?,
        done: done(writer, batch).await?,
    })
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

async fn insert_events(
    writer: &mut SqliteConnection,
    taken: &[(&Prepared, Vec<Place>)],
) -> Result<(), Failure> {
    let rows: Vec<_> = taken
        .iter()
        .flat_map(|(prepared, places)| {
            places.iter().zip(&prepared.payloads).map(move |(place, payload)| (*prepared, place, payload))
        })
        .collect();
    for rows in rows.chunks(ROWS) {
        let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new(
            "INSERT INTO events \
             (position, id, stream, version, kind, time, actor, causation, correlation, hash, data) ",
        );
        insert.push_values(rows, |mut row, (prepared, place, payload)| {
            let append = &prepared.append;
            row.push_bind(rows::integer(place.position.0))
                .push_bind(payload.id.0.as_bytes().as_slice())
                .push_bind(append.stream.as_str())
                .push_bind(rows::integer(place.version.0))
                .push_bind(payload.kind)
                .push_bind(prepared.nanoseconds)
                .push_bind(append.actor.as_str())
                .push_bind(append.command.0.as_bytes().as_slice())
                .push_bind(append.correlation.0.as_bytes().as_slice())
                .push_bind(place.hash.0.as_slice())
                .push_bind(payload.data.get());
        });
        insert.build().persistent(false).execute(&mut *writer).await?;
    }
    Ok(())
}

async fn insert_claims(
    writer: &mut SqliteConnection,
    taken: &[(&Prepared, Vec<Place>)],
) -> Result<(), Failure> {
    let claims: Vec<_> = taken
        .iter()
        .flat_map(|(prepared, _)| prepared.append.claims.iter().map(|claim| (claim, &prepared.append.stream)))
        .collect();
    for claims in claims.chunks(ROWS) {
        // A name that is claimed again is held by the same stream: the batch was admitted.
        let mut insert: QueryBuilder<Sqlite> =
            QueryBuilder::new("INSERT OR IGNORE INTO claims (namespace, name, stream) ");
        insert.push_values(claims, |mut row, (claim, stream)| {
            row.push_bind(claim.namespace.as_str()).push_bind(claim.name.as_str()).push_bind(stream.as_str());
        });
        insert.build().persistent(false).execute(&mut *writer).await?;
    }
    Ok(())
}

async fn advance(writer: &mut SqliteConnection, head: Head) -> Result<(), Failure> {
    sqlx::query("UPDATE log SET position = ?1, hash = ?2")
        .bind(rows::integer(head.position.0))
        .bind(head.hash.0.as_slice())
        .execute(writer)
        .await?;
    Ok(())
}
