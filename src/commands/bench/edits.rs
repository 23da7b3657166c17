//! Visibility: the time from the reply to an edit until a search finds it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bench::Figure;
use bench::load::Connection;
use bench::server::Server;
use schemas::command::{Command, CommandReply};
use serde_json::json;

use crate::session::Session;

const EDITS: usize = 31;
/// How long an edit may take until it is found.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Edits one project after the other through the running write side.
pub async fn measure(server: &Server) -> Result<Vec<Figure>> {
    let session = Session::of_folder(&server.data()).await?;
    let mut connection = Connection::open(&server.address).await?;
    let mut took = Vec::new();
    for (index, record) in demo::catalog(demo::DEMO_SEED, EDITS).enumerate() {
        let name = record["name"].as_str().context("a demo record has a name")?;
        let slug = record.get("slug").and_then(|slug| slug.as_str().map(str::to_owned));
        let slug =
            slug.or_else(|| schemas::slug::Slug::from_name(name).map(String::from)).unwrap_or_default();
        let word = format!("zqvisible{index}");
        let changes = json!({"intro": format!("A new word: {word}.")});
        let changes = changes.as_object().cloned().unwrap_or_default();
        let command = Command::Revise { slug: slug.parse()?, changes };
        match session.send("bench".parse()?, None, command).await? {
            CommandReply::Project(done) if done.changed => {}
            other => bail!("the edit of {slug} was not made: {other:?}"),
        }
        took.push(until_found(&mut connection, &word).await?);
    }
    session.close().await;
    took.sort_by(f64::total_cmp);
    Ok(vec![
        Figure::new("an edit is found after (median)", took[took.len() / 2], "ms").at_most(300.0),
        Figure::new("an edit is found after (longest)", took[took.len() - 1], "ms"),
    ])
}

async fn until_found(connection: &mut Connection, word: &str) -> Result<f64> {
    let answered = Instant::now();
    while answered.elapsed() < TIMEOUT {
        let answer = connection.get(&format!("/v1/search?q={word}")).await?;
        let body: serde_json::Value = serde_json::from_slice(&answer.body)?;
        // Similar words of earlier edits match as typing errors, so the first result must be the edit itself.
        if body["results"][0]["intro"].as_str().is_some_and(|intro| intro.ends_with(&format!(" {word}."))) {
            return Ok(answered.elapsed().as_secs_f64() * 1e3);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    bail!("the edit with the word {word} was not found within {TIMEOUT:?}")
}
