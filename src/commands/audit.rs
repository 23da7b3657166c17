//! `loggia audit`: every counted call of a key, and the recount of all of them.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cli::AuditArgs;
use crate::config::Config;
use crate::output::Output;

/// Runs it.
pub async fn run(_config: &Config, _args: &AuditArgs, _output: Output) -> Result<ExitCode> {
    bail!("not yet")
}
