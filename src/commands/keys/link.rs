//! `loggia keys link`: makes a link as it is mailed to the holder of an address, and prints it instead.

use std::process::ExitCode;

use anyhow::{Result, bail};
use jiff::Timestamp;
use schemas::command::{Command, CommandReply};
use schemas::email::Email;
use schemas::ids::Actor;
use serde::Serialize;
use vault::new_token;

use super::super::curate::refuse;
use super::{ask, service};
use crate::config::Config;
use crate::output::Output;

/// A link as it is shown.
#[derive(Serialize)]
struct Shown {
    link: String,
    expires_at: Timestamp,
}

/// Makes one; the token is made here, and only its hash is sent.
pub(super) async fn run(config: &Config, actor: Actor, email: Email, output: Output) -> Result<ExitCode> {
    let site = service::address(config).await?;
    let token = new_token()?;
    match ask(config, actor, Command::MakeLink { email, link: token.hash() }).await? {
        CommandReply::Link { expires_at } => {
            let shown = Shown { link: token.at(&site), expires_at };
            output.deliver(&shown, || {
                format!(
                    "{}\n\nGive it to the holder of the address, and to nobody else. It works once, until {:.0}.",
                    shown.link, shown.expires_at
                )
            })?;
            Ok(ExitCode::SUCCESS)
        }
        CommandReply::Failed(refusal) => refuse(&refusal, output),
        _ => bail!("the write side answered with something else; are both of one version?"),
    }
}
