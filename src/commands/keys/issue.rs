//! `loggia keys issue`: generates a key, sends its hash, and prints the key once.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result};
use api::{KeyUses, Site};
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
    let uses = uses_on_terminal(config, key.expose()).await;
    let printed = output.deliver(&shown, || {
        format!(
            "{}\n\nKeep it: it is shown only once. Its id is {}, its tier {}: {} calls per calendar month (UTC).{uses}",
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

/// Returns what the key can be used for, for a person: a script takes the key from the first line, and needs no examples. None are
/// shown if the address of the service is not known.
async fn uses_on_terminal(config: &Config, key: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return String::new();
    }
    let site = service::address(config).await.ok().and_then(|address| address.parse::<Site>().ok());
    let named = site.map(|site| site.with_texts(config.site.texts(config.accounts.contact.clone())));
    named.map(|site| in_text(&KeyUses::of(&site, key))).unwrap_or_default()
}

/// Returns the uses of a key as sections of a text, each below its heading.
fn in_text(uses: &KeyUses) -> String {
    let calls = uses.calls.iter().map(|call| (call.language, call.place, call.text.as_str()));
    let clients = uses.clients.iter().map(|client| (client.name, client.place, client.with_key.as_str()));
    calls
        .chain(clients)
        .map(|(name, place, text)| {
            let indented: Vec<String> =
                text.lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
            format!("\n\n{name}. {}:\n{}", place.trim_end_matches(':'), indented.join("\n"))
        })
        .collect()
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

#[cfg(test)]
mod tests;
