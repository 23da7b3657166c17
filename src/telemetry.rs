//! The log: to standard error, one line an event.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

/// The client of EventStoreDB. What it logs as errors are attempts that are made again; what they come to is logged by
/// the component "event store", in one sentence.
const CLIENT: &str = "kurrentdb";

/// Logs what the filter lets through from now on.
pub fn start(filter: &str) -> Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(parsed(filter)?)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    Ok(())
}

/// The search engine. What it warns of are merges of segments that another one has taken meanwhile, which are tried again.
const ENGINE: &str = "tantivy";

/// The filter, without the lines of [`CLIENT`] and the warnings of [`ENGINE`] unless it names them.
fn parsed(filter: &str) -> Result<EnvFilter> {
    let wanted = EnvFilter::try_new(filter)
        .with_context(|| format!("log is “{filter}”, which is no filter; try info, or loggia=debug,warn"))?;
    let mut filtered = wanted;
    for (name, level) in [(CLIENT, "off"), (ENGINE, "error")] {
        if !filter.contains(name) {
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
        let shown = |filter| parsed(filter).unwrap().to_string();
        assert!(shown("info").contains("kurrentdb=off"), "{}", shown("info"));
        assert!(shown("debug,sqlx=warn").contains("kurrentdb=off"));
        assert!(!shown("info,kurrentdb=debug").contains("kurrentdb=off"));
        assert!(shown("info,kurrentdb=debug").contains("tantivy=error"));
        assert!(!shown("tantivy=debug").contains("tantivy=error"));
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        let refused = parsed("a=b=c").unwrap_err().to_string();
        assert!(refused.contains("try info"), "{refused}");
    }
}
