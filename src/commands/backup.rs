//! `loggia backup` and `loggia restore`: the event store, from which everything else is rebuilt, the ledger, the vault and the
//! pictures.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use ::backup::{
    BackupError, Erased, LastBackup, LeftOut, Parent, RestorePoint, Restored, Truncation, rotation,
};
use anyhow::{Context, Result, anyhow, bail};
use cli_output::{Output, count, say};
use data_folder::{DataFolder, Part};
use health::Health;
use schemas::clock::Clock;
use schemas::erased_pictures::ERASED_PICTURES;
use serde::Serialize;
use vault::ERASURES_FILE;
use write::service::CommandError;

use crate::compose;
use crate::compose::{KeptServices, WriteSide};
use crate::config::Config;
use crate::counted_calls;
use crate::process;
use crate::store;
use crate::store::keeper::KeeperClaim;

/// A backup that was made in a subfolder of a folder of backups.
#[derive(Serialize)]
struct RotatedBackup<'a> {
    #[serde(flatten)]
    copied: &'a Restored,
    folder: &'a Path,
    /// The folders of older backups that were removed.
    removed: &'a [PathBuf],
}

#[derive(Serialize)]
struct RestoredBackup {
    #[serde(flatten)]
    restored: Restored,
    /// The number of accounts that were erased after the backup, and are erased again.
    erased_again: u64,
    /// The number of pictures that were erased after the backup, and that its log still showed.
    pictures_erased_again: u64,
}

/// The word that names the newest backup in the folder of all backups.
const LAST: &str = "last";

/// Backs up into a folder while the service may run; with `since`, only what is new since another backup. With `keep`, or if the
/// newest backup is continued, the backup is in a new subfolder.
pub async fn run(
    config: &Config,
    folder: &Path,
    keep: Option<NonZeroUsize>,
    since: Option<&Path>,
    output: Output,
) -> Result<()> {
    let is_last = since == Some(Path::new(LAST));
    let newest = if is_last { rotation::newest(folder)? } else { None };
    if is_last && newest.is_none() {
        say(&format!(
            "{} has no backup yet that this one could build on: it is a full one",
            folder.display()
        ));
    }
    let since = if is_last { newest.as_deref() } else { since };
    if keep.is_some() || is_last {
        return rotate(config, folder, keep, since, output).await;
    }
    let copied = copy(config, folder, since).await?;
    Ok(output.answer(&copied, || copied_sentence(&copied, folder))?)
}

/// Backs up into a new subfolder, and removes all but the newest `keep` backups.
async fn rotate(
    config: &Config,
    folder: &Path,
    keep: Option<NonZeroUsize>,
    since: Option<&Path>,
    output: Output,
) -> Result<()> {
    let new = folder.join(rotation::name(process::now()));
    let copied = copy(config, &new, since).await?;
    let removed = match keep {
        Some(keep) => rotation::remove_older(folder, &new, keep)?,
        None => Vec::new(),
    };
    Ok(output.answer(&RotatedBackup { copied: &copied, folder: &new, removed: &removed }, || {
        let removed = removed.iter().map(|folder| format!("\n{} is removed", folder.display()));
        copied_sentence(&copied, &new) + &removed.collect::<String>()
    })?)
}

fn copied_sentence(copied: &Restored, folder: &Path) -> String {
    if let Some(Parent { folder: parent, created, .. }) = &copied.manifest.parent {
        return format!(
            "{} since the backup of {created} are in {}; `loggia restore` of it needs that backup too, in {}",
            contents(copied),
            folder.display(),
            parent.display()
        );
    }
    format!("{} are in {}; restore them with `loggia restore`", contents(copied), folder.display())
}

