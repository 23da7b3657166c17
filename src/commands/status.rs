//! `loggia status`: one screen on how this data folder and its processes are.

mod gathering;
mod screen;
mod usage;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use schemas::control::{NodeSummary, ProjectionStatus};
use schemas::ids::Position;
use schemas::month::Month;
use serde::Serialize;

use crate::config::Config;
use crate::output::Output;
use crate::store::keeper::Keeper;
use usage::UsageStatus;

/// How long what lags may take to move on before it is taken to stand still.
const MOVES_WITHIN: Duration = Duration::from_secs(3);

/// Everything that is known.
#[derive(Debug, Default, Serialize)]
struct Status {
    version: &'static str,
    data: String,
    running: Option<u32>,
    /// The processes that hold parts of the folder.
    processes: Vec<Process>,
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
    spool: Option<SpoolStatus>,
    disk: Option<DiskStatus>,
    verdict: Verdict,
    /// The first of the problems.
    problem: Option<String>,
    /// What does not work.
    problems: Vec<String>,
    /// What works and should be looked at.
    warnings: Vec<String>,
}

/// How all of it is, for monitors.
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
    /// `write` and `project`.
    parts: Vec<&'static str>,
    /// When it had started.
    since: Option<Timestamp>,
    uptime_seconds: Option<u64>,
    /// The role and the version, where it answers.
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
    /// Of the running month, with those over the quota.
    calls: u64,
}

#[derive(Debug, Serialize)]
struct NatsStatus {
    server: String,
    version: String,
    position: Position,
    /// How many events of the log it lacks: the relay has not carried them yet.
    lag: u64,
    messages: u64,
    bytes: u64,
}

/// Calls that NATS could not count yet.
#[derive(Debug, Serialize)]
struct SpoolStatus {
    /// In all processes that answer.
    calls: u64,
    /// The size of the files in this folder.
    bytes: u64,
}

/// The disk of the data folder.
#[derive(Debug, Serialize)]
struct DiskStatus {
    free: u64,
    total: u64,
}

/// Shows it. With `check` the exit status tells it too: 0 where all is well, 1 where something should be looked at, 2 where
/// something does not work.
pub async fn run(config: &Config, check: bool, output: Output) -> Result<ExitCode> {
    let mut status = gathering::gather(config).await;
    if check {
        if status.processes.is_empty() && config.nats.url.is_none() {
            status.problems.push("no process runs on this data folder".to_owned());
        }
        if status.lags() {
            tokio::time::sleep(MOVES_WITHIN).await;
            let later = gathering::gather(config).await;
            status.problems.extend(status.standing_still(&later));
        }
    }
    status.judge();
    output.answer(&status, || screen::screen(&status, check))?;
    Ok(match status.verdict {
        Verdict::Warning if check => ExitCode::from(1),
        Verdict::Problem if check => ExitCode::from(2),
        Verdict::Ok | Verdict::Warning | Verdict::Problem => ExitCode::SUCCESS,
    })
}

/// Returns what does not work, and what works and should be looked at.
pub(super) async fn complaints(config: &Config) -> (Vec<String>, Vec<String>) {
    let Status { problems, warnings, .. } = gathering::gather(config).await;
    (problems, warnings)
}

impl Status {
    fn judge(&mut self) {
        self.verdict = match (self.problems.is_empty(), self.warnings.is_empty()) {
            (true, true) => Verdict::Ok,
            (true, false) => Verdict::Warning,
            (false, _) => Verdict::Problem,
        };
        self.problem = self.problems.first().cloned();
    }

    /// Returns whether anything has less than the log.
    fn lags(&self) -> bool {
        self.nats.as_ref().is_some_and(|nats| nats.lag > 0)
            || self.projections.iter().any(|projection| projection.lag > 0)
    }

    /// Says what lagged, lags still, and has not moved since.
    fn standing_still(&self, later: &Status) -> Vec<String> {
        let mut still = Vec::new();
        if let (Some(before), Some(now)) = (&self.nats, &later.nats)
            && before.lag > 0
            && now.lag > 0
            && before.position == now.position
        {
            still.push(format!(
                "the relay stands still at {}, {} events behind the log",
                now.position, now.lag
            ));
        }
        for now in later.projections.iter().filter(|projection| projection.lag > 0) {
            let before = self.projections.iter().find(|before| before.name == now.name);
            if before.is_some_and(|before| before.lag > 0 && before.position == now.position) {
                still.push(format!(
                    "the {} model stands still at {}, lag {}",
                    now.name, now.position, now.lag
                ));
            }
        }
        still
    }
}

#[cfg(test)]
mod tests;
