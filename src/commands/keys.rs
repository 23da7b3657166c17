//! `loggia keys`: issues and manages API keys.

pub(super) mod applied;
mod issue;
mod link;
mod list;
mod service;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use cli_output::{Output, count};
use schemas::command::{AccountOutcome, Command, CommandFailure, CommandReply};
use schemas::email::Email;
use schemas::ids::Actor;
use schemas::key::KeyId;
use schemas::tier::{TierName, Tiers};

use super::curate::refuse;
use crate::cli::{ActFlags, KeysCommand};
use crate::config::Config;
use crate::session::{self, Session, UNEXPECTED_REPLY};

pub async fn run(config: &Config, command: &KeysCommand, output: Output) -> Result<ExitCode> {
    match command {
        KeysCommand::Issue { email, name, tier, actor } => {
            let tier = tier.as_deref().map(parse_tier).transpose()?;
            let actor = session::actor(actor)?;
            issue::run(config, actor, email.parse()?, name.clone(), tier, output).await
        }
        KeysCommand::List { email } => {
            let email: Option<Email> = email.as_deref().map(str::parse).transpose()?;
            list::run(config, email.as_ref(), output).await
        }
        KeysCommand::Revoke { key_id, act } => {
            let command = Command::RevokeKey { key_id: parse_key(key_id)? };
            send_and_print(config, command, act, output, revoked).await
        }
        KeysCommand::Tier { email, key, tier, act } => {
            let key_ids = key.iter().map(|key| parse_key(key)).collect::<Result<_>>()?;
            let command = Command::ChangeTier { email: email.parse()?, key_ids, tier: parse_tier(tier)? };
            let tiers = service::tiers(config).await?;
            send_and_print(config, command, act, output, |done| moved(&tiers, done)).await
        }
        KeysCommand::Link { email, actor } => {
            link::run(config, session::actor(actor)?, email.parse()?, output).await
        }
        KeysCommand::Erase { email, act } => {
            let command = Command::EraseAccount { email: email.parse()? };
            erase(config, command, act, output).await
        }
    }
}

/// Sends a command and prints its outcome, once the keys of this folder's node have it.
pub(super) async fn send_and_print(
    config: &Config,
    command: Command,
    act: &ActFlags,
    output: Output,
    text: impl FnOnce(&AccountOutcome) -> String,
) -> Result<ExitCode> {
    match send_and_wait(config, command, act).await? {
        Ok(done) => {
            output.answer(&done, || text(&done))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(refusal) => refuse(&refusal, output),
    }
}

/// Erases an address. One that the vault does not have may be mistyped, so that is a failure.
async fn erase(config: &Config, command: Command, act: &ActFlags, output: Output) -> Result<ExitCode> {
    match send_and_wait(config, command, act).await? {
        Ok(done) if done.changed => {
            output.answer(&done, || {
                format!("the address is erased permanently; its keys are revoked: {}", ids(&done))
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(_) => Ok(output.not_done(
            "nothing was erased: the vault does not have this address, or no longer; check how it is written",
        )),
        Err(refusal) => refuse(&refusal, output),
    }
}

/// Sends a command, and returns once the keys of this folder's node have it.
async fn send_and_wait(
    config: &Config,
    command: Command,
    act: &ActFlags,
) -> Result<Result<AccountOutcome, CommandFailure>> {
    let done = account_reply(session::send_once(config, act, command).await?)?;
    if let Ok(done) = &done {
        applied::wait(config, done.position).await;
    }
    Ok(done)
}

async fn send(
    config: &Config,
    actor: Actor,
    command: Command,
) -> Result<Result<AccountOutcome, CommandFailure>> {
    account_reply(ask(config, actor, command).await?)
}

fn account_reply(answer: CommandReply) -> Result<Result<AccountOutcome, CommandFailure>> {
    match answer {
        CommandReply::Account(done) => Ok(Ok(done)),
        CommandReply::Failed(refusal) => Ok(Err(refusal)),
        _ => bail!(UNEXPECTED_REPLY),
    }
}

async fn ask(config: &Config, actor: Actor, command: Command) -> Result<CommandReply> {
    let session = Session::open(config).await?;
    let answer = session.send(actor, None, command).await;
    session.close().await;
    answer
}

fn parse_key(text: &str) -> Result<KeyId> {
    text.parse().with_context(|| "a key is named by its id, not by its text; `loggia keys list` shows it")
}

fn parse_tier(text: &str) -> Result<TierName> {
    text.parse().with_context(|| format!("“{text}” is not a tier"))
}

fn revoked(done: &AccountOutcome) -> String {
    let ids = ids(done);
    if done.changed { format!("{ids} is revoked") } else { format!("{ids} was revoked before") }
}

fn moved(tiers: &Tiers, done: &AccountOutcome) -> String {
    let now = if done.changed { "now" } else { "already" };
    let each = done.keys.iter().map(|key| match tiers.get(&key.tier) {
        Some(tier) => {
            format!("{} is {now} in tier {}: {} calls per month", key.key_id, tier.name, count(tier.quota))
        }
        None => format!("{} is {now} in tier {}", key.key_id, key.tier),
    });
    each.collect::<Vec<_>>().join("\n")
}

fn ids(done: &AccountOutcome) -> String {
    done.keys.iter().map(|key| key.key_id.as_str()).collect::<Vec<_>>().join(", ")
}
