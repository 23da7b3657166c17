//! `loggia backup` and `loggia restore`: the event store, from which everything else is rebuilt, the vault, and the
//! pictures.

mod dated;

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use backup::{BackupError, Cut, Erased, LeftOut, Parent, Restored, Until};
use health::Health;
use schemas::clock::Clock;
use schemas::erased_pictures::ERASED_PICTURES;
use serde::Serialize;
use vault::ERASURES_FILE;
use write::service::CommandError;

use crate::clock;
use crate::compose;
use crate::compose::{KeptServices, WriteSide};
use crate::config::Config;
use crate::counted_calls;
use crate::data_folder::{DataFolder, Part};
use crate::output::{Output, count, say};
use crate::store;
use crate::store::keeper::Naming;
use crate::upkeep::LastBackup;

/// A backup that was made below a folder of backups.
#[derive(Serialize)]
struct Kept<'a> {
    #[serde(flatten)]
    copied: &'a Restored,
    folder: &'a Path,
    /// The folders of older backups that were removed.
    removed: &'a [PathBuf],
}

/// A backup that was restored.
#[derive(Serialize)]
struct Brought {
    #[serde(flatten)]
    restored: Restored,
    /// The accounts that were erased after the backup, and are erased again.
    erased_again: u64,
    /// The pictures that were erased after the backup, and that its log still showed.
    pictures_erased_again: u64,
}

/// The word that names the newest backup in the folder of all backups.
const LAST: &str = "last";

/// Copies the event store into a folder while it may run, or what it has since another backup. Where backups are kept, or the
/// last of them is continued, that is a new folder below this one.
pub async fn run(
    config: &Config,
    folder: &Path,
    keep: Option<NonZeroUsize>,
    since: Option<&Path>,
    output: Output,
) -> Result<()> {
    let is_last = since == Some(Path::new(LAST));
    let newest = if is_last { dated::newest(folder)? } else { None };
    if is_last && newest.is_none() {
        say(&format!(
            "{} has no backup yet that this one could continue: it is a full one",
            folder.display()
        ));
    }
    let since = if is_last { newest.as_deref() } else { since };
    if keep.is_some() || is_last {
        return routine(config, folder, keep, since, output).await;
    }
    let copied = copy(config, folder, since).await?;
    output.answer(&copied, || made(&copied, folder))
}

/// Makes a backup in a new folder below this one, and removes all but the newest.
async fn routine(
    config: &Config,
    folder: &Path,
    keep: Option<NonZeroUsize>,
    since: Option<&Path>,
    output: Output,
) -> Result<()> {
    let new = folder.join(dated::name(clock::now()));
    let copied = copy(config, &new, since).await?;
    let removed = match keep {
        Some(keep) => dated::remove_older(folder, &new, keep)?,
        None => Vec::new(),
    };
    output.answer(&Kept { copied: &copied, folder: &new, removed: &removed }, || {
        let removed = removed.iter().map(|folder| format!("\n{} is removed", folder.display()));
        made(&copied, &new) + &removed.collect::<String>()
    })
}

fn made(copied: &Restored, folder: &Path) -> String {
    if let Some(Parent { folder: parent, created, .. }) = &copied.manifest.parent {
        return format!(
            "{} since the backup of {created} are in {}; `loggia restore` of it needs that one too, in {}",
            contents(copied),
            folder.display(),
            parent.display()
        );
    }
    format!("{} are in {}; restore them with `loggia restore`", contents(copied), folder.display())
}

