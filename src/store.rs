//! The event store of a data folder: where it is, and how a command of the command line reads it while another process writes
//! to it.

pub mod keeper;

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use data_folder::{DataFolder, Part};
#[cfg(feature = "eventstore")]
use event_log::kurrent;
use event_log::{Damage, EventLog, LogLocation, Verified};
use schemas::envelope::Recorded;
use schemas::ids::Position;
use schemas::slug::Slug;
use vault::Vault;
use write::service::project_history;

use crate::config::Config;

/// The file of a log in SQLite.
const LOG: &str = "events.db";

/// How often a command that follows a remote log updates the replica.
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the folder of the event store; with a remote log, that of its replica, the vault and the ledger.
pub fn folder(config: &Config) -> PathBuf {
    match &config.store.place {
        Some(LogLocation::Sqlite(folder)) => folder.clone(),
        _ => DataFolder::new(&config.server.data).store(),
    }
}

/// Opens the event store for reading while another process may write to it; with a remote log its replica, once it is up to
/// date.
pub async fn open_read_only(config: &Config) -> Result<EventLog> {
    DataFolder::new(&config.server.data).check()?;
    require_log_here(config)?;
    let folder = folder(config);
    Ok(match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => kurrent::open_read_only(&folder, address).await?,
        Some(LogLocation::Sqlite(_)) | None => EventLog::open_read_only(&folder).await?,
    })
}

/// Checks that the log is in this data folder, and not in that of a write side on another machine. Fails if it is not;
/// the error says where to run the command.
pub fn require_log_here(config: &Config) -> Result<()> {
    let data = DataFolder::new(&config.server.data);
    let is_elsewhere = data.running(Part::Write).is_none()
        && (config.nats.url.is_some() || data.running(Part::Project).is_some());
    if is_elsewhere && is_here(config) && !has_log(config) {
        bail!(
            "this command reads the data folder of the write side, and {} has no event log: run it there, or name that \
             folder with --data or LOGGIA_DATA",
            config.server.data.display()
        );
    }
    Ok(())
}

/// Updates the replica of a remote log again and again, for a command that follows it without a running process; ends only with
/// an error. Waits permanently if the log is here.
pub async fn keep_updated(config: &Config) -> Result<Infallible> {
    if is_here(config) {
        std::future::pending::<()>().await;
    }
    loop {
        tokio::time::sleep(UPDATE_INTERVAL).await;
        open_read_only(config).await?.close().await;
    }
}

/// Checks that a remote log contains the events of its replica in this folder. Fails if it cannot be reached, or was
/// reset.
pub async fn check_replica(config: &Config) -> Result<()> {
    match &config.store.place {
        #[cfg(feature = "eventstore")]
        Some(LogLocation::EventStoreDb(address)) => {
            Ok(kurrent::check_replica(&folder(config), address).await?)
        }
        Some(LogLocation::Sqlite(_)) | None => Ok(()),
    }
}

/// Returns whether the folder of the event store has a log in SQLite.
pub fn has_log(config: &Config) -> bool {
    folder(config).join(LOG).exists()
}

/// Returns whether the log itself is on this machine, not in a remote store.
pub fn is_here(config: &Config) -> bool {
    matches!(config.store.place, Some(LogLocation::Sqlite(_)) | None)
}

/// Verifies the whole log, a remote one in its store. Calls `progress` with the last position that was verified.
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

/// Opens the vault for reading while another process may write to it; `None` if it never had an address.
pub async fn open_vault_read_only(config: &Config) -> Result<Option<Vault>> {
    Ok(Vault::open_read_only(&folder(config), config.accounts.secret_file.as_deref()).await?)
}

/// Returns every event of the project that has or had this slug; `None` if there is none.
pub async fn history(config: &Config, slug: &Slug) -> Result<Option<Vec<Recorded>>> {
    let store = open_read_only(config).await?;
    Ok(project_history(&store, slug).await?)
}
