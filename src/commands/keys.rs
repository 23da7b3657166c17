//! `loggia keys`: hands out keys and looks after them.

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cli::KeysCommand;
use crate::config::Config;
use crate::output::Output;

/// Runs it.
pub async fn run(_config: &Config, _command: &KeysCommand, _output: Output) -> Result<ExitCode> {
    bail!("not yet")
}
