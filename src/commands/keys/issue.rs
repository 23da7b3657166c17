//! `loggia keys issue`: makes a key here, sends its hash, and prints it once.

use std::process::ExitCode;

use anyhow::{Context, Result};
use schemas::account::KeyIssued;
use schemas::command::{Command, RefusalKind};
use schemas::email::Email;
use schemas::ids::Actor;
use schemas::key::KeyId;
use schemas::tier::{Tier, TierName};
use serde::Serialize;

use super::super::curate::refuse;
use super::{applied, send};
use crate::config::Config;
use crate::output::{Output, count, say};

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
    let tier = wanted(config, tier)?;
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
    let done =
        match send(config, actor, Command::IssueKey { email, key: issued }).await.with_context(unknown)? {
            Ok(done) => done,
            Err(refusal) => {
                if refusal.kind == RefusalKind::Unavailable {
                    say(&unknown());
                }
                return refuse(&refusal, output);
            }
        };
    applied::wait(config, done.position).await;
    let shown = Issued { key: key.expose(), key_id: key.id(), tier: &tier.name, quota: tier.quota };
    output.answer(&shown, || {
        format!(
            "{}\n\nKeep it: it is shown this once. Its id is {}, its tier {}: {} calls in a calendar month (UTC).",
            shown.key,
            shown.key_id,
            shown.tier,
            count(shown.quota)
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

fn wanted(config: &Config, name: Option<TierName>) -> Result<&Tier> {
    let Some(name) = name else { return Ok(config.tiers.first()) };
    config.tiers.get(&name).with_context(|| {
        let known: Vec<_> = config.tiers.iter().map(|tier| tier.name.as_str()).collect();
        format!("there is no tier “{name}”; there are {}", known.join(", "))
    })
}
