//! The event store in EventStoreDB or KurrentDB: one stream there is the log, its revisions are the positions less one,
//! and each append names the revision that it follows, so that any number of write sides may append. Each keeps a
//! replica of the log in a file, which all reading and all deciding is done on.

mod address;
mod appends;
mod backend;
mod fault;
mod keeper;
mod stored;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::sqlite::sidecar_files;
use health::Health;
use schemas::clock::Clock;
use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};
use tokio::time::{Instant, sleep};

use super::sqlite::file;
use super::sqlite::{Replica, follow};
use super::{Damage, EventLog, Head, StoreError, Verified};
pub use address::{Address, InvalidAddress};
use backend::Follower;
pub(crate) use backend::Kurrent;
pub use keeper::KeeperWatch;

/// The replica's file in the store's folder.
const REPLICA: &str = "replica.db";

/// How long a write side waits for the replica's lock, and how often it tries.
const LOCKED_WITHIN: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// How long a reader waits for the process that follows the log.
const FOLLOWED_WITHIN: Duration = Duration::from_secs(5);

/// Where the replica of a folder is.
pub fn replica_path(folder: &Path) -> PathBuf {
    folder.join(REPLICA)
}

/// Opens the store for writing, its replica in a folder of this machine, and makes what is absent. It returns once the
/// replica has all that the log had. While the log cannot be read, the component "event store" of `health` fails.
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
    let lock = locked(&replica_path(folder)).await?;
    open_locked(folder, lock, address, Some(clock.store_id()), health).await
}

/// Opens the replica for reading, with all that the log has now.
pub async fn open_read_only(folder: &Path, address: &Address) -> Result<EventLog, StoreError> {
    let path = replica_path(folder);
    let lock = match file::lock(&path) {
        Ok(lock) => lock,
        Err(held) if !path.exists() => return Err(held),
        Err(_) => {
            let store = EventLog::open_file_read_only(path).await?;
            follows(&store, address).await?;
            return Ok(store);
        }
    };
    open_locked(folder, lock, address, None, &Health::default()).await?.close().await;
    EventLog::open_file_read_only(path).await
}

/// Waits until the process that follows the log into this replica has brought all that the log holds now. Where the log
/// cannot be asked, or nothing comes, the replica is shown as it is, with a warning.
async fn follows(store: &EventLog, address: &Address) -> Result<(), StoreError> {
    let asked = async { Kurrent::reach(address).await?.end().await };
    let end = match asked.await {
        Ok(end) => end,
        Err(error) => {
            tracing::warn!("this is what the replica has, the log itself was not asked: {error}");
            return Ok(());
        }
    };
    let mut head = store.head().await?;
    if head.position > end.position {
        tracing::warn!("{}", fault::set_back(address, head, false, Some(store.path())));
    }
    let until = Instant::now() + FOLLOWED_WITHIN;
    while head.position < end.position && Instant::now() < until {
        sleep(PAUSE).await;
        head = store.head().await?;
    }
    if head.position < end.position {
        let behind = end.position.0 - head.position.0;
        tracing::warn!(
            behind,
            "the process that runs on this folder does not follow the log; the last events are missing here"
        );
    }
    Ok(())
}

/// Looks whether the log holds what its replica in a folder ends with.
///
/// # Errors
///
/// Where the log cannot be asked, is another one, or was set back.
pub async fn check_replica(folder: &Path, address: &Address) -> Result<(), StoreError> {
    let path = replica_path(folder);
    let mut remote = Kurrent::reach(address).await?;
    if !file::exists(&path).await? {
        return Ok(());
    }
    let store = EventLog::open_file_read_only(path.clone()).await?;
    let kept = Replica { store: store.store_id(), head: store.head().await? };
    store.close().await;
    let there = remote.store().await?.ok_or_else(|| fault::none(address))?;
    match kept.head.position {
        Position::START => Ok(()),
        _ => fit(&kept, there, &mut remote, &path, address).await,
    }
}

/// Reads the whole log there and checks every event against its hash, its place and its stream. `progress` is told the
/// last position that was found right, now and then.
pub async fn verify(
    address: &Address,
    mut progress: impl FnMut(Position) + Send,
) -> Result<Result<Verified, Damage>, StoreError> {
    let mut remote = Kurrent::reach(address).await?;
    if remote.store().await?.is_none() {
        return Err(fault::none(address));
    }
    let mut head = Head { position: Position::START, hash: Hash::GENESIS };
    let mut ends = HashMap::new();
    loop {
        let position = head.position.next();
        let page = match remote.page(head.position).await {
            Ok(page) => page,
            Err(StoreError::Corrupt { reason }) => return Ok(Err(Damage { position, reason })),
            Err(error) => return Err(error),
        };
        for event in &page.events {
            head = match follow(head, std::slice::from_ref(event), &mut ends) {
                Ok(head) => head,
                Err(StoreError::Corrupt { reason }) => {
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

/// Takes the replica's lock. A command that brings it up to date holds it for a moment.
async fn locked(path: &Path) -> Result<File, StoreError> {
    let until = Instant::now() + LOCKED_WITHIN;
    loop {
        match file::lock(path) {
            Err(StoreError::Unavailable { .. }) if Instant::now() < until => sleep(PAUSE).await,
            outcome => return outcome,
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
    let mut remote = Kurrent::reach(address).await?.followed_by(follower);
    let kept = kept(&path).await?;
    let store = match (remote.store().await?, new) {
        (Some(store), _) => store,
        (None, Some(_)) if kept.is_some_and(|kept| kept.head.position > Position::START) => {
            return Err(StoreError::unavailable(format!(
                "{} is the replica of a log, and {} has none; set store (LOGGIA_STORE) to the one it had, or bring the \
                 log there with `loggia store copy`",
                path.display(),
                address
            )));
        }
        (None, Some(new)) => remote.found(new).await?,
        (None, None) => return Err(fault::none(address)),
    };
    if let Some(kept) = kept {
        fit(&kept, store, &mut remote, &path, address).await?;
    }
    EventLog::open_replica(path, lock, store, remote).await
}

/// What a replica holds that is there already. One that is damaged is thrown away: the log fills it anew.
async fn kept(path: &Path) -> Result<Option<Replica>, StoreError> {
    if !file::exists(path).await? {
        return Ok(None);
    }
    match Replica::read(path).await {
        Ok(replica) => Ok(Some(replica)),
        Err(StoreError::Corrupt { reason }) => {
            tracing::warn!(%reason, "the replica {} is damaged; it is filled anew", path.display());
            discard(path)?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Whether the replica is one of this log, as far as it goes.
async fn fit(
    kept: &Replica,
    store: StoreId,
    remote: &mut Kurrent,
    path: &Path,
    address: &Address,
) -> Result<(), StoreError> {
    let Head { position, hash } = kept.head;
    if position == Position::START {
        return if kept.store == store { Ok(()) } else { discard(path) };
    }
    if kept.store != store {
        let path = path.display();
        return Err(StoreError::unavailable(format!(
            "{path} is the replica of the event store {}, and {address} is {store}; set store (LOGGIA_STORE) to the \
             right one, or use another data folder",
            kept.store
        )));
    }
    match remote.hash_at(position).await? {
        Some(there) if there == hash => Ok(()),
        there => Err(fault::set_back(address, kept.head, there.is_some(), Some(path))),
    }
}

/// Takes a replica away that holds nothing of its own.
fn discard(path: &Path) -> Result<(), StoreError> {
    for file in sidecar_files(path).iter().map(PathBuf::as_path).chain([path]) {
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
