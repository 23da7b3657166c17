//! Where a log is copied to.

use std::fs::File;
use std::path::PathBuf;

use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};
use sqlx::SqliteConnection;

use super::CopyError;
#[cfg(feature = "eventstore")]
use crate::kurrent::{self, Address, Kurrent};
use crate::sqlite::backend::Replicated;
use crate::sqlite::{file, replay, rows, tail};
use crate::{EventLog, Head, LogPlace, StoreError};

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

/// Where the log ends at a place, which is left as it is; an empty log where there is none.
pub(super) async fn end(place: &LogPlace, store: StoreId) -> Result<Head, CopyError> {
    let none = Head { position: Position::START, hash: Hash::GENESIS };
    match place {
        LogPlace::Sqlite(folder) => {
            let path = file::path(folder);
            if !file::exists(&path).await? {
                return Ok(none);
            }
            let there = EventLog::open_read_only(folder).await?;
            same(there.store_id(), store)?;
            let head = there.head().await?;
            there.close().await;
            Ok(head)
        }
        #[cfg(feature = "eventstore")]
        LogPlace::EventStoreDb(address) => {
            let mut remote = Kurrent::reach(address).await?;
            let Some(there) = remote.store().await? else { return Ok(none) };
            same(there, store)?;
            Ok(remote.end().await?)
        }
    }
}

impl Target {
    /// Opens the place for the log of this store, and makes it where it is absent.
    pub(super) async fn open(place: &LogPlace, store: StoreId) -> Result<Target, CopyError> {
        match place {
            LogPlace::Sqlite(folder) => {
                if folder.is_file() {
                    let reason = format!("{} is a file; name the folder of a store", folder.display());
                    return Err(StoreError::unavailable(reason).into());
                }
                let path = file::path(folder);
                let lock = file::lock(&path)?;
                let mut connection = file::open(&path, store, false).await?;
                let (there, _) = rows::log(&mut connection).await?;
                same(there, store)?;
                let head = tail(&mut connection).await?;
                Ok(Target::File { folder: folder.clone(), connection, head, _lock: lock })
            }
            #[cfg(feature = "eventstore")]
            LogPlace::EventStoreDb(address) => {
                let mut remote = Box::new(Kurrent::reach(address).await?);
                let there = match remote.store().await? {
                    Some(there) => there,
                    None => remote.found(store).await?,
                };
                same(there, store)?;
                let head = remote.end().await?;
                Ok(Target::Kurrent { remote, address: address.clone(), head })
            }
        }
    }

    /// Where its log ends.
    pub(super) fn head(&self) -> Head {
        match self {
            Target::File { head, .. } => *head,
            #[cfg(feature = "eventstore")]
            Target::Kurrent { head, .. } => *head,
        }
    }

    /// Appends the next events, and says where the log ends then.
    pub(super) async fn append(&mut self, events: &[Replicated]) -> Result<Position, StoreError> {
        match self {
            Target::File { connection, head, .. } => *head = replay(connection, *head, events).await?,
            #[cfg(feature = "eventstore")]
            Target::Kurrent { remote, head, .. } => *head = remote.carry(*head, events).await?,
        }
        Ok(self.head().position)
    }

    /// Checks the whole log against its hashes, and says where it ends.
    pub(super) async fn prove(&mut self) -> Result<Head, CopyError> {
        let proven = match self {
            Target::File { folder, .. } => EventLog::open_read_only(folder).await?.verify(|_| {}).await?,
            #[cfg(feature = "eventstore")]
            Target::Kurrent { address, .. } => kurrent::verify(address, |_| {}).await?,
        };
        match proven {
            Ok(verified) => Ok(Head { position: Position(verified.events), hash: verified.hash }),
            Err(damage) => Err(CopyError::Different { reason: format!("the copy is not the log: {damage}") }),
        }
    }
}

fn same(there: StoreId, store: StoreId) -> Result<(), CopyError> {
    match there == store {
        true => Ok(()),
        false => Err(CopyError::Different {
            reason: format!("there is the event store {there} already, and this one is {store}"),
        }),
    }
}
