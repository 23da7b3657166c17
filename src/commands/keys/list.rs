//! `loggia keys list`: every key in the log, with its address and its name from the vault.

use std::collections::HashMap;
use std::process::ExitCode;

use anyhow::Result;
use cli_output::Output;
use data_folder::DataFolder;
use jiff::Timestamp;
use schemas::email::Email;
use schemas::ids::AccountId;
use schemas::key::KeyId;
use schemas::tier::TierName;
use serde::Serialize;
use vault::Vault;
use write::account::{Account, KeyState};
use write::service::{read_account, read_accounts};

use crate::config::Config;
use crate::counted_calls;
use crate::store;

const HEADINGS: [&str; 8] = ["key", "hint", "tier", "created", "revoked", "proven", "address", "name"];

#[derive(Serialize)]
struct Row {
    key_id: KeyId,
    hint: String,
    name: Option<String>,
    tier: TierName,
    created_at: Timestamp,
    /// When its last counted call was answered, from the counters of this folder.
    last_used_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    proven: bool,
    /// The address; absent once it is erased.
    email: Option<String>,
}

/// Lists all keys, or those of one address, in the order in which they were issued.
pub(super) async fn run(config: &Config, email: Option<&Email>, output: Output) -> Result<ExitCode> {
    let vault = store::open_vault_read_only(config).await?;
    let mut rows = match email {
        Some(email) => rows_of(config, vault.as_ref(), email).await?,
        None => all_rows(config, vault.as_ref()).await?,
    };
    rows.sort_by_key(|row| row.created_at);
    if output.is_json() {
        let used = last_used(config).await?;
        rows.iter_mut().for_each(|row| row.last_used_at = used.get(&row.key_id).copied());
    }
    let none = if email.is_some() { "there is no key under this address" } else { "there are no keys yet" };
    output.rows(&rows, HEADINGS, cells, none)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns when each key was used last; empty if no projection ever ran on this folder.
async fn last_used(config: &Config) -> Result<HashMap<KeyId, Timestamp>> {
    match counted_calls::counters(&DataFolder::new(&config.server.data)).await? {
        Some(counters) => Ok(counters.last_used_of_all().await?),
        None => Ok(HashMap::new()),
    }
}

async fn rows_of(config: &Config, vault: Option<&Vault>, email: &Email) -> Result<Vec<Row>> {
    let store = store::open_read_only(config).await?;
    let Some(vault) = vault else { return Ok(Vec::new()) };
    let Some(id) = vault.account_of(email).await? else { return Ok(Vec::new()) };
    let kept = vault.email_of(id).await?;
    let names = vault.key_names(Some(id)).await?;
    Ok(rows(&read_account(&store, id).await?, kept.as_ref(), &names))
}

async fn all_rows(config: &Config, vault: Option<&Vault>) -> Result<Vec<Row>> {
    let store = store::open_read_only(config).await?;
    let accounts = read_accounts(&store).await?;
    let (emails, names) = match vault {
        Some(vault) => (vault.emails().await?.into_iter().collect(), vault.key_names(None).await?),
        None => (HashMap::<AccountId, Email>::new(), HashMap::new()),
    };
    Ok(accounts.iter().flat_map(|(id, account)| rows(account, emails.get(id), &names)).collect())
}

fn rows(account: &Account, email: Option<&Email>, names: &HashMap<KeyId, String>) -> Vec<Row> {
    let row = |key: &KeyState| Row {
        key_id: key.issued.key_id,
        hint: key.issued.hint.clone(),
        // Events of version 0.1 have the name in the log.
        name: names.get(&key.issued.key_id).or(key.issued.name.as_ref()).cloned(),
        tier: key.tier.clone(),
        created_at: key.issued_at,
        last_used_at: None,
        revoked_at: key.revoked,
        proven: key.proven,
        email: email.map(|email| email.as_str().to_owned()),
    };
    account.keys().iter().map(row).collect()
}

fn cells(row: &Row) -> [String; 8] {
    let time = |time: Timestamp| format!("{time:.0}");
    [
        row.key_id.to_string(),
        format!("…{}", row.hint),
        row.tier.to_string(),
        time(row.created_at),
        row.revoked_at.map_or_else(|| "-".into(), time),
        if row.proven { "yes" } else { "no" }.into(),
        row.email.clone().unwrap_or_else(|| "-".into()),
        row.name.clone().unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests;