async fn copy(config: &Config, folder: &Path, since: Option<&Path>) -> Result<Restored> {
    refuse_parts_of(&DataFolder::new(&config.server.data), folder)?;
    let store = store::open_read_only(config).await?;
    let media = DataFolder::new(&config.server.data).media();
    let manifest = match since {
        None => backup::create(&store, folder, Some(&media)).await?,
        Some(last) => backup::create_since(&store, last, folder, Some(&media)).await?,
    };
    let pictures = manifest.media.as_ref().map_or(0, |media| media.pictures);
    let copied = Restored { manifest, pictures, cut: None };
    if let Some(secret) = &config.accounts.secret_file {
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
    let (created, position) = (copied.manifest.created, copied.manifest.position);
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    LastBackup { created, position, folder }.note(&config.server.data);
    Ok(copied)
}

/// Refuses a folder within one that the service itself fills.
fn refuse_parts_of(data: &DataFolder, folder: &Path) -> Result<()> {
    let wanted = std::path::absolute(folder)?;
    let own = [data.store(), data.models(), data.media(), data.nats(), data.spool(), data.snapshot()];
    for part in own {
        if wanted.starts_with(std::path::absolute(&part)?) {
            bail!(
                "{} is within {}, which Loggia itself fills; name a folder elsewhere, on another disk if you can",
                folder.display(),
                part.display()
            );
        }
    }
    Ok(())
}

/// Proves that a backup is whole, without restoring it.
pub async fn verify(folder: &Path, output: Output) -> Result<()> {
    let proven = backup::verify(folder).await?;
    warn_of_unlisted_pictures(&proven);
    output.answer(&proven, || {
        format!(
            "{} are in {}{}, each as it was written on {}; the last hash is {}",
            whole_contents(&proven),
            folder.display(),
            if proven.manifest.parent.is_some() { " and the backups that it continues" } else { "" },
            proven.manifest.created,
            proven.manifest.hash
        )
    })
}

/// Puts a backup into an empty data folder.
pub async fn restore(
    config: &Config,
    folder: &Path,
    until: Option<Until>,
    erasures: &[PathBuf],
    output: Output,
) -> Result<()> {
    if !store::is_here(config) {
        bail!(
            "a backup is restored into SQLite: leave store (LOGGIA_STORE) unset here, then bring the log to its place with \
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
    let restored = match backup::restore_until(folder, &store, Some(&data.media()), &erased, until).await {
        Err(BackupError::InTheWay(there)) => bail!(not_empty(config, &there)),
        restored => restored?,
    };
    warn_of_unlisted_pictures(&restored);
    if erasures.is_empty() && (restored.pictures > 0 || !restored.manifest.files.is_empty()) {
        say(&format!(
            "addresses and pictures that were erased after {} are here again, unless they are erased once more; where the \
             former folder or a newer backup is left, restore with --erasures and its {ERASURES_FILE}, and the same with \
             its {ERASED_PICTURES}",
            restored.manifest.created
        ));
    }
    let journals = [store.join(ERASURES_FILE), data.media().join(ERASED_PICTURES)];
    let mut brought = Brought { restored, erased_again: 0, pictures_erased_again: 0 };
    if journals.iter().any(|journal| journal.exists()) {
        (brought.erased_again, brought.pictures_erased_again) = erase_again(config).await?;
    }
    output.answer(&brought, || restored_sentence(&brought))
}

fn restored_sentence(brought: &Brought) -> String {
    let counts = [(brought.erased_again, "accounts"), (brought.pictures_erased_again, "pictures")];
    let again = counts.iter().filter(|(number, _)| *number > 0);
    let again: Vec<String> = again.map(|(number, what)| format!("{} {what}", count(*number))).collect();
    let contents = whole_contents(&brought.restored);
    let left_out = brought.restored.cut.as_ref().map(left_out).unwrap_or_default();
    if again.is_empty() {
        return format!("{contents} are restored; `loggia up` rebuilds the rest from them{left_out}");
    }
    format!(
        "{contents} are restored, and {} that were erased later are erased again; `loggia up` rebuilds the rest from \
         them{left_out}",
        again.join(" and ")
    )
}

/// What the backup has besides, on lines of its own.
fn left_out(cut: &Cut) -> String {
    let Cut { position, time, left_out: LeftOut { events, from, time: first, revoked_keys }, .. } = cut;
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

/// Ends the accounts and erases the pictures that the journals name and the restored log does not, and returns how many there
/// are of each.
async fn erase_again(config: &Config) -> Result<(u64, u64)> {
    let opened = compose::open_write_side(config, &Clock::system(), &Health::default(), Naming::None).await;
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

/// A backup of an early version does not list its pictures.
fn warn_of_unlisted_pictures(backup: &Restored) {
    if backup.manifest.media.is_none() {
        say(
            "the backup is of a version that did not list its pictures: whether some are missing cannot be proven",
        );
    }
}

/// What a folder of a backup has itself.
fn contents(copied: &Restored) -> String {
    let (events, calls) =
        copied.manifest.parent.as_ref().map_or((0, 0), |last| (last.position.0, last.calls.0));
    listed(copied, copied.manifest.position.0 - events, calls)
}

/// What a backup has together with those that it continues.
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
