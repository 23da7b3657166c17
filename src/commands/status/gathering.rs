//! Gathers the state from the folder, NATS and the processes. What cannot be read is a problem in the result.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use cli_output::{bytes, count, sentence};
use daemon::resources::disk_space;
use data_folder::{DataFolder, Part, Running};
use ledger::Ledger;
use nats::copies::Copies;
use projections::source::EventSource;
use projections::status::folder_bytes;
use schemas::control::ProjectionStatus;
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject;

use super::servers;
use super::usage::UsageStatus;
use super::{DiskStatus, LedgerStatus, NatsStatus, Process, SpoolStatus, Status, StoreStatus};
use crate::compose::summaries;
use crate::config::Config;
use crate::connection;
use crate::process;
use crate::process::VERSION;
use crate::store;
use crate::store::keeper;
use crate::store::keeper::Keeper;

/// How long a running process may take to answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The free space below which there is a warning.
const LITTLE_SPACE: u64 = 1 << 30;

/// The free space below which the private NATS server soon accepts no more messages.
const NO_SPACE: u64 = 128 << 20;

pub(super) async fn gather(config: &Config) -> Status {
    let data = DataFolder::new(&config.server.data);
    let mut status =
        Status { version: VERSION, data: config.server.data.display().to_string(), ..Status::default() };
    let (workers, write) = (data.running(Part::Project), data.running(Part::Write));
    status.running = workers.as_ref().or(write.as_ref()).map(|running| running.pid);
    let url = workers.as_ref().or(write.as_ref()).map(|running| running.nats_url.clone());
    status.processes = processes(&data, write, workers.as_ref());
    // The processes are asked even if the folder must not be touched.
    if config.server.data.exists() {
        match data.check() {
            Ok(()) => read_folder(config, &data, &mut status).await,
            Err(error) => status.problems.push(sentence(&*error)),
        }
    } else if config.nats.url.is_none() {
        status.problems.push(format!(
            "there is no data folder {}; name it with --data or LOGGIA_DATA, or start `loggia up`, which creates it",
            config.server.data.display()
        ));
    }
    if let Some(url) = url.or_else(|| config.nats.url.clone()) {
        ask(config, &url, workers.as_ref(), &mut status).await;
    }
    judge_nodes(&mut status);
    status
}

async fn read_folder(config: &Config, data: &DataFolder, status: &mut Status) {
    status.api = data.serves_at().map(|address| format!("http://{address}"));
    let has_log = !store::is_here(config) || store::has_log(config);
    if has_log {
        status.keeper = status.read("the log cannot be reached", remote_keeper(config).await).flatten();
        match store(config).await {
            // A remote log that cannot be reached is reported above.
            Err(_) if !store::is_here(config) && !status.problems.is_empty() => {}
            store => status.store = status.read("the log cannot be read", store),
        }
    } else if status.processes.iter().any(|process| process.parts.contains(&Part::Write.name())) {
        status.problems.push("the log of the running process is not in this folder any more".to_owned());
    } else if status.processes.is_empty() && !data.models().exists() {
        status.warnings.push("there is nothing in this data folder yet".to_owned());
    }
    status.ledger = status.read("the ledger cannot be read", ledger(config).await).flatten();
    status.usage = status.read("the counters cannot be read", UsageStatus::of(data).await).flatten();
    if data.spool().exists() {
        let nodes = std::fs::metadata(data.spool().join(metering::NODES_FILE)).map_or(0, |file| file.len());
        let bytes = folder_bytes(&data.spool()).saturating_sub(nodes);
        status.spool = Some(SpoolStatus { calls: 0, bytes });
    }
    match disk_space(&config.server.data) {
        Ok(disk) => {
            let free = bytes(disk.free);
            if disk.free < NO_SPACE {
                status.problems.push(format!("the disk has {free} left; free some space"));
            } else if disk.free < LITTLE_SPACE {
                status.warnings.push(format!("the disk has {free} left; free some space soon"));
            }
            status.disk = Some(DiskStatus { free: disk.free, total: disk.total });
        }
        Err(error) => status.warnings.push(format!("the space on the disk is not known: {error}")),
    }
}

impl Status {
    /// Returns what was read. If it could not be, adds the problem `what` with the reason.
    fn read<T>(&mut self, what: &str, read: Result<T>) -> Option<T> {
        read.map_err(|error| self.problems.push(format!("{what}: {}", sentence(&*error)))).ok()
    }
}

/// Returns the processes that hold parts of the folder, each once.
fn processes(data: &DataFolder, write: Option<Running>, workers: Option<&Running>) -> Vec<Process> {
    let mut processes: Vec<Process> = Vec::new();
    for (part, running) in [(Part::Write, write.as_ref()), (Part::Project, workers)] {
        let Some(Running { pid, node, .. }) = running else { continue };
        if let Some(process) = processes.iter_mut().find(|process| process.pid == *pid) {
            process.parts.push(part.name());
            continue;
        }
        let since = data.announced_at(part);
        let uptime = since.map(|since| process::now().duration_since(since).as_secs().max(0).unsigned_abs());
        processes.push(Process {
            pid: *pid,
            node: node.clone(),
            parts: vec![part.name()],
            since,
            uptime_seconds: uptime,
            role: None,
            version: None,
        });
    }
    processes
}

