//! `loggia backup` and `loggia restore`: the event store, from which everything else is rebuilt, the vault, and the
//! pictures.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use health::Health;
use serde::Serialize;
use write::clock::Clock;
use write::event_store::{BackupError, Restored, SqliteStore};
use write::vault::{ERASURES_FILE, FILE as VAULT_FILE, read_erasures};

use crate::config::Config;
use crate::counted_calls;
use crate::data_folder::{DataFolder, Part};
use crate::output::{Output, count, say};
use crate::session::{self, Naming, WriteSide};

/// A backup that was restored.
#[derive(Serialize)]
struct Brought {
    #[serde(flatten)]
    restored: Restored,
    /// The accounts that were erased after the backup, and are erased again.
    erased_again: u64,
}

/// Copies the event store into a folder while it may run.
pub async fn run(config: &Config, folder: &Path, output: Output) -> Result<()> {
    let store = session::open_store_read_only(config).await?;
    let manifest = store.backup(folder, Some(&DataFolder::new(&config.data).media())).await?;
    let pictures = manifest.media.as_ref().map_or(0, |media| media.pictures);
    let copied = Restored { manifest, pictures };
    if let Some(secret) = &config.secret_file {
        let secret = secret.display();
        say(&format!(
            "the secret of the vault is not in the backup, since it is kept elsewhere: keep {secret} too"
        ));
    }
    match counted_calls::missing_in_backup(config, folder).await {
        Ok(Some(missing)) if missing > 0 => say(&format!(
            "{} calls that were counted by now are not in the backup, since the ledger had not copied them yet; back up \
             again to have them, after the service has run for a moment",
            count(missing)
        )),
        Ok(_) => {}
        Err(error) => {
            say(&format!("whether the ledger in the backup has every counted call is not known: {error:#}"))
        }
    }
    output.answer(&copied, || {
        format!("{} are in {}; restore them with `loggia restore`", contents(&copied), folder.display())
    })
}

/// Proves that a backup is whole, without restoring it.
pub async fn verify(folder: &Path, output: Output) -> Result<()> {
    let proven = SqliteStore::verify_backup(folder).await?;
    warn_of_unlisted_pictures(&proven);
    output.answer(&proven, || {
        format!(
            "{} are in {}, each as it was written on {}; the last hash is {}",
            contents(&proven),
            folder.display(),
            proven.manifest.created,
            proven.manifest.hash
        )
    })
}

/// Puts a backup into an empty data folder.
pub async fn restore(config: &Config, folder: &Path, erasures: Option<&Path>, output: Output) -> Result<()> {
    if !session::store_is_here(config) {
        bail!(
            "a backup is restored into SQLite: leave store (LOGGIA_STORE) unset here, then bring the log to its place with \
             `loggia store copy sqlite:{} esdb://…`",
            session::store_folder(config).display()
        );
    }
    let erased = match erasures {
        Some(journal) => {
            read_erasures(journal)?.with_context(|| format!("{} is not there", journal.display()))?
        }
        None => Vec::new(),
    };
    let data = DataFolder::new(&config.data);
    let _held = data.hold(&[Part::Write, Part::Project])?;
    let store = session::store_folder(config);
    let others = [data.models(), data.nats(), store.join("replica.db")];
    if let Some(there) = others.into_iter().find(|path| path.exists()) {
        bail!(not_empty(config, &there));
    }
    let restored = match SqliteStore::restore(folder, &store, Some(&data.media()), &erased).await {
        Err(BackupError::InTheWay(there)) => bail!(not_empty(config, &there)),
        restored => restored?,
    };
    warn_of_unlisted_pictures(&restored);
    if erasures.is_none() && restored.manifest.files.iter().any(|file| file.name == VAULT_FILE) {
        say(&format!(
            "addresses that were erased after {} are known again, unless they are erased once more; where the former folder \
             or a newer backup is left, restore with --erasures and its {ERASURES_FILE}",
            restored.manifest.created
        ));
    }
    let has_journal = store.join(ERASURES_FILE).exists();
    let erased_again = if has_journal { erase_again(config).await? } else { 0 };
    let brought = Brought { restored, erased_again };
    output.answer(&brought, || {
        let contents = contents(&brought.restored);
        match brought.erased_again {
            0 => format!("{contents} are restored; `loggia up` rebuilds the rest from them"),
            again => format!(
                "{contents} are restored, and {} accounts that were erased later are erased again; `loggia up` rebuilds the \
                 rest from them",
                count(again)
            ),
        }
    })
}

/// Ends the accounts that the journal names and the restored log does not.
async fn erase_again(config: &Config) -> Result<u64> {
    let opened = session::open_write_side(config, &Clock::system(), &Health::default(), Naming::None).await;
    let WriteSide { store, service, .. } = opened.context(
        "the backup is restored; the accounts that were erased later are erased when `loggia up` starts",
    )?;
    let ended = service.finish_erasures().await.map_err(|refusal| anyhow!(refusal.detail));
    store.close().await;
    ended
}

fn not_empty(config: &Config, there: &Path) -> String {
    format!(
        "the data folder {} is not empty ({} is there); restore into a new one with --data DIR, so that nothing is \
         overwritten",
        config.data.display(),
        there.display()
    )
}

/// A backup of an early version does not list its pictures.
fn warn_of_unlisted_pictures(backup: &Restored) {
    if backup.manifest.media.is_none() {
        say(
            "the backup is of a version that did not list its pictures: whether some are missing cannot be proven",
        );
    }
}

fn contents(copied: &Restored) -> String {
    let mut contents = vec![format!("{} events", count(copied.manifest.position.0))];
    contents.extend(
        copied.manifest.ledger.as_ref().map(|ledger| format!("{} counted calls", count(ledger.position.0))),
    );
    if copied.pictures > 0 {
        contents.push(format!("{} pictures", count(copied.pictures)));
    }
    match contents.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => contents.concat(),
    }
}
