//! The log that is copied: a file or a remote log.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use schemas::hash::Hash;
use schemas::ids::{Position, StoreId, StreamId};

#[cfg(feature = "eventstore")]
use crate::kurrent::{Kurrent, replica_path};
use crate::sqlite::backend::{ClaimedName, Page, ReplicatedEvent};
use crate::sqlite::file;
use crate::{EventLog, Head, LogLocation, StoreError};

/// The number of events read from a file at once.
const PAGE: usize = 2_000;

pub(super) enum Source {
    File {
        store: EventLog,
        /// The claims of streams of which no event was read yet. With which event a name was claimed is not stored, and as a name
        /// is held permanently, it may be copied with any event of its stream.
        claims: HashMap<StreamId, Vec<ClaimedName>>,
        _lock: File,
    },
    #[cfg(feature = "eventstore")]
    Kurrent { remote: Box<Kurrent>, store: StoreId },
}

impl Source {
    pub(super) async fn open(location: &LogLocation) -> Result<Source, StoreError> {
        match location {
            LogLocation::Sqlite(folder) => {
                let path = log_in(folder);
                if !file::exists(&path).await? {
                    let none = format!("there is no event store at {}", path.display());
                    return Err(StoreError::unavailable(none));
                }
                let lock = file::lock(&path)?;
                let store = EventLog::open_file_read_only(path).await?;
                let mut claims: HashMap<StreamId, Vec<ClaimedName>> = HashMap::new();
                for (namespace, name, stream) in store.all_claims().await? {
                    claims.entry(stream).or_default().push(ClaimedName { namespace, name });
                }
                Ok(Source::File { store, claims, _lock: lock })
            }
            #[cfg(feature = "eventstore")]
            LogLocation::EventStoreDb(address) => {
                let mut remote = Kurrent::connect(address).await?;
                let store = remote
                    .store()
                    .await?
                    .ok_or_else(|| StoreError::unavailable(format!("there is no event store {address}")))?;
                Ok(Source::Kurrent { remote: Box::new(remote), store })
            }
        }
    }

    pub(super) fn store(&self) -> StoreId {
        match self {
            Source::File { store, .. } => store.store_id(),
            #[cfg(feature = "eventstore")]
            Source::Kurrent { store, .. } => *store,
        }
    }

    pub(super) async fn head(&mut self) -> Result<Head, StoreError> {
        match self {
            Source::File { store, .. } => store.head().await,
            #[cfg(feature = "eventstore")]
            Source::Kurrent { remote, .. } => remote.head().await,
        }
    }

    pub(super) async fn hash_at(&mut self, position: Position) -> Result<Option<Hash>, StoreError> {
        match self {
            Source::File { store, .. } => {
                let events = store.read_all(Position(position.0.saturating_sub(1)), 1).await?;
                Ok(events.first().filter(|event| event.position == position).map(|event| event.hash))
            }
            #[cfg(feature = "eventstore")]
            Source::Kurrent { remote, .. } => remote.hash_at(position).await,
        }
    }

    pub(super) async fn read(&mut self, after: Position) -> Result<Page, StoreError> {
        match self {
            Source::File { store, claims, .. } => {
                let events = store.read_all(after, PAGE).await?.into_iter().map(|event| {
                    let claims = claims.remove(&event.stream).unwrap_or_default();
                    ReplicatedEvent { event, claims }
                });
                Ok(Page { events: events.collect(), more: true })
            }
            #[cfg(feature = "eventstore")]
            Source::Kurrent { remote, .. } => remote.page(after).await,
        }
    }
}

/// Returns the file of a log: the path itself if it is a file, else that of the folder; a replica if the folder has no log.
fn log_in(path: &Path) -> PathBuf {
    if path.is_file() {
        return path.to_owned();
    }
    let log = file::path(path);
    #[cfg(feature = "eventstore")]
    if !log.exists() && replica_path(path).exists() {
        return replica_path(path);
    }
    log
}
