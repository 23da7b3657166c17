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
    "demo",
    "embeddings",
    "event_log",
    "health",
    "knn",
    "ledger",
    "lexical",
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
mod tests {
    use super::*;

    fn shown(filter: &str) -> String {
        filtered(&LogFilter(filter.to_owned())).unwrap().to_string()
    }

    #[test]
    fn clients_are_logged_only_if_the_filter_wants_them() {
        assert!(shown("info").contains("kurrentdb=off"), "{}", shown("info"));
        assert!(shown("debug,sqlx=warn").contains("kurrentdb=off"));
        assert!(!shown("info,kurrentdb=debug").contains("kurrentdb=off"));
        assert!(shown("info,kurrentdb=debug").contains("tantivy=error"));
        assert!(!shown("tantivy=debug").contains("tantivy=error"));
        assert!(shown("info").contains("async_nats=warn"));
        assert!(!shown("trace").contains("async_nats=warn"));
    }

    #[test]
    fn the_packages_of_loggia_have_its_level() {
        let parts = shown("warn,loggia=info,api=debug");
        assert!(parts.contains("write=info") && parts.contains("api=debug"), "{parts}");
        assert!(!parts.contains("api=info"), "{parts}");
    }

    #[test]
    fn every_package_that_logs_is_named() {
        let manifest: toml::Table = include_str!("../Cargo.toml").parse().unwrap();
        let members = manifest["workspace"]["members"].as_array().unwrap();
        let paths = members.iter().filter_map(|member| member.as_str());
        let names =
            paths.filter(|path| !path.starts_with("tests")).filter_map(|path| path.rsplit('/').next());
        let unnamed: Vec<&str> = names.filter(|name| !PACKAGES.contains(name)).collect();
        assert_eq!(unnamed, [""; 0]);
    }
}
