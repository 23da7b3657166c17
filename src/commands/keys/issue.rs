//! `loggia keys issue`: makes a key here, sends its hash, and prints it once.

use std::process::ExitCode;

use anyhow::{Context, Result};
use schemas::account::KeyIssued;
use schemas::command::{Command, CommandFailure, FailureKind};
use schemas::email::Email;
use schemas::ids::Actor;
use schemas::key::KeyId;
use schemas::tier::{Tier, TierName, Tiers};
use serde::Serialize;

use super::super::curate::refuse;
use super::{account, applied, send, service};
use crate::config::Config;
use crate::output::{Output, count, say};
use crate::session::Session;

/// A new key as it is shown to whoever asked for it, and never again.
#[derive(Serialize)]
struct Issued<'a> {
    key: &'a str,
    key_id: KeyId,
    tier: &'a TierName,
    quota: u64,
}

/// Issues one; in the first tier where none is named.
pub(super) async fn run(
    config: &Config,
    actor: Actor,
    email: Email,
    name: Option<String>,
    tier: Option<TierName>,
    output: Output,
) -> Result<ExitCode> {
    let tiers = service::tiers(config).await?;
    let tier = wanted(&tiers, tier)?;
    let key = api::new_key().context("the system gives no random bytes; try again")?;
    let issued = KeyIssued::of(&key, tier.name.clone(), name);
    // A key is made here and shown once: under the same id another one would be sent, so there is none to give.
    let unknown = || {
        format!(
            "whether the key {} was issued is not known; `loggia keys list` shows it if it was: revoke it then, and issue \
             another",
            key.id()
        )
    };
    let session = Session::open(config).await?;
    let answer = session.send(actor.clone(), None, Command::IssueKey { email, key: issued }).await;
    session.close().await;
    let done = match account(answer.with_context(unknown)?)? {
        Ok(done) => done,
        Err(refusal) => {
            if refusal.kind == FailureKind::Unavailable {
                say(&unknown());
            }
            return refuse(&refusal, output);
        }
    };
    applied::wait(config, done.position).await;
    let shown = Issued { key: key.expose(), key_id: key.id(), tier: &tier.name, quota: tier.quota };
    let printed = output.deliver(&shown, || {
        format!(
            "{}\n\nKeep it: it is shown this once. Its id is {}, its tier {}: {} calls in a calendar month (UTC).",
            shown.key,
            shown.key_id,
            shown.tier,
            count(shown.quota)
        )
    });
    match printed {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.context(taken_back(config, actor, key.id()).await)),
    }
}

/// Revokes a key that nobody has seen, and says what became of it.
async fn taken_back(config: &Config, actor: Actor, key_id: KeyId) -> String {
    match send(config, actor, Command::RevokeKey { key_id }).await {
        Ok(Ok(_)) => format!("the key {key_id} could not be printed and is revoked; issue another"),
        Ok(Err(CommandFailure { detail, .. })) => unseen(key_id, &detail),
        Err(error) => unseen(key_id, &format!("{error:#}")),
    }
}

fn unseen(key_id: KeyId, reason: &str) -> String {
    format!(
        "the key {key_id} was issued, could not be printed, and is not revoked ({reason}); revoke it with `loggia keys \
         revoke {key_id}`"
    )
}

fn wanted(tiers: &Tiers, name: Option<TierName>) -> Result<&Tier> {
    let Some(name) = name else { return Ok(tiers.first()) };
    tiers.get(&name).with_context(|| {
        let known: Vec<_> = tiers.iter().map(|tier| tier.name.as_str()).collect();
        format!("there is no tier “{name}”; there are {}", known.join(", "))
    })
}
