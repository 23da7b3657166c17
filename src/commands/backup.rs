//! `loggia backup` and `loggia restore`: the event store, from which everything else is rebuilt, the vault, and the
//! pictures.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;
use write::event_store::{Manifest, SqliteStore};
use write::media::MediaStore;

use crate::config::Config;
use crate::data_folder::{DataFolder, Part};
use crate::output::{Output, count, say};
use crate::session;

/// Where a backup keeps the pictures.
const MEDIA: &str = "media";

/// What was copied.
#[derive(Serialize)]
struct Copied {
    #[serde(flatten)]
    manifest: Manifest,
    pictures: u64,
}

/// Copies the event store into a folder while it may run.
pub async fn run(config: &Config, folder: &Path, output: Output) -> Result<()> {
    let store = session::open_store_read_only(config).await?;
    let manifest = store.backup(folder).await?;
    // After the log: a picture is kept before its event, so none that the copied log names is missing.
    let pictures = copy_pictures(DataFolder::new(&config.data).media(), folder.join(MEDIA)).await?;
    let copied = Copied { manifest, pictures };
    if let Some(secret) = &config.secret_file {
        let secret = secret.display();
        say(&format!(
            "the secret of the vault is not in the backup, since it is kept elsewhere: keep {secret} too"
        ));
    }
    output.answer(&copied, || {
        format!("{} are in {}; restore them with `loggia restore`", contents(&copied), folder.display())
    })
}

/// Copies the pictures of one media folder into another.
async fn copy_pictures(from: PathBuf, to: PathBuf) -> Result<u64> {
    let copying = move || {
        let from = MediaStore::open_read_only(&from);
        from.copy_to(&MediaStore::open(&to)?)
    };
    Ok(tokio::task::spawn_blocking(copying).await??)
}

/// Puts a backup into an empty data folder.
pub async fn restore(config: &Config, folder: &Path, output: Output) -> Result<()> {
    if !session::store_is_here(config) {
        bail!(
            "a backup is restored into SQLite: leave store (LOGGIA_STORE) unset here, then bring the log to its place with \
             `loggia store copy sqlite:{} esdb://…`",
            session::store_folder(config).display()
        );
    }
    let data = DataFolder::new(&config.data);
    let _held = data.hold(&[Part::Write, Part::Project])?;
    let store = session::store_folder(config);
    if store.exists() || data.models().exists() || data.nats().exists() {
        bail!(
            "the data folder {} is not empty; restore into a new one with --data DIR, so that nothing is overwritten",
            config.data.display()
        );
    }
    // The pictures first: a folder with an event store is a restored one.
    let pictures = copy_pictures(folder.join(MEDIA), data.media()).await?;
    let manifest = SqliteStore::restore(folder, &store).await?;
    let copied = Copied { manifest, pictures };
    output.answer(&copied, || {
        format!("{} are restored; `loggia up` rebuilds the rest from them", contents(&copied))
    })
}

fn contents(copied: &Copied) -> String {
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
