//! Visibility: the time from the reply to an edit until a search finds it, and what an edit with nothing else around it costs.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bench::Figure;
use bench::load::Connection;
use bench::searching::median;
use bench::server::{Server, usage};
use schemas::command::{Command, CommandReply};
use schemas::slug::Slug;
use serde_json::{Map, Value, json};

use crate::session::Session;

/// Edits that follow each other, whose visibility is measured.
const EDITS: usize = 31;
/// Edits whose cost is measured, and the time before and after each.
const SPACED: usize = 7;
const SPACE: Duration = Duration::from_secs(2);
/// How long an edit may take until it is found.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Edits one project after the other through the running write side.
pub async fn measure(server: &Server) -> Result<Vec<Figure>> {
    let session = Session::of_folder(&server.data()).await?;
    let mut connection = Connection::open(&server.address).await?;
    let (mut took, mut cpu, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let mut records = demo::catalog(demo::DEMO_SEED, EDITS + SPACED).enumerate();
    for (index, record) in records.by_ref().take(EDITS) {
        let word = format!("zqvisible{index}");
        edit(&session, &record, &word).await?;
        took.push(until_found(&mut connection, &word).await?);
    }
    for (index, record) in records {
        let word = format!("zqvisible{index}");
        // Merges of segments that edits before it have led to are not part of its cost.
        tokio::time::sleep(SPACE).await;
        let before = usage(server.pid()?)?;
        edit(&session, &record, &word).await?;
        tokio::time::sleep(SPACE).await;
        let after = usage(server.pid()?)?;
        until_found(&mut connection, &word).await?;
        cpu.push((after.cpu - before.cpu) * 1e3);
        written.push((after.written - before.written) as f64 / 1e6);
    }
    session.close().await;
    let longest = took.iter().copied().fold(0.0, f64::max);
    Ok(vec![
        Figure::new("an edit is found after (median)", median(took), "ms").at_most(300.0),
        Figure::new("an edit is found after (longest)", longest, "ms").at_most(500.0),
        Figure::new("CPU of an edit with none around it", median(cpu), "ms").at_most(20.0),
        Figure::new("written to disk by such an edit", median(written), "MB").at_most(1.0),
    ])
}

/// Adds a word to the introduction of a project of the demo catalog.
async fn edit(session: &Session, record: &Map<String, Value>, word: &str) -> Result<()> {
    let name = record["name"].as_str().context("a demo record has a name")?;
    let slug = record.get("slug").and_then(|slug| slug.as_str().map(str::to_owned));
    let slug = slug.or_else(|| Slug::from_name(name).map(String::from)).unwrap_or_default();
    let changes = Map::from_iter([("intro".to_owned(), json!(format!("A new word: {word}.")))]);
    let command = Command::Revise { slug: slug.parse()?, changes };
    match session.send("bench".parse()?, None, command).await? {
        CommandReply::Project(done) if done.changed => Ok(()),
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
