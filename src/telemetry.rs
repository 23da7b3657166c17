//! The log, on standard error with one line for each event; and traces, if a collector is named. Lines that cannot be written are
//! lost and counted, and the process goes on.

mod exporting;

use std::io::IsTerminal;

use anyhow::Result;
use daemon::repeated_warnings::RepeatedWarnings;
use daemon::standard_error::{LogWriter, LostLines};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogFilter, LogFormat};

pub use exporting::Exporting;

/// The client of EventStoreDB. What it logs as errors are attempts that it repeats; their outcome is logged by the component
/// "event store", in one sentence.
const EVENT_STORE_CLIENT: &str = "kurrentdb";

/// The search engine. It warns of merges of segments that another merge has already taken; it repeats them.
const SEARCH_ENGINE: &str = "tantivy";

/// The client of NATS. It logs every connection and every attempt; their outcome is logged by the component that connects. With
/// the level debug or trace for everything, its lines are logged too.
const NATS_CLIENT: &str = "async_nats";

/// The target of reports on repeated warnings.
const REPEATED: &str = "loggia::repeated";

/// Starts to log what the filter lets through; the same warning at most once a minute. Fails if the filter is invalid,
/// or the process logs already.
pub fn start(filter: &LogFilter, format: LogFormat) -> Result<()> {
    let log = tracing_subscriber::fmt()
        .with_env_filter(filtered(filter)?)
        .with_writer(|| LogWriter::new(report_lost_lines))
        // They would be printed by a macro that panics where standard error cannot be written.
        .log_internal_errors(false);
    let report = |times, message: &str| {
        tracing::warn!(target: REPEATED, times, "came again within a minute: {message}");
    };
    let repeated = RepeatedWarnings::new(REPEATED, report);
    match format {
        LogFormat::Text => {
            log.with_ansi(std::io::stderr().is_terminal()).finish().with(repeated).try_init()?;
        }
        LogFormat::Json => {
            log.json().flatten_event(true).with_current_span(false).finish().with(repeated).try_init()?;
        }
    }
    Ok(())
}

/// Logs that lines were lost, once another one has been written.
fn report_lost_lines(LostLines { lines, since_start }: LostLines) {
    // The number since the start differs each time, so it is never taken for the same warning again.
    tracing::warn!(
        lines,
        since_start,
        "the log can be written again; lines were lost, since standard error had no room or nobody read it"
    );
}

/// The packages of this workspace, which the filter names together as `loggia`.
const PACKAGES: &[&str] = &[
    "answers",
    "api",
    "archive",
    "backup",
    "bench",
    "bounded_file",
    "bulk_load",
    "citation",
    "cli_output",
    "daemon",
    "data_folder",
    "demo",
    "embeddings",
    "event_log",
    "health",
    "import_file",
    "knn",
    "ledger",
    "lexical",
    "mapping",
    "mcp",
    "media",
    "metering",
    "model",
    "nats",
    "pages",
    "payments",
    "pictures",
    "process_role",
    "projections",
    "read",
    "record_files",
    "schemas",
    "settings",
    "snapshot_transfer",
    "sqlite",
    "store_file",
    "text",
    "traceparent",
    "traces",
    "vault",
    "workers",
    "write",
];

/// Returns the filter with the level of `loggia` for each of [`PACKAGES`] that it does not name, and without the lines of
/// [`EVENT_STORE_CLIENT`] and the minor ones of [`SEARCH_ENGINE`] and [`NATS_CLIENT`] unless it names them.
fn filtered(LogFilter(text): &LogFilter) -> Result<EnvFilter> {
    let mut filtered = EnvFilter::try_new(text)?;
    let words = || text.split(',').map(str::trim);
    for level in words().filter_map(|word| word.strip_prefix("loggia=")) {
        for name in PACKAGES.iter().filter(|name| !words().any(|word| word.starts_with(**name))) {
            filtered = filtered.add_directive(format!("{name}={level}").parse()?);
        }
    }
    let wants_all = words().any(|word| ["debug", "trace"].contains(&word.to_ascii_lowercase().as_str()));
    for (name, level) in [(EVENT_STORE_CLIENT, "off"), (SEARCH_ENGINE, "error"), (NATS_CLIENT, "warn")] {
        let is_wanted = text.contains(name) || (name == NATS_CLIENT && wants_all);
        if !is_wanted {
            filtered = filtered.add_directive(format!("{name}={level}").parse()?);
        }
    }
    Ok(filtered)
}

#[cfg(test)]
mod tests;
