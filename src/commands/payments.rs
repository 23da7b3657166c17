//! `loggia payments`: takes in what payment providers told, and shows it.

mod list;
mod replay;
mod source;

use std::process::ExitCode;

use anyhow::Result;
use schemas::email::Email;

use crate::cli::PaymentsCommand;
use crate::config::Config;
use crate::output::Output;
use crate::session;

/// Takes events in, or lists what there is.
pub async fn run(config: &Config, command: &PaymentsCommand, output: Output) -> Result<ExitCode> {
    match command {
        PaymentsCommand::Replay { file, actor } => {
            replay::run(config, session::actor(actor)?, file, output).await
        }
        PaymentsCommand::List { email } => {
            let email: Option<Email> = email.as_deref().map(str::parse).transpose()?;
            list::run(config, email.as_ref(), output).await
        }
    }
}
