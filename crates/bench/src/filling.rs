//! Import: how fast records reach the event store, when all of them are found, and what memory that takes.

use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::load::Connection;
use crate::server::Server;
use crate::{Figure, LIMITED};

/// How long the projections may take for each 100,000 events before the run is given up.
const PATIENCE: Duration = Duration::from_secs(600);

fn patience(events: u64) -> Duration {
    PATIENCE.mul_f64((events as f64 / 100_000.0).max(1.0))
}

/// Starts a server on an empty folder and imports so many records of the demo's kind.
pub async fn start_and_fill(size: usize) -> Result<(Server, Vec<Figure>)> {
    let mut server = Server::new()?;
    let file = server.beside().join("records.ndjson");
    let mut records = BufWriter::new(std::fs::File::create(&file)?);
    for mut record in demo::catalog(demo::DEMO_SEED, size) {
        // There are no files beside the records.
        record.shift_remove("pictures");
        writeln!(records, "{}", Value::Object(record))?;
    }
    records.flush()?;
    server.start().await?;
    let path = file.to_str().context("the temporary folder's name is no UTF-8")?;
    let answer = server.loggia(&["import", path]).await?;
    let ended = Instant::now();
    let counts = answer.last().context("the import answered nothing")?;
    let number = |name: &str| counts[name].as_f64().unwrap_or(f64::NAN);
    if number("new") as usize != size {
        bail!("of {size} records only {} were new: {counts}", number("new"));
    }
    wait_until_found(&server, counts["position"].as_u64().unwrap_or(u64::MAX)).await?;
    let found = ended.elapsed().as_secs_f64();
    let memory = server.memory()? as f64 / 1e6;
    let rate = Figure::new(format!("import of {size} records"), size as f64 / number("seconds"), "records/s");
    let figures = vec![
        // The first thousands pay for connecting and for waking everything up.
        if size == LIMITED { rate.at_least(10_000.0) } else { rate },
        Figure::new("all found after the import's end", found, "s").at_most_in(size, 30.0),
        Figure::new("memory of loggia up with nats-server", memory, "MB").at_most_in(size, 600.0),
    ];
    Ok((server, figures))
}

/// What the whole takes once every project is described and compared with all others.
pub fn memory(server: &Server, size: usize) -> Result<Figure> {
    let megabytes = server.memory()? as f64 / 1e6;
    Ok(Figure::new("memory once all is described", megabytes, "MB").at_most_in(size, 600.0))
}

/// Waits until every projection of the log has applied it up to this position; the counters count calls.
pub async fn wait_until_found(server: &Server, position: u64) -> Result<()> {
    let (began, patience) = (Instant::now(), patience(position));
    while began.elapsed() < patience {
        let status = server.loggia(&["status"]).await?;
        let projections =
            status.first().and_then(|status| status["projections"].as_array().cloned()).unwrap_or_default();
        let reached = |projection: &Value| {
            projection["name"] == "counters"
                || projection["position"].as_u64().is_some_and(|at| at >= position)
        };
        if !projections.is_empty() && projections.iter().all(reached) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("the projections did not reach position {position} within {patience:?}")
}

/// Waits until every project has its vectors and the neighbours of all are known.
pub async fn wait_until_described(server: &Server, size: usize) -> Result<()> {
    // Each project was selected and described: two events.
    let described = 2 * size as u64;
    let (began, patience) = (Instant::now(), patience(described));
    while began.elapsed() < patience {
        let status = server.loggia(&["status"]).await?;
        let position = status.first().and_then(|status| status["store"]["position"].as_u64());
        if position.is_some_and(|position| position >= described) {
            wait_until_found(server, described).await?;
            let mut connection = Connection::open(&server.address).await?;
            let last = demo::catalog(demo::DEMO_SEED, size).last();
            let slug = last.and_then(|record| record["slug"].as_str().map(str::to_owned)).unwrap_or_default();
            let answer = connection.get(&format!("/v1/similar/{slug}?limit=1")).await?;
            let answer: Value = serde_json::from_slice(&answer.body)?;
            if answer["count"] == 1 {
                return Ok(());
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("the projects were not described within {patience:?}")
}
