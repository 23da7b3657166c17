//! Visibility: the time from the reply to an edit until a search finds it, and what an edit with nothing else around it costs. And
//! the time until it has vectors.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use event_log::EventLog;
use schemas::command::{Command, CommandReply};
use schemas::event::Event;
use schemas::ids::Position;
use schemas::picture::DRAWN;
use schemas::slug::Slug;
use schemas::versioned::Decoded;
use serde_json::{Map, Value, json};

use crate::Figure;
use crate::load::Connection;
use crate::searching::median;
use crate::server::{Server, usage};

/// Edits that follow each other, whose visibility is measured.
const EDITS: usize = 31;
/// Edits whose cost is measured, and the time before and after each.
const SPACED: usize = 7;
const SPACE: Duration = Duration::from_secs(2);
/// Edits of projects with a picture, whose vectors are waited for.
const WITH_VECTORS: usize = 20;
/// The number of events that are read at once.
const PAGE: usize = 20;
/// How long an edit may take until it is found or has vectors.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Edits one project after the other, with what sends a command to the write side of the server as the actor for whom pictures are drawn.
///
/// # Errors
///
/// If an edit is not made, or is not found within 30 seconds.
pub async fn measure(
    server: &Server,
    send: impl AsyncFn(Command) -> Result<CommandReply>,
) -> Result<Vec<Figure>> {
    let mut connection = Connection::open(&server.address).await?;
    let (mut took, mut cpu, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let mut records = demo::catalog(demo::DEMO_SEED, EDITS + SPACED).enumerate();
    for (index, record) in records.by_ref().take(EDITS) {
        let word = format!("zqvisible{index}");
        edit(&send, &record, &word).await?;
        took.push(until_found(&mut connection, &word).await?);
    }
    for (index, record) in records {
        let word = format!("zqvisible{index}");
        // Merges of segments that edits before it have led to are not part of its cost.
        tokio::time::sleep(SPACE).await;
        let before = usage(server.pid()?)?;
        edit(&send, &record, &word).await?;
        tokio::time::sleep(SPACE).await;
        let after = usage(server.pid()?)?;
        until_found(&mut connection, &word).await?;
        cpu.push((after.cpu - before.cpu) * 1e3);
        written.push((after.written - before.written) as f64 / 1e6);
    }
    let longest = took.iter().copied().fold(0.0, f64::max);
    Ok(vec![
        Figure::new("an edit is found after (median)", median(took), "ms").at_most(300.0),
        Figure::new("an edit is found after (longest)", longest, "ms").at_most(500.0),
        Figure::new("CPU of an edit with none around it", median(cpu), "ms").at_most(20.0),
        Figure::new("written to disk by such an edit", median(written), "MB").at_most(1.0),
    ])
}

/// Measures how soon projects with a picture have new vectors after an edit. `store` is the folder of the event store of the write side
/// that `send` sends to.
///
/// # Errors
///
/// If the event store cannot be read, an edit is not made, or it has no vectors within 30 seconds.
pub async fn measure_vectors(
    store: &Path,
    send: impl AsyncFn(Command) -> Result<CommandReply>,
) -> Result<Vec<Figure>> {
    let log = EventLog::open_read_only(store).await?;
    let mut took = Vec::new();
    for (index, record) in demo::catalog(demo::DEMO_SEED, WITH_VECTORS).enumerate() {
        let source = format!("{DRAWN}bench-{index}.jpg");
        let position = revise(&send, &record, ("pictures", json!([{"source": source}]))).await?;
        wait_for_vectors(&log, position, true).await?;
        let position = edit(&send, &record, &format!("zqvectors{index}")).await?;
        let began = Instant::now();
        wait_for_vectors(&log, position, false).await?;
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    log.close().await;
    let longest = took.iter().copied().fold(0.0, f64::max);
    Ok(vec![
        Figure::new("an edit has its vectors after (median)", median(took), "ms").at_most(300.0),
        Figure::new("an edit has its vectors after (longest)", longest, "ms").at_most(500.0),
    ])
}

/// Waits until vectors are recorded after a position, with one of the picture if `is_visual`. Nothing else is edited meanwhile, so
/// they are those of the last edit.
async fn wait_for_vectors(log: &EventLog, mut position: Position, is_visual: bool) -> Result<()> {
    let began = Instant::now();
    while began.elapsed() < TIMEOUT {
        for recorded in log.read_all(position, PAGE).await? {
            position = recorded.position;
            if let Decoded::Known(event) = recorded.decode()?
                && let Event::VectorsRecorded(vectors) = *event
                && (vectors.visual().is_some() || !is_visual)
            {
                return Ok(());
            }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    bail!("an edit had no vectors within {TIMEOUT:?}")
}

/// Adds a word to the introduction of a project of the demo catalog.
async fn edit(
    send: &impl AsyncFn(Command) -> Result<CommandReply>,
    record: &Map<String, Value>,
    word: &str,
) -> Result<Position> {
    revise(send, record, ("intro", json!(format!("A new word: {word}.")))).await
}

/// Revises a member of a project of the demo catalog. Returns the position of the event.
async fn revise(
    send: &impl AsyncFn(Command) -> Result<CommandReply>,
    record: &Map<String, Value>,
    (member, value): (&str, Value),
) -> Result<Position> {
    let name = record["name"].as_str().context("a demo record has a name")?;
    let slug = record.get("slug").and_then(|slug| slug.as_str().map(str::to_owned));
    let slug = slug.or_else(|| Slug::from_name(name).map(String::from)).unwrap_or_default();
    let changes = Map::from_iter([(member.to_owned(), value)]);
    let command = Command::Revise { slug: slug.parse()?, changes };
    match send(command).await? {
        CommandReply::Project(done) if done.changed => Ok(done.position),
        other => bail!("the edit of {slug} was not made: {other:?}"),
    }
}

async fn until_found(connection: &mut Connection, word: &str) -> Result<f64> {
    let answered = Instant::now();
    while answered.elapsed() < TIMEOUT {
        let answer = connection.get(&format!("/v1/search?q={word}")).await?;
        let body: Value = serde_json::from_slice(&answer.body)?;
        // Similar words of earlier edits match as typing errors, so the first result must be the edit itself.
        if body["results"][0]["intro"].as_str().is_some_and(|intro| intro.ends_with(&format!(" {word}."))) {
            return Ok(answered.elapsed().as_secs_f64() * 1e3);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    bail!("the edit with the word {word} was not found within {TIMEOUT:?}")
}
