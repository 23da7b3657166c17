//! The log: to standard error, one line an event.

use std::io::IsTerminal;

use anyhow::Result;
use tracing_subscriber::EnvFilter;

use crate::config::{LogFilter, LogFormat};

/// The client of EventStoreDB. What it logs as errors are attempts that are made again; what they come to is logged by
/// the component "event store", in one sentence.
const CLIENT: &str = "kurrentdb";

/// The search engine. What it warns of are merges of segments that another one has taken meanwhile, which are tried again.
const ENGINE: &str = "tantivy";

/// The client of NATS. It logs every connection and every try; what they come to is logged by the component that needs it.
const NATS: &str = "async_nats";

/// Logs what the filter lets through from now on.
pub fn start(filter: &LogFilter, format: LogFormat) -> Result<()> {
    let log = tracing_subscriber::fmt().with_env_filter(filtered(filter)?).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).init(),
    }
    Ok(())
}

/// The filter, without the lines of [`CLIENT`] and the minor ones of [`ENGINE`] and [`NATS`] unless it names them.
fn filtered(LogFilter(text): &LogFilter) -> Result<EnvFilter> {
    let mut filtered = EnvFilter::try_new(text)?;
    for (name, level) in [(CLIENT, "off"), (ENGINE, "error"), (NATS, "warn")] {
        if !text.contains(name) {
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
        assert!(!shown("tantivy=debug").contains("tantivy=error"));
    }
}
