//! The event log in EventStoreDB or KurrentDB: one stream there is the log, its revisions are the positions less one, and each
//! append names the revision that it follows, so that any number of write sides may append. Each write side has a replica of the
//! log in a file, which all reads and decisions use.

mod address;
mod append_stream;
mod backend;
mod encoding;
mod error;
mod keeper;
mod replica;

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use health::Health;
use schemas::clock::Clock;
use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};

use super::sqlite::{file, head_after};
use super::{Damage, EventLog, Head, StoreError, Verified};
pub use address::{Address, InvalidAddress};
use backend::Follower;
pub(crate) use backend::Kurrent;
pub use keeper::KeeperWatch;
use replica::Replica;
pub use replica::replica_path;

/// Opens the log for writing, with its replica in a folder of this machine, and creates what is absent. Returns once the replica
/// has all that the log had. While the log cannot be read, the component "event store" of `health` fails.
///
/// # Errors
///
/// Fails if the log cannot be reached, is another one than the replica's or was reset, or another process has the replica open.
pub async fn open(
    folder: &Path,
    address: &Address,
    clock: &Clock,
    health: &Health,
) -> Result<EventLog, StoreError> {
    if address.trusts_any_server() {
        tracing::warn!(
            "tlsVerifyCert=false in store (LOGGIA_STORE): whatever server answers is taken for {address}, and may read the \
             password and all that is written; name the authority of its certificate with tlsCaFile instead"
        );
    }
    let lock = replica::lock(&replica_path(folder)).await?;
    open_locked(folder, lock, address, Some(clock.store_id()), health).await
}

/// Opens the replica for reading, with all that the log has now.
///
/// # Errors
///
/// Fails as [`open`] does; if another process follows the log, only if the replica cannot be read.
pub async fn open_read_only(folder: &Path, address: &Address) -> Result<EventLog, StoreError> {
    let path = replica_path(folder);
    let lock = match file::lock(&path) {
        Ok(lock) => lock,
        Err(held) if !path.exists() => return Err(held),
        Err(_) => {
            let store = EventLog::open_file_read_only(path).await?;
            replica::wait_for_follower(&store, address).await?;
            return Ok(store);
        }
    };
    open_locked(folder, lock, address, None, &Health::default()).await?.close().await;
    EventLog::open_file_read_only(path).await
}

/// Checks that the log has the last event of its replica in a folder.
///
/// # Errors
///
/// Fails if the log cannot be read, is another one, or was reset to an earlier state.
pub async fn check_replica(folder: &Path, address: &Address) -> Result<(), StoreError> {
    let path = replica_path(folder);
    let mut remote = Kurrent::connect(address).await?;
    if !file::exists(&path).await? {
        return Ok(());
    }
    let store = EventLog::open_file_read_only(path.clone()).await?;
    let replica = Replica { store: store.store_id(), head: store.head().await? };
    store.close().await;
    let there = remote.store().await?.ok_or_else(|| error::no_store(address))?;
    match replica.head.position {
        Position::START => Ok(()),
        _ => replica.check(there, &mut remote, &path, address).await,
    }
}

/// Reads the whole log and verifies the position, version and hash of every event. `progress` receives the last verified position.
///
/// # Errors
///
/// Fails if the log cannot be read; damage is in the inner result.
pub async fn verify(
    address: &Address,
    mut progress: impl FnMut(Position) + Send,
) -> Result<Result<Verified, Damage>, StoreError> {
    let mut remote = Kurrent::connect(address).await?;
    if remote.store().await?.is_none() {
        return Err(error::no_store(address));
    }
    let mut head = Head { position: Position::START, hash: Hash::GENESIS };
    let mut ends = HashMap::new();
    loop {
        let position = head.position.next();
        let page = match remote.page(head.position).await {
            Ok(page) => page,
            Err(StoreError::Corrupt(reason)) => return Ok(Err(Damage { position, reason })),
            Err(error) => return Err(error),
        };
        for event in &page.events {
            head = match head_after(head, std::slice::from_ref(event), &mut ends) {
                Ok(head) => head,
                Err(StoreError::Corrupt(reason)) => {
                    return Ok(Err(Damage { position: head.position.next(), reason }));
                }
                Err(error) => return Err(error),
            };
        }
        progress(head.position);
        if !page.more {
            return Ok(Ok(Verified { events: head.position.0, hash: head.hash }));
        }
    }
}

async fn open_locked(
    folder: &Path,
    lock: File,
    address: &Address,
    new: Option<StoreId>,
    health: &Health,
) -> Result<EventLog, StoreError> {
    let path = replica_path(folder);
    let follower = Follower { replica: path.clone(), component: health.component("event store") };
    let mut remote = Kurrent::connect(address).await?.followed_by(follower);
    let replica = Replica::load(&path).await?;
    let store = match (remote.store().await?, new) {
        (Some(store), _) => store,
        (None, Some(_)) if replica.is_some_and(|replica| replica.head.position > Position::START) => {
            return Err(StoreError::unavailable(format!(
                "{} is the replica of a log, and {} has none; set store (LOGGIA_STORE) to the one it had, or copy the log \
                 there with `loggia store copy`",
                path.display(),
                address
            )));
        }
        (None, Some(new)) => remote.create_store(new).await?,
        (None, None) => return Err(error::no_store(address)),
    };
    if let Some(replica) = replica {
        replica.check(store, &mut remote, &path, address).await?;
    }
    EventLog::open_replica(path, lock, store, remote).await
}