/// Returns the keeper of a remote log; `None` if the log is here.
async fn remote_keeper(config: &Config) -> Result<Option<Keeper>> {
    store::check_replica(config).await?;
    keeper::of_remote_log(config).await
}

async fn store(config: &Config) -> Result<StoreStatus> {
    let store = store::open_read_only(config).await?;
    let head = store.head().await?;
    let folder = store::folder(config);
    let bytes = folder_bytes(&folder).saturating_sub(ledger_bytes(&folder));
    Ok(StoreStatus { position: head.position, hash: head.hash.to_string(), bytes })
}

async fn ledger(config: &Config) -> Result<Option<LedgerStatus>> {
    let folder = store::folder(config);
    let Some(ledger) = Ledger::open_read_only(&folder).await? else { return Ok(None) };
    let (head, month) = (ledger.head().await?, Month::of(process::now()));
    let calls = ledger.totals(month).await?.values().map(|used| used.used + used.overrun).sum();
    let hash = head.hash.to_string();
    Ok(Some(LedgerStatus { position: head.position, hash, bytes: ledger_bytes(&folder), month, calls }))
}

/// Returns the size of the file of the ledger and of its write-ahead log.
fn ledger_bytes(store: &Path) -> u64 {
    let size = |name: &str| std::fs::metadata(store.join(name)).map_or(0, |file| file.len());
    size("usage.db") + size("usage.db-wal")
}

/// Asks NATS, the projection workers of this folder, and every process of the cluster.
async fn ask(config: &Config, url: &str, workers: Option<&Running>, status: &mut Status) {
    let connected = connection::connect_to_nats(config, url).await;
    let Some(client) = status.read("the running processes cannot be reached", connected) else {
        if let Some(copies) = servers::unreachable(url).await {
            servers::judge(status, &copies);
        }
        return;
    };
    let here = status.store.as_ref().map(|store| store.position);
    let what = format!("the stream {} cannot be read", subject::EVENTS);
    status.nats = status.read(&what, nats(&client, here).await);
    let copies = match &status.nats {
        Some(nats) => Some(Copies { servers: nats.servers, missing: nats.missing.clone() }),
        None => servers::unreachable(url).await,
    };
    if let Some(copies) = copies {
        servers::judge(status, &copies);
    }
    let expected: Vec<&str> = status.processes.iter().map(|process| process.node.as_str()).collect();
    let nodes = summaries(&client, &expected).await;
    status.nodes = status.read("the processes cannot be reached", nodes).unwrap_or_default();
    if let Some(workers) = workers {
        let projections = projections(&client, workers).await;
        status.projections =
            status.read("the projection workers do not answer", projections).unwrap_or_default();
    }
}

/// Returns the state of the stream, with its lag behind the head of the log, which is that in the folder or that on NATS.
async fn nats(client: &async_nats::Client, here: Option<Position>) -> Result<NatsStatus> {
    let info = client.server_info();
    let stream = async_nats::jetstream::new(client.clone()).get_stream(subject::EVENTS).await?;
    let state = &stream.cached_info().state;
    let Copies { servers, missing } = Copies::of(stream.cached_info());
    let head = EventSource::new(client.clone()).log_head().await?.max(here.unwrap_or(Position::START));
    Ok(NatsStatus {
        server: info.server_name,
        version: info.version,
        position: Position(state.last_sequence),
        lag: head.0.saturating_sub(state.last_sequence),
        messages: state.messages,
        bytes: state.bytes,
        servers,
        missing,
    })
}

async fn projections(client: &async_nats::Client, workers: &Running) -> Result<Vec<ProjectionStatus>> {
    let request = client.request(subject::control(&workers.node, "status"), "".into());
    let answer =
        tokio::time::timeout(TIMEOUT, request).await.context("no answer came within 3 seconds")??;
    serde_json::from_slice(&answer.payload).context("the answer is unreadable")
}

/// Adds problems and warnings from the summaries of processes and the status of projections.
fn judge_nodes(status: &mut Status) {
    let mut spooled = 0;
    for node in &status.nodes {
        let own = status.processes.iter_mut().find(|process| process.node == node.node);
        let reason = node.reason.clone().unwrap_or_else(|| "it gives no reason".into());
        match own {
            Some(own) => {
                own.role = Some(node.role.clone());
                own.version = Some(node.version.clone());
                if !node.ready {
                    status.problems.push(format!("the process {} is not ready: {reason}", own.pid));
                }
            }
            None if !node.ready => {
                status.warnings.push(format!("the {} node {} is not ready: {reason}", node.role, node.node));
            }
            None => {}
        }
        spooled += node.spool.unwrap_or(0);
    }
    status.warnings.extend(servers::where_calls_wait(&status.nodes));
    if spooled > 0 {
        status.spool.get_or_insert(SpoolStatus { calls: 0, bytes: 0 }).calls = spooled;
    }
    for ProjectionStatus { name, parked, parked_beyond, quarantined, skipped, .. } in &status.projections {
        if let Some(reason) = quarantined {
            status.problems.push(format!("the {name} model is quarantined: {reason}"));
        }
        let parked = parked.len() as u64 + *parked_beyond;
        if parked > 0 {
            status.warnings.push(format!("{} events are parked by the {name} model", count(parked)));
        }
        if *skipped > 0 {
            let skipped = count(*skipped);
            status
                .warnings
                .push(format!("{skipped} events of a newer version were skipped by the {name} model"));
        }
    }
}
