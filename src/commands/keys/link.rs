//! `loggia keys link`: creates a link like those that are mailed to the holder of an address, and prints it instead.

use std::process::ExitCode;

use anyhow::{Result, bail};
use cli_output::Output;
use jiff::Timestamp;
use schemas::command::{Command, CommandReply};
use schemas::email::Email;
use schemas::ids::Actor;
use serde::Serialize;
use vault::new_token;

use super::super::curate::refuse;
use super::{ask, service};
use crate::config::Config;
use crate::session::UNEXPECTED_REPLY;

#[derive(Serialize)]
struct Shown {
    link: String,
    expires_at: Timestamp,
}

/// Creates a link. Its token is generated here, and only the hash of it is sent.
pub(super) async fn run(config: &Config, actor: Actor, email: Email, output: Output) -> Result<ExitCode> {
    let site = service::address(config).await?;
    let token = new_token()?;
    match ask(config, actor, Command::MakeLink { email, link: token.hash() }).await? {
        CommandReply::Link { expires_at } => {
            let shown = Shown { link: token.at(&site), expires_at };
            output.deliver(&shown, || {
                format!(
                    "{}\n\nGive it only to the holder of the address. It works once, until {:.0}.",
                    shown.link, shown.expires_at
                )
            })?;
            Ok(ExitCode::SUCCESS)
        }
        CommandReply::Failed(refusal) => refuse(&refusal, output),
        _ => bail!(UNEXPECTED_REPLY),
    }
}
