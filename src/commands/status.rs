//! `loggia status`: one screen on how this data folder and its processes are.

mod usage;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use projections::source::EventSource;
use schemas::control::{NodeSummary, ProjectionStatus};
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject;
use serde::Serialize;
use write::event_store::EventStore;
use write::ledger::Ledger;

use crate::config::Config;
use crate::data_folder::{DataFolder, Part, Running};
use crate::nodes;
use crate::output::{Output, bytes, count};
use crate::session::{self, Keeper};
use usage::UsageStatus;

/// How long a running process may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Everything that is known.
#[derive(Debug, Serialize)]
struct Status {
    data: String,
    running: Option<u32>,
    api: Option<String>,
    store: Option<StoreStatus>,
    /// Who keeps what is not in a log elsewhere.
    keeper: Option<Keeper>,
    ledger: Option<LedgerStatus>,
    nats: Option<NatsStatus>,
    projections: Vec<ProjectionStatus>,
    /// All processes of the cluster that answer.
    nodes: Vec<NodeSummary>,
    usage: Option<UsageStatus>,
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct StoreStatus {
    position: Position,
    hash: String,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct LedgerStatus {
    position: Position,
    hash: String,
    bytes: u64,
    month: Month,
    /// Of the running month, with those over the quota.
    calls: u64,
}

#[derive(Debug, Serialize)]
struct NatsStatus {
    server: String,
    version: String,
    position: Position,
    /// How many events of the log it lacks.
    lag: u64,
    messages: u64,
    bytes: u64,
}

/// Shows it.
pub async fn run(config: &Config, output: Output) -> Result<()> {
    let status = gather(config).await;
    output.answer(&status, || screen(&status))
}

async fn gather(config: &Config) -> Status {
    let data = DataFolder::new(&config.data);
    let workers = data.running(Part::Project);
    let running = workers.clone().or_else(|| data.running(Part::Write));
    let mut status = Status {
        data: config.data.display().to_string(),
        running: running.as_ref().map(|running| running.pid),
        api: std::fs::read_to_string(data.api_address())
            .ok()
            .map(|address| format!("http://{}", address.trim())),
        store: None,
        keeper: None,
        ledger: ledger(config).await.ok().flatten(),
        nats: None,
        projections: Vec::new(),
        nodes: Vec::new(),
        usage: None,
        problem: None,
    };
    match elsewhere(config).await {
        Ok(keeper) => status.keeper = keeper,
        Err(error) => status.problem = Some(format!("the log cannot be asked: {error:#}")),
    }
    status.store = store(config).await.ok();
    match UsageStatus::of(&data).await {
        Ok(usage) => status.usage = usage,
        Err(error) => status.problem = Some(format!("{error:#}")),
    }
    let url = running.map(|running| running.nats_url).or_else(|| config.nats_url.clone());
    if let Some(url) = url
        && let Err(error) = ask(config, &url, workers.as_ref(), &mut status).await
    {
        status.problem = Some(format!("the running processes cannot be asked: {error:#}"));
    }
    status
}

/// The keeper of a log that is elsewhere, once that log has been asked; nothing where it is here.
async fn elsewhere(config: &Config) -> Result<Option<Keeper>> {
    session::check_replica(config).await?;
    session::keeper(config).await
}

async fn store(config: &Config) -> Result<StoreStatus> {
    let store = session::open_store_read_only(config).await?;
    let head = store.head().await?;
    let folder = session::store_folder(config);
    let bytes = projections::status::folder_bytes(&folder).saturating_sub(ledger_bytes(&folder));
    Ok(StoreStatus { position: head.position, hash: head.hash.to_string(), bytes })
}

async fn ledger(config: &Config) -> Result<Option<LedgerStatus>> {
    let folder = session::store_folder(config);
    let Some(ledger) = Ledger::open_read_only(&folder).await? else { return Ok(None) };
    let (head, month) = (ledger.head().await?, Month::of(session::now()));
    let calls = ledger.totals(month).await?.values().map(|used| used.used + used.overrun).sum();
    let hash = head.hash.to_string();
    Ok(Some(LedgerStatus { position: head.position, hash, bytes: ledger_bytes(&folder), month, calls }))
}

/// The size of the ledger's file, and of what waits to be written into it.
fn ledger_bytes(store: &Path) -> u64 {
    let size = |name: &str| std::fs::metadata(store.join(name)).map_or(0, |file| file.len());
    size("usage.db") + size("usage.db-wal")
}

/// Asks NATS, the projection workers of this folder, and every process of the cluster.
async fn ask(config: &Config, url: &str, workers: Option<&Running>, status: &mut Status) -> Result<()> {
    let client = session::connect(config, url).await?;
    let info = client.server_info();
    let stream = async_nats::jetstream::new(client.clone()).get_stream(subject::EVENTS).await?;
    let state = &stream.cached_info().state;
    let head = EventSource::new(client.clone()).head_of_log().await?;
    status.nats = Some(NatsStatus {
        server: info.server_name,
        version: info.version,
        position: Position(state.last_sequence),
        lag: head.0.saturating_sub(state.last_sequence),
        messages: state.messages,
        bytes: state.bytes,
    });
    status.nodes = nodes::ask(&client).await?;
    if let Some(Running { node, .. }) = workers {
        let request = client.request(subject::control(node, "status"), "".into());
        let answer = tokio::time::timeout(PATIENCE, request).await??;
        status.projections = serde_json::from_slice(&answer.payload)?;
    }
    Ok(())
}

fn screen(status: &Status) -> String {
    let mut text = format!("data folder  {}\n", status.data);
    text += &match (status.running, &status.api) {
        (Some(pid), Some(api)) => format!("process      {pid}, API on {api}\n"),
        (Some(pid), None) => format!("process      {pid}\n"),
        (None, _) => "process      none is running\n".to_owned(),
    };
    if let Some(store) = &status.store {
        let hash = &store.hash[..16];
        text += &format!(
            "event store  position {}, {}, hash {hash}…\n",
            count(store.position.0),
            bytes(store.bytes)
        );
    }
    if let Some(keeper) = &status.keeper {
        text += &format!("keeper       {}\n", keeper.in_short());
    }
    if let Some(ledger) = &status.ledger {
        let LedgerStatus { position, hash, bytes: size, month, calls } = ledger;
        let (position, hash, calls) = (count(position.0), &hash[..16], count(*calls));
        text += &format!(
            "ledger       position {position}, {}, hash {hash}…, {calls} calls in {month}\n",
            bytes(*size)
        );
    }
    if let Some(nats) = &status.nats {
        let (position, messages) = (count(nats.position.0), count(nats.messages));
        let behind = match nats.lag {
            0 => String::new(),
            lag => format!(", {} events behind the log", count(lag)),
        };
        text += &format!(
            "NATS         {} {}, stream {} at {position}, {messages} messages, {}{behind}\n",
            nats.server,
            nats.version,
            subject::EVENTS,
            bytes(nats.bytes)
        );
    }
    for projection in &status.projections {
        text += &projection_line(projection);
    }
    for node in &status.nodes {
        text += &nodes::line(node);
    }
    if let Some(usage) = &status.usage {
        text += &usage.line();
    }
    if let Some(problem) = &status.problem {
        text += &format!("problem      {problem}\n");
    }
    text.trim_end().to_owned()
}

fn projection_line(projection: &ProjectionStatus) -> String {
    let ProjectionStatus {
        name,
        generation,
        position,
        lag,
        heartbeat,
        parked,
        parked_beyond,
        quarantined,
        skipped,
        bytes: size,
    } = projection;
    let beat = heartbeat.map_or("never".to_owned(), |beat: Timestamp| format!("{beat:.0}"));
    let mut line = format!(
        "{name:<12} position {}, lag {}, {}, generation {generation}, last heartbeat {beat}\n",
        count(position.0),
        count(*lag),
        bytes(*size)
    );
    if let Some(reason) = quarantined {
        line += &format!("{:13}quarantined, and made again from the log: {reason}\n", "");
    }
    if *skipped > 0 {
        line += &format!("{:13}{} events of a newer version were passed over\n", "", count(*skipped));
    }
    for event in parked {
        line += &format!("{:13}parked: {} {} {}\n", "", event.position, event.kind, event.reason);
    }
    if *parked_beyond > 0 {
        line += &format!("{:13}parked: {} more\n", "", count(*parked_beyond));
    }
    line
}
