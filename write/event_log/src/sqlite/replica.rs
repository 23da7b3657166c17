//! A file that is the replica of a log elsewhere.

use std::fs::File;
use std::path::{Path, PathBuf};

use ::sqlite::reading;
use schemas::ids::StoreId;
use sqlx::{ConnectOptions, Connection};

use super::EventLog;
use super::backend::Backend;
use super::rows;
use super::writer::{Writer, tail};
use crate::{Head, StoreError};

/// What a replica says of itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replica {
    /// Which log it is of.
    pub(crate) store: StoreId,
    /// How far it goes.
    pub(crate) head: Head,
}

impl Replica {
    /// Looks at a file that is there, and at the events at its end.
    pub(crate) async fn read(path: &Path) -> Result<Replica, StoreError> {
        let mut reader = reading(path).connect().await?;
        let (store, _) = rows::log(&mut reader).await?;
        let head = tail(&mut reader).await?;
        reader.close().await?;
        Ok(Replica { store, head })
    }
}

impl EventLog {
    /// Opens a replica whose lock is held, brings it up to date, and appends through it from now on.
    pub(crate) async fn open_replica<B: Backend>(
        path: PathBuf,
        lock: File,
        store: StoreId,
        backend: B,
    ) -> Result<EventLog, StoreError> {
        let mut writer = Writer::open(&path, lock, store, backend, None).await?;
        let before = writer.head().position;
        writer.catch_up().await?;
        let head = writer.head().position;
        if head > before {
            tracing::info!(events = head.0 - before.0, %head, "the replica has what was appended elsewhere");
        }
        Ok(EventLog::written_by(writer, path))
    }
}
