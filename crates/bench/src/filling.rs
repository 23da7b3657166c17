//! The import suite: rate of the import, time until all records are found, and memory.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::load::Connection;
use crate::server::Server;
use crate::{Figure, LIMITED};

/// The timeout of the projections per 100,000 events.
const TIMEOUT: Duration = Duration::from_secs(600);

fn timeout_for(events: u64) -> Duration {
    TIMEOUT.mul_f64((events as f64 / 100_000.0).max(1.0))
}

/// Starts a new server and imports `size` records of the demo catalog.
///
/// # Errors
///
/// If the server or the import fails, or the projections time out.
pub async fn start_and_fill(mut server: Server, size: usize) -> Result<(Server, Vec<Figure>)> {
    let file = server.folder().join("records.ndjson");
    let mut records = BufWriter::new(std::fs::File::create(&file)?);
    for mut record in demo::catalog(demo::DEMO_SEED, size) {
        // The pictures would need files beside the records.
        record.shift_remove("pictures");
        writeln!(records, "{}", Value::Object(record))?;
    }
    records.flush()?;
    server.start().await?;
    let counts = import(&server, &file, &[]).await?;
    let ended = Instant::now();
    let number = |name: &str| counts[name].as_f64().unwrap_or(f64::NAN);
    if number("new") as usize != size {
        bail!("of {size} records only {} were new: {counts}", number("new"));
    }
    wait_until_found(&server, position(&counts)).await?;
    let found = ended.elapsed().as_secs_f64();
    let memory = server.memory()? as f64 / 1e6;
    let rate = Figure::new(format!("import of {size} records"), size as f64 / number("seconds"), "records/s");
    let figures = vec![
        // Small imports are dominated by start-up costs.
        if size == LIMITED { rate.at_least(10_000.0) } else { rate },
        Figure::new("all found after the import's end", found, "s").at_most_in(size, 30.0),
        Figure::new("memory of loggia up with nats-server", memory, "MB").at_most_in(size, 600.0),
    ];
    Ok((server, figures))
}

/// Starts a new server, imports a file of records and waits until all are found.
///
/// # Errors
///
/// If the server fails, a line of the file is rejected, or the projections time out.
pub async fn start_and_import(mut server: Server, file: &Path) -> Result<Server> {
    server.start().await?;
    // Without the rejected lines, what is found would not be that of the file.
    let counts = import(&server, file, &["--strict"]).await;
    let counts = counts
        .with_context(|| format!("{} cannot be imported; correct it and run this again", file.display()))?;
    wait_until_found(&server, position(&counts)).await?;
    Ok(server)
}

/// Runs `loggia import` with these flags; returns its counts.
async fn import(server: &Server, file: &Path, flags: &[&str]) -> Result<Value> {
    let path = file.to_str().with_context(|| format!("the name of {} is not UTF-8", file.display()))?;
    // How long readers take is measured apart.
    let answer = server.loggia(&[&["import", path, "--no-wait"], flags].concat()).await?;
    answer.last().cloned().context("the import answered nothing")
}

/// Returns the position of the log after an import.
fn position(counts: &Value) -> u64 {
    counts["position"].as_u64().unwrap_or(u64::MAX)
}

/// Returns the memory once every project has vectors and neighbours.
///
/// # Errors
///
/// If the server has ended.
pub fn memory(server: &Server, size: usize) -> Result<Figure> {
    let megabytes = server.memory()? as f64 / 1e6;
    Ok(Figure::new("memory once all have vectors", megabytes, "MB").at_most_in(size, 600.0))
}

/// Waits until every projection has applied the log up to this position; the counters, which read calls, are left out.
///
/// # Errors
///
/// If the status cannot be read, or at the timeout.
pub async fn wait_until_found(server: &Server, position: u64) -> Result<()> {
    let (began, timeout) = (Instant::now(), timeout_for(position));
    while began.elapsed() < timeout {
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
    bail!("the projections did not reach position {position} within {timeout:?}")
}

/// Waits until every project has vectors and neighbours.
///
/// # Errors
///
/// If the status cannot be read, or at the timeout.
pub async fn wait_until_embedded(server: &Server, size: usize) -> Result<()> {
    // Two events per project: selected, and its vectors.
    let events = 2 * size as u64;
    let (began, timeout) = (Instant::now(), timeout_for(events));
    while began.elapsed() < timeout {
        let status = server.loggia(&["status"]).await?;
        let position = status.first().and_then(|status| status["store"]["position"].as_u64());
        if position.is_some_and(|position| position >= events) {
            wait_until_found(server, events).await?;
            let last = demo::catalog(demo::DEMO_SEED, size).last();
            let slug = last.and_then(|record| record["slug"].as_str().map(str::to_owned)).unwrap_or_default();
            if has_neighbours(server, &slug).await? {
                return Ok(());
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("the projects had no vectors or neighbours within {timeout:?}")
}

/// Waits until every record of a file that was imported alone has a semantic vector and neighbours.
///
/// # Errors
///
/// If there are no records, the vectors cannot be counted, or at the timeout.
pub async fn wait_until_all_have_meanings(server: &Server) -> Result<()> {
    let exported = server.loggia(&["export"]).await?;
    let last = exported.last().and_then(|record| record["slug"].as_str());
    let last = last.context("the file has no records; name one that has some")?;
    let (began, timeout) = (Instant::now(), timeout_for(2 * exported.len() as u64));
    while began.elapsed() < timeout {
        let models = server.loggia(&["models"]).await?;
        let by_encoder = models.first().and_then(|models| models["vectors"].as_array());
        let counts = by_encoder.into_iter().flatten().filter_map(|encoder| encoder["semantic"].as_u64());
        if counts.sum::<u64>() >= exported.len() as u64 {
            let status = server.loggia(&["status"]).await?;
            let position = status.first().and_then(|status| status["store"]["position"].as_u64());
            wait_until_found(server, position.context("the status has no position of the log")?).await?;
            // A record alone has no neighbours.
            if exported.len() == 1 || has_neighbours(server, last).await? {
                return Ok(());
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("not all records had vectors within {timeout:?}; `loggia models` counts them")
}

/// Returns whether a project has neighbours, so that it and those before it have vectors.
async fn has_neighbours(server: &Server, slug: &str) -> Result<bool> {
    let mut connection = Connection::open(&server.address).await?;
    let answer = connection.get(&format!("/v1/similar/{slug}?limit=1")).await?;
    let answer: Value = serde_json::from_slice(&answer.body)?;
    Ok(answer["count"] == 1)
}
