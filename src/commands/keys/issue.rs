//! `loggia keys issue`: generates a key, sends its hash, and prints the key once.

use std::process::ExitCode;

use anyhow::{Context, Result};
use cli_output::{Output, count, say};
use schemas::account::KeyIssued;
use schemas::command::{Command, CommandFailure, FailureKind};
use schemas::email::Email;
use schemas::ids::Actor;
use schemas::key::KeyId;
use schemas::tier::{Tier, TierName, Tiers};
use serde::Serialize;

use super::super::curate::refuse;
use super::{account_reply, applied, send, service};
use crate::config::Config;
use crate::session::{self, Session};

/// A new key, as it is shown once.
#[derive(Serialize)]
struct Issued<'a> {
    key: &'a str,
    key_id: KeyId,
    tier: &'a TierName,
    quota: u64,
}

/// Issues a key; in the first tier if none is named.
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
    // A key is generated here and shown once: a repeated command would send another one, so no id is shown for it.
    let unknown = || {
        format!(
            "whether the key {} was issued is not known; if `loggia keys list` shows it, revoke it and issue \
             another",
            key.id()
        )
    };
    let session = Session::open(config).await?;
    let answer = session.send(actor.clone(), None, Command::IssueKey { email, key: issued }).await;
    session.close().await;
    let answer = answer.map_err(|error| match session::is_surely_undone(&error) {
        true => error.context("no key was issued"),
        false => error.context(unknown()),
    })?;
    let done = match account_reply(answer)? {
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
            "{}\n\nKeep it: it is shown only once. Its id is {}, its tier {}: {} calls per calendar month (UTC).",
            shown.key,
            shown.key_id,
            shown.tier,
            count(shown.quota)
        )
    });
    match printed {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(anyhow::Error::from(error).context(revoke_unseen(config, actor, key.id()).await)),
    }
}

/// Revokes a key that could not be printed, and returns the outcome as a sentence.
async fn revoke_unseen(config: &Config, actor: Actor, key_id: KeyId) -> String {
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
        format!("there is no tier “{name}”; the tiers are {}", known.join(", "))
    })
}