async fn copy(config: &Config, folder: &Path, since: Option<&Path>) -> Result<Restored> {
    require_outside(&DataFolder::new(&config.server.data), folder)?;
    let store = store::open_read_only(config).await?;
    let media = DataFolder::new(&config.server.data).media();
    let manifest = match since {
        None => ::backup::create(&store, folder, Some(&media)).await?,
        Some(last) => ::backup::create_since(&store, last, folder, Some(&media)).await?,
    };
    let pictures = manifest.media.as_ref().map_or(0, |media| media.pictures);
    let copied = Restored { manifest, pictures, truncation: None };
    if let Some(secret) = &config.accounts.secret_file {
        let secret = secret.display();
        say(&format!(
            "the secret of the vault is not in the backup, since it is kept elsewhere: keep {secret} too"
        ));
    }
    match counted_calls::missing_in_backup(config, folder).await {
        Ok(Some(missing)) if missing > 0 => say(&format!(
            "{} calls that are counted are not in the backup, since the ledger had not copied them yet; let the service run \
             for a moment and back up again to include them",
            count(missing)
        )),
        Ok(_) => {}
        Err(error) => {
            say(&format!("whether the ledger in the backup has every counted call is not known: {error:#}"))
        }
    }
    let (created, position) = (copied.manifest.created, copied.manifest.position);
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    LastBackup { created, position, folder }.record(&config.server.data);
    Ok(copied)
}

/// Checks that the folder is not within one that the service writes to.
fn require_outside(data: &DataFolder, folder: &Path) -> Result<()> {
    let wanted = std::path::absolute(folder)?;
    let own = [data.store(), data.models(), data.media(), data.nats(), data.spool(), data.snapshot()];
    for part in own {
        if wanted.starts_with(std::path::absolute(&part)?) {
            bail!(
                "{} is within {}, which Loggia writes to; name another folder, on another disk if possible",
                folder.display(),
                part.display()
            );
        }
    }
    Ok(())
}

/// Verifies that a backup is complete and undamaged, without restoring it.
pub async fn verify(folder: &Path, output: Output) -> Result<()> {
    let proven = ::backup::verify(folder).await?;
    warn_of_unlisted_pictures(&proven);
    Ok(output.answer(&proven, || {
        format!(
            "{} are in {}{}, each as it was written on {}; the last hash is {}",
            whole_contents(&proven),
            folder.display(),
            if proven.manifest.parent.is_some() { " and the backups that it builds on" } else { "" },
            proven.manifest.created,
            proven.manifest.hash
        )
    })?)
}

/// Restores a backup into an empty data folder.
pub async fn restore(
    config: &Config,
    folder: &Path,
    until: Option<RestorePoint>,
    erasures: &[PathBuf],
    output: Output,
) -> Result<()> {
    if !store::is_here(config) {
        bail!(
            "a backup is restored into SQLite: leave store (LOGGIA_STORE) unset here, then copy the log to its store with \
             `loggia store copy sqlite:{} esdb://…`",
            store::folder(config).display()
        );
    }
    let mut erased = Vec::new();
    for journal in erasures {
        erased.extend(Erased::read(journal)?);
    }
    let data = DataFolder::new(&config.server.data);
    let _held = data.hold(&[Part::Write, Part::Project])?;
    let store = store::folder(config);
    let others = [data.models(), data.nats(), store.join("replica.db")];
    if let Some(there) = others.into_iter().find(|path| path.exists()) {
        bail!(not_empty(config, &there));
    }
    let restored = match ::backup::restore_until(folder, &store, Some(&data.media()), &erased, until).await {
        Err(BackupError::InTheWay(there)) => bail!(not_empty(config, &there)),
        restored => restored?,
    };
    warn_of_unlisted_pictures(&restored);
    if erasures.is_empty() && (restored.pictures > 0 || !restored.manifest.files.is_empty()) {
        say(&format!(
            "addresses and pictures that were erased after {} are restored too; to erase them again, restore with --erasures \
             and the files {ERASURES_FILE} and {ERASED_PICTURES} of the former folder or of a newer backup",
            restored.manifest.created
        ));
    }
    let journals = [store.join(ERASURES_FILE), data.media().join(ERASED_PICTURES)];
    let mut backup = RestoredBackup { restored, erased_again: 0, pictures_erased_again: 0 };
    if journals.iter().any(|journal| journal.exists()) {
        (backup.erased_again, backup.pictures_erased_again) = erase_again(config).await?;
    }
    Ok(output.answer(&backup, || restored_sentence(&backup))?)
}

