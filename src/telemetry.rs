//! The log: to standard error, one line an event. And traces, if a collector is named.

mod exporting;
mod repeated;

use std::io::IsTerminal;

use anyhow::Result;
use repeated::Repeated;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{LogFilter, LogFormat};

pub use exporting::Exporting;

/// The client of EventStoreDB. What it logs as errors are attempts that are made again; what they come to is logged by
/// the component "event store", in one sentence.
const CLIENT: &str = "kurrentdb";

/// The search engine. What it warns of are merges of segments that another one has taken meanwhile, which are tried again.
const ENGINE: &str = "tantivy";

/// The client of NATS. It logs every connection and every try; what they come to is logged by the component that needs it.
/// Where everything is asked for, down to debug, its lines are too.
const NATS: &str = "async_nats";

/// Logs what the filter lets through from now on; the same warning at most once a minute.
pub fn start(filter: &LogFilter, format: LogFormat) -> Result<()> {
    let log = tracing_subscriber::fmt().with_env_filter(filtered(filter)?).with_writer(std::io::stderr);
    let repeated = Repeated::default();
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

/// The crates of this service, which the filter names together as `loggia`.
const CRATES: [&str; 6] = ["api", "health", "projections", "read", "schemas", "write"];

/// The filter, with the level of `loggia` for each of [`CRATES`] that it does not name, and without the lines of [`CLIENT`] and the minor ones of [`ENGINE`] and [`NATS`] unless it names them.
fn filtered(LogFilter(text): &LogFilter) -> Result<EnvFilter> {
    let mut filtered = EnvFilter::try_new(text)?;
    let words = || text.split(',').map(str::trim);
    for level in words().filter_map(|word| word.strip_prefix("loggia=")) {
        for name in CRATES.iter().filter(|name| !words().any(|word| word.starts_with(**name))) {
            filtered = filtered.add_directive(format!("{name}={level}").parse()?);
        }
    }
    let wants_all = words().any(|word| ["debug", "trace"].contains(&word.to_ascii_lowercase().as_str()));
    for (name, level) in [(CLIENT, "off"), (ENGINE, "error"), (NATS, "warn")] {
        let is_asked_for = text.contains(name) || (name == NATS && wants_all);
        if !is_asked_for {
            filtered = filtered.add_directive(format!("{name}={level}").parse()?);
        }
    }
    Ok(filtered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_of_the_event_store_is_not_logged_unless_it_is_asked_for() {
        let shown = |filter: &str| filtered(&LogFilter(filter.to_owned())).unwrap().to_string();
        assert!(shown("info").contains("kurrentdb=off"), "{}", shown("info"));
        assert!(shown("debug,sqlx=warn").contains("kurrentdb=off"));
        assert!(!shown("info,kurrentdb=debug").contains("kurrentdb=off"));
        assert!(shown("info,kurrentdb=debug").contains("tantivy=error"));
        assert!(shown("info").contains("async_nats=warn"));
        assert!(!shown("trace").contains("async_nats=warn"));
    }

    #[test]
    fn the_service_is_one_part_of_the_log() {
        let shown = |filter: &str| filtered(&LogFilter(filter.to_owned())).unwrap().to_string();
        let parts = shown("warn,loggia=info,api=debug");
        assert!(parts.contains("write=info") && parts.contains("api=debug"), "{parts}");
        assert!(!parts.contains("api=info"), "{parts}");
    }

    #[test]
    fn minor_lines_of_libraries_are_logged_if_they_are_asked_for() {
        let shown = |filter: &str| filtered(&LogFilter(filter.to_owned())).unwrap().to_string();
        assert!(!shown("tantivy=debug").contains("tantivy=error"));
    }
}
