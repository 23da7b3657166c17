//! The file that is the replica of a remote log: its lock, its state, and the check that it belongs to that log.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::sqlite::{journal_files, reading};
use schemas::ids::{Position, StoreId};
use sqlx::{ConnectOptions, Connection};
use tokio::time::{Instant, sleep};

use super::address::Address;
use super::backend::Kurrent;
use super::error;
use crate::sqlite::{file, rows, tail};
use crate::{EventLog, Head, StoreError};

/// How long a write side waits for the replica's lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a reader waits for the process that follows the log.
const FOLLOWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The delay between two tries.
const POLL: Duration = Duration::from_millis(50);

/// Returns the path of the replica in a folder.
pub fn replica_path(folder: &Path) -> PathBuf {
    folder.join("replica.db")
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Replica {
    /// The id of the event store that it copies.
    pub(super) store: StoreId,
    pub(super) head: Head,
}

impl Replica {
    /// Returns the state of an existing replica. A damaged one is deleted: it is filled from the log again.
    pub(super) async fn load(path: &Path) -> Result<Option<Replica>, StoreError> {
        if !file::exists(path).await? {
            return Ok(None);
        }
        match Replica::read(path).await {
            Ok(replica) => Ok(Some(replica)),
            Err(StoreError::Corrupt(reason)) => {
                tracing::warn!(%reason, "the replica {} is damaged; it is filled again", path.display());
                delete(path)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the state, and verifies the events at the end.
    async fn read(path: &Path) -> Result<Replica, StoreError> {
        let mut reader = reading(path).connect().await?;
        let (store, _) = rows::log(&mut reader).await?;
        let head = tail(&mut reader).await?;
        reader.close().await?;
        Ok(Replica { store, head })
    }

    /// Checks that the replica belongs to this store, and that the log has the replica's last event. An empty replica of another
    /// store is deleted.
    pub(super) async fn check(
        &self,
        store: StoreId,
        remote: &mut Kurrent,
        path: &Path,
        address: &Address,
    ) -> Result<(), StoreError> {
        let Head { position, hash } = self.head;
        if position == Position::START {
            return if self.store == store { Ok(()) } else { delete(path) };
        }
        if self.store != store {
            let path = path.display();
            return Err(StoreError::unavailable(format!(
                "{path} is the replica of the event store {}, and {address} is {store}; set store (LOGGIA_STORE) to the \
                 right one, or use another data folder",
                self.store
            )));
        }
        match remote.hash_at(position).await? {
            Some(remote_hash) if remote_hash == hash => Ok(()),
            remote_hash => Err(error::reset(address, self.head, remote_hash.is_some(), Some(path))),
        }
    }
}

/// Takes the replica's lock, waiting briefly: a command that updates the replica holds it for a moment.
pub(super) async fn lock(path: &Path) -> Result<File, StoreError> {
    let until = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file::lock(path) {
            Err(StoreError::Unavailable(_)) if Instant::now() < until => sleep(POLL).await,
            outcome => return outcome,
        }
    }
}

/// Waits until the process that follows the log has added to this replica all that the log has now. If the log cannot be read, or
/// the replica does not grow, the replica is used as it is, with a warning.
pub(super) async fn wait_for_follower(replica: &EventLog, address: &Address) -> Result<(), StoreError> {
    let reading = async { Kurrent::connect(address).await?.head().await };
    let end = match reading.await {
        Ok(end) => end,
        Err(error) => {
            tracing::warn!("the log cannot be read, so the replica is used as it is: {error}");
            return Ok(());
        }
    };
    let mut head = replica.head().await?;
    if head.position > end.position {
        tracing::warn!("{}", error::reset(address, head, false, Some(replica.path())));
    }
    let until = Instant::now() + FOLLOWER_TIMEOUT;
    while head.position < end.position && Instant::now() < until {
        sleep(POLL).await;
        head = replica.head().await?;
    }
    if head.position < end.position {
        let lag = end.position.0 - head.position.0;
        tracing::warn!(
            lag,
            "the process that runs on this folder does not follow the log; the last events are missing here"
        );
    }
    Ok(())
}

fn delete(path: &Path) -> Result<(), StoreError> {
    for file in journal_files(path).iter().map(PathBuf::as_path).chain([path]) {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let reason = format!("{} cannot be removed: {error}", path.display());
                return Err(StoreError::unavailable(reason));
            }
            _ => {}
        }
    }
    Ok(())
}
