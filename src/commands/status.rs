//! `loggia status`: the state of this data folder and its processes, on one screen.

mod gathering;
mod screen;
mod servers;
mod usage;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use cli_output::Output;
use jiff::Timestamp;
use schemas::control::{NodeSummary, ProjectionStatus};
use schemas::ids::Position;
use schemas::month::Month;
use serde::Serialize;

use crate::config::Config;
use crate::store::keeper::Keeper;
use usage::UsageStatus;

/// How long a lag is watched to see whether it shrinks.
const LAG_WATCH: Duration = Duration::from_secs(3);

/// The state, as far as it could be read.
#[derive(Debug, Default, Serialize)]
struct Status {
    version: &'static str,
    data: String,
    running: Option<u32>,
    /// The processes that hold parts of the folder.
    processes: Vec<Process>,
    api: Option<String>,
    store: Option<StoreStatus>,
    /// The keeper of a remote log.
    keeper: Option<Keeper>,
    ledger: Option<LedgerStatus>,
    nats: Option<NatsStatus>,
    projections: Vec<ProjectionStatus>,
    /// All processes of the cluster that answer.
    nodes: Vec<NodeSummary>,
    usage: Option<UsageStatus>,
    spool: Option<SpoolStatus>,
    disk: Option<DiskStatus>,
    verdict: Verdict,
    problem: Option<String>,
    /// What does not work.
    problems: Vec<String>,
    /// What works, but should be checked.
    warnings: Vec<String>,
}

/// The overall state, for monitors.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    #[default]
    Ok,
    Warning,
    Problem,
}

/// A process that holds parts of the folder.
#[derive(Debug, Serialize)]
struct Process {
    pid: u32,
    node: String,
    /// The parts: `write`, `project`, or both.
    parts: Vec<&'static str>,
    since: Option<Timestamp>,
    uptime_seconds: Option<u64>,
    /// Its role and version, if it answers.
    role: Option<String>,
    version: Option<String>,
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
    /// The calls of the running month, with those over the quota.
    calls: u64,
}

#[derive(Debug, Serialize)]
struct NatsStatus {
    server: String,
    version: String,
    position: Position,
    /// The number of events of the log that the relay has not published yet.
    lag: u64,
    messages: u64,
    bytes: u64,
    /// The number of servers that keep the stream, and the names of those that are missing.
    servers: usize,
    missing: Vec<String>,
}

/// Calls that NATS could not count yet.
#[derive(Debug, Serialize)]
struct SpoolStatus {
    /// The number of calls, in all processes that answer.
    calls: u64,
    /// The size of the files in this folder.
    bytes: u64,
}

/// The space on the disk of the data folder, in bytes.
#[derive(Debug, Serialize)]
struct DiskStatus {
    free: u64,
    total: u64,
}

/// Prints the state. With `check` the exit status is 0 if all is well, 1 if there are warnings, and 2 if there are problems.
pub async fn run(config: &Config, check: bool, output: Output) -> Result<ExitCode> {
    let mut status = gathering::gather(config).await;
    if check {
        if status.processes.is_empty() && config.nats.url.is_none() {
            status.problems.push("no process runs on this data folder".to_owned());
        }
        if status.lags() {
            tokio::time::sleep(LAG_WATCH).await;
            let later = gathering::gather(config).await;
            status.problems.extend(status.stalled(&later));
        }
    }
    status.set_verdict();
    output.answer(&status, || screen::screen(&status, check))?;
    Ok(match status.verdict {
        Verdict::Warning if check => ExitCode::from(1),
        Verdict::Problem if check => ExitCode::from(2),
        Verdict::Ok | Verdict::Warning | Verdict::Problem => ExitCode::SUCCESS,
    })
}

pub(super) async fn problems_and_warnings(config: &Config) -> (Vec<String>, Vec<String>) {
    let Status { problems, warnings, .. } = gathering::gather(config).await;
    (problems, warnings)
}

impl Status {
    fn set_verdict(&mut self) {
        self.verdict = match (self.problems.is_empty(), self.warnings.is_empty()) {
            (true, true) => Verdict::Ok,
            (true, false) => Verdict::Warning,
            (false, _) => Verdict::Problem,
        };
        self.problem = self.problems.first().cloned();
    }

    /// Returns whether the relay or a projection lags.
    fn lags(&self) -> bool {
        self.nats.as_ref().is_some_and(|nats| nats.lag > 0)
            || self.projections.iter().any(|projection| projection.lag > 0)
    }

    /// Returns a sentence for each that lags now and `later`, at the same position.
    fn stalled(&self, later: &Status) -> Vec<String> {
        let mut stalled = Vec::new();
        if let (Some(before), Some(now)) = (&self.nats, &later.nats)
            && before.lag > 0
            && now.lag > 0
            && before.position == now.position
        {
            stalled.push(format!(
                "the relay has stopped at {}, {} events behind the log",
                now.position, now.lag
            ));
        }
        for now in later.projections.iter().filter(|projection| projection.lag > 0) {
            let before = self.projections.iter().find(|before| before.name == now.name);
            if before.is_some_and(|before| before.lag > 0 && before.position == now.position) {
                stalled
                    .push(format!("the {} model has stopped at {}, lag {}", now.name, now.position, now.lag));
            }
        }
        stalled
    }
}

#[cfg(test)]
mod tests;