fn restored_sentence(backup: &RestoredBackup) -> String {
    let counts = [(backup.erased_again, "accounts"), (backup.pictures_erased_again, "pictures")];
    let again = counts.iter().filter(|(number, _)| *number > 0);
    let again: Vec<String> = again.map(|(number, what)| format!("{} {what}", count(*number))).collect();
    let contents = whole_contents(&backup.restored);
    let left_out = backup.restored.truncation.as_ref().map(left_out).unwrap_or_default();
    if again.is_empty() {
        return format!("{contents} are restored; `loggia up` rebuilds the rest from them{left_out}");
    }
    format!(
        "{contents} are restored, and {} that were erased later are erased again; `loggia up` rebuilds the rest from \
         them{left_out}",
        again.join(" and ")
    )
}

/// Returns what the backup has after the restored position, on lines of its own.
fn left_out(truncation: &Truncation) -> String {
    let Truncation { position, time, left_out: LeftOut { events, from, time: first, revoked_keys }, .. } =
        truncation;
    let plural = if *events == 1 { "" } else { "s" };
    let mut text = format!(
        "\nthe last event is that at position {position}, recorded on {time}; left out: {} event{plural} from position \
         {from} on, the first recorded on {first}",
        count(*events)
    );
    if !revoked_keys.is_empty() {
        let keys: Vec<String> = revoked_keys.iter().map(ToString::to_string).collect();
        text.push_str(&format!(
            "\nkeys that were revoked later are valid again; revoke them with `loggia keys revoke`: {}",
            keys.join(", ")
        ));
    }
    text
}

/// Erases the accounts and the pictures that the journals name and the restored log still has. Returns the number of each.
async fn erase_again(config: &Config) -> Result<(u64, u64)> {
    let opened =
        compose::open_write_side(config, &Clock::system(), &Health::default(), KeeperClaim::None).await;
    let WriteSide { store, kept, .. } =
        opened.context("the backup is restored; what was erased later is erased when `loggia up` starts")?;
    let erased = async {
        let actor = "loggia".parse()?;
        let KeptServices { accounts, pictures, .. } = kept.context(CommandError::NoAddresses)?;
        let failed = |error: CommandError| anyhow!(error.to_string());
        let accounts = accounts.finish_erasures().await.map_err(failed)?;
        let pictures = pictures.finish_erasures(&HashSet::new(), &actor).await.map_err(failed)?;
        anyhow::Ok((accounts, pictures))
    }
    .await;
    store.close().await;
    erased
}

fn not_empty(config: &Config, there: &Path) -> String {
    format!(
        "the data folder {} is not empty ({} is there); restore into a new one with --data DIR, so that nothing is \
         overwritten",
        config.server.data.display(),
        there.display()
    )
}

/// Warns if the backup does not list its pictures, as those of early versions.
fn warn_of_unlisted_pictures(backup: &Restored) {
    if backup.manifest.media.is_none() {
        say(
            "the backup is of a version that did not list its pictures: whether some are missing is not known",
        );
    }
}

/// Returns what the folder of a backup has, without the backups that it builds on.
fn contents(copied: &Restored) -> String {
    let (events, calls) =
        copied.manifest.parent.as_ref().map_or((0, 0), |last| (last.position.0, last.calls.0));
    listed(copied, copied.manifest.position.0 - events, calls)
}

/// Returns what a backup has, with those that it builds on.
fn whole_contents(copied: &Restored) -> String {
    listed(copied, copied.events(), 0)
}

fn listed(copied: &Restored, events: u64, calls_before: u64) -> String {
    let mut contents = vec![format!("{} events", count(events))];
    let calls = copied.manifest.ledger.as_ref().map(|ledger| ledger.position.0.saturating_sub(calls_before));
    contents.extend(calls.map(|calls| format!("{} counted calls", count(calls))));
    if copied.pictures > 0 {
        contents.push(format!("{} pictures", count(copied.pictures)));
    }
    match contents.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => contents.concat(),
    }
}
