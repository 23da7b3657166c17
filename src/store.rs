//! The event store of a data folder: where it is, and how a command of the command line reads it beside the process that
//! writes it.

pub mod keeper;

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
#[cfg(feature = "eventstore")]
use event_log::kurrent;
use event_log::{Damage, EventLog, LogLocation, Verified};
use schemas::envelope::Recorded;
use schemas::ids::Position;
use schemas::slug::Slug;
use vault::Vault;
use write::service::project_history;

use crate::config::Config;
use crate::data_folder::{DataFolder, Part};

/// The file of a log in SQLite.
const LOG: &str = "events.db";

/// How often a command that follows a log elsewhere brings the replica up to date.
const FRESH: Duration = Duration::from_secs(1);

/// The folder of the event store; where that is elsewhere, of its replica, the vault and the ledger.
pub fn folder(config: &Config) -> PathBuf {
    match &config.store.place {
        Some(LogLocation::Sqlite(folder)) => folder.clone(),
        _ => DataFolder::new(&config.server.data).store(),
    }
}

/// Opens the event store beside whoever writes it; one that is elsewhere by its replica, with all that it has now.
pub async fn open_read_only(config: &Config) -> Result<EventLog> {
    DataFolder::new(&config.server.data).check()?;
    refuse_other_folders(config)?;
    let folder = folder(config);
    Ok(match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => kurrent::open_read_only(&folder, address).await?,
        Some(LogLocation::Sqlite(_)) | None => EventLog::open_read_only(&folder).await?,
    })
}

/// Refuses a folder without a log where the write side is elsewhere, and has it in its own.
///
/// # Errors
///
/// Fails with where to run the command.
pub fn refuse_other_folders(config: &Config) -> Result<()> {
    let data = DataFolder::new(&config.server.data);
    let is_elsewhere = data.running(Part::Write).is_none()
        && (config.nats.url.is_some() || data.running(Part::Project).is_some());
    if is_elsewhere && is_here(config) && !has_log(config) {
        bail!(
            "this command reads the data folder of the write side, and {} has no log of events: run it there, or name that \
             folder with --data or LOGGIA_DATA",
            config.server.data.display()
        );
    }
    Ok(())
}

/// Brings the replica of a store that is elsewhere up to date again and again, where no process does that; ends only
/// with an error.
pub async fn keep_fresh(config: &Config) -> Result<Infallible> {
    if is_here(config) {
        std::future::pending::<()>().await;
    }
    loop {
        tokio::time::sleep(FRESH).await;
        open_read_only(config).await?.close().await;
    }
}

/// Whether the log that is elsewhere holds what its replica in this folder does.
///
/// # Errors
///
/// Where it cannot be asked, or was set back.
pub async fn check_replica(config: &Config) -> Result<()> {
    match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => {
            Ok(kurrent::check_replica(&folder(config), address).await?)
        }
        Some(LogLocation::Sqlite(_)) | None => Ok(()),
    }
}

/// Returns whether there is a log in SQLite in its folder.
pub fn has_log(config: &Config) -> bool {
    folder(config).join(LOG).exists()
}

/// Whether the log itself is on this machine.
pub fn is_here(config: &Config) -> bool {
    matches!(config.store.place, Some(LogLocation::Sqlite(_)) | None)
}

/// Checks the whole log, where it is. `progress` is told the last position that was found right.
pub async fn verify(
    config: &Config,
    progress: impl FnMut(Position) + Send,
) -> Result<Result<Verified, Damage>> {
    match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => Ok(kurrent::verify(address, progress).await?),
        Some(LogLocation::Sqlite(_)) | None => Ok(open_read_only(config).await?.verify(progress).await?),
    }
}

/// Opens the vault beside whoever writes it; nothing where no address was ever entered.
pub async fn open_vault_read_only(config: &Config) -> Result<Option<Vault>> {
    Ok(Vault::open_read_only(&folder(config), config.accounts.secret_file.as_deref()).await?)
}

/// Every event of the project that has or had this slug.
pub async fn history(config: &Config, slug: &Slug) -> Result<Option<Vec<Recorded>>> {
    let store = open_read_only(config).await?;
    Ok(project_history(&store, slug).await?)
}
