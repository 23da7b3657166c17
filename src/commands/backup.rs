//! `loggia backup` and `loggia restore`: the event store, from which everything else is rebuilt, and the vault.

use std::path::Path;

use anyhow::{Result, bail};
use write::event_store::{Manifest, SqliteStore};

use crate::config::Config;
use crate::data_folder::{DataFolder, Part};
use crate::output::{Output, count, say};
use crate::session;

/// Copies the event store into a folder while it may run.
pub async fn run(config: &Config, folder: &Path, output: Output) -> Result<()> {
    let store = session::open_store_read_only(config).await?;
    let manifest = store.backup(folder).await?;
    if let Some(secret) = &config.secret_file {
        let secret = secret.display();
        say(&format!(
            "the secret of the vault is not in the backup, since it is kept elsewhere: keep {secret} too"
        ));
    }
    output.answer(&manifest, || {
        format!("{} are in {}; restore them with `loggia restore`", contents(&manifest), folder.display())
    })
}

/// Puts a backup into an empty data folder.
pub async fn restore(config: &Config, folder: &Path, output: Output) -> Result<()> {
    let data = DataFolder::new(&config.data);
    let _held = data.hold(&[Part::Write, Part::Project])?;
    let store = session::store_folder(config);
    if store.exists() || data.models().exists() || data.nats().exists() {
        bail!(
            "the data folder {} is not empty; restore into a new one with --data DIR, so that nothing is overwritten",
            config.data.display()
        );
    }
    let manifest = SqliteStore::restore(folder, &store).await?;
    output.answer(&manifest, || {
        format!("{} are restored; `loggia up` rebuilds the rest from them", contents(&manifest))
    })
}

fn contents(manifest: &Manifest) -> String {
    let events = format!("{} events", count(manifest.position.0));
    match &manifest.ledger {
        None => events,
        Some(ledger) => format!("{events} and {} counted calls", count(ledger.position.0)),
    }
}
