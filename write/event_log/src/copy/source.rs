//! The log that is copied.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use schemas::hash::Hash;
use schemas::ids::{Position, StoreId, StreamId};

#[cfg(feature = "eventstore")]
use crate::kurrent::{Kurrent, replica_path};
use crate::sqlite::backend::{ClaimedName, Page, Replicated};
use crate::sqlite::file;
use crate::{EventLog, Head, LogPlace, StoreError};

/// Events read from a file at once.
const PAGE: usize = 2_000;

pub(super) enum Source {
    File {
        store: EventLog,
        /// What each stream claims that was not read yet. When it did so is not kept: a name belongs to its stream for
        /// ever, so that it may come with any of its events.
        claims: HashMap<StreamId, Vec<ClaimedName>>,
        _lock: File,
    },
    #[cfg(feature = "eventstore")]
    Kurrent { remote: Box<Kurrent>, store: StoreId },
}

impl Source {
    pub(super) async fn open(place: &LogPlace) -> Result<Source, StoreError> {
        match place {
            LogPlace::Sqlite(folder) => {
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
            LogPlace::EventStoreDb(address) => {
                let mut remote = Kurrent::reach(address).await?;
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
            Source::Kurrent { remote, .. } => remote.end().await,
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
                    Replicated { event, claims }
                });
                Ok(Page { events: events.collect(), more: true })
            }
            #[cfg(feature = "eventstore")]
            Source::Kurrent { remote, .. } => remote.page(after).await,
        }
    }
}

/// The file that holds a log: the one that is named, or that of a folder; where a folder holds only the replica of a log
/// elsewhere, that.
fn log_in(place: &Path) -> PathBuf {
    let path = file::path(place);
    if place.is_file() {
        return place.to_owned();
    }
    #[cfg(feature = "eventstore")]
    if !path.exists() && replica_path(place).exists() {
        return replica_path(place);
    }
    path
}
