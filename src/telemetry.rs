//! The log: to standard error, one line an event.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

/// Logs what the filter lets through from now on.
pub fn start(filter: &str) -> Result<()> {
    let filter = EnvFilter::try_new(filter)
        .with_context(|| format!("log is “{filter}”, which is no filter; try info, or loggia=debug,warn"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    Ok(())
}
