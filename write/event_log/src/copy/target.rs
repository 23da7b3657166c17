//! The log that is copied to: a file or a remote log.

use std::fs::File;
use std::path::PathBuf;

use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};
use sqlx::SqliteConnection;

use super::CopyError;
#[cfg(feature = "eventstore")]
use crate::kurrent::{self, Address, Kurrent};
use crate::sqlite::backend::ReplicatedEvent;
use crate::sqlite::{file, replay, rows, tail};
use crate::{EventLog, Head, LogLocation, StoreError};

pub(super) enum Target {
    File {
        folder: PathBuf,
        connection: SqliteConnection,
        head: Head,
        _lock: File,
    },
    #[cfg(feature = "eventstore")]
    Kurrent {
        remote: Box<Kurrent>,
        address: Address,
        head: Head,
    },
}

/// Returns the head of the log at a location, without changing it; the head of an empty log if there is none.
pub(super) async fn end(location: &LogLocation, store: StoreId) -> Result<Head, CopyError> {
    let empty = Head { position: Position::START, hash: Hash::GENESIS };
    match location {
        LogLocation::Sqlite(folder) => {
            let path = file::path(folder);
            if !file::exists(&path).await? {
                return Ok(empty);
            }
            let existing = EventLog::open_read_only(folder).await?;
            check_same(existing.store_id(), store)?;
            let head = existing.head().await?;
            existing.close().await;
            Ok(head)
        }
        #[cfg(feature = "eventstore")]
        LogLocation::EventStoreDb(address) => {
            let mut remote = Kurrent::connect(address).await?;
            let Some(existing) = remote.store().await? else { return Ok(empty) };
            check_same(existing, store)?;
            Ok(remote.head().await?)
        }
    }
}

impl Target {
    /// Opens the log of this store at a location, and creates it if it is absent.
    pub(super) async fn open(location: &LogLocation, store: StoreId) -> Result<Target, CopyError> {
        match location {
            LogLocation::Sqlite(folder) => {
                if folder.is_file() {
                    let reason = format!("{} is a file; name the folder of a store", folder.display());
                    return Err(StoreError::unavailable(reason).into());
                }
                let path = file::path(folder);
                let lock = file::lock(&path)?;
                let mut connection = file::open(&path, store, false).await?;
                let (existing, _) = rows::log(&mut connection).await?;
                check_same(existing, store)?;
                let head = tail(&mut connection).await?;
                Ok(Target::File { folder: folder.clone(), connection, head, _lock: lock })
            }
            #[cfg(feature = "eventstore")]
            LogLocation::EventStoreDb(address) => {
                let mut remote = Box::new(Kurrent::connect(address).await?);
                let existing = match remote.store().await? {
                    Some(existing) => existing,
                    None => remote.create_store(store).await?,
                };
                check_same(existing, store)?;
                let head = remote.head().await?;
                Ok(Target::Kurrent { remote, address: address.clone(), head })
            }
        }
    }

    pub(super) fn head(&self) -> Head {
        match self {
            Target::File { head, .. } => *head,
            #[cfg(feature = "eventstore")]
            Target::Kurrent { head, .. } => *head,
        }
    }

    /// Appends the next events and returns the last position.
    pub(super) async fn append(&mut self, events: &[ReplicatedEvent]) -> Result<Position, StoreError> {
        match self {
            Target::File { connection, head, .. } => *head = replay(connection, *head, events).await?,
            #[cfg(feature = "eventstore")]
            Target::Kurrent { remote, head, .. } => *head = remote.copy_events(*head, events).await?,
        }
        Ok(self.head().position)
    }

    pub(super) async fn verify(&mut self) -> Result<Head, CopyError> {
        let verified = match self {
            Target::File { folder, .. } => EventLog::open_read_only(folder).await?.verify(|_| {}).await?,
            #[cfg(feature = "eventstore")]
            Target::Kurrent { address, .. } => kurrent::verify(address, |_| {}).await?,
        };
        match verified {
            Ok(verified) => Ok(Head { position: Position(verified.events), hash: verified.hash }),
            Err(damage) => Err(CopyError::Different(format!("the copy differs from the log: {damage}"))),
        }
    }
}

fn check_same(existing: StoreId, store: StoreId) -> Result<(), CopyError> {
    match existing == store {
        true => Ok(()),
        false => Err(CopyError::Different(format!(
            "the target already contains the event store {existing}, and the source is {store}"
        ))),
    }
}
