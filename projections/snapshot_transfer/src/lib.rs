//! Snapshots of read models between nodes: a new read node starts from one instead of replaying every event. The binary
//! `loggia` fetches one before it starts its workers, and serves them on the operators' listener.
//!
//! 1. [`install_first`] fills empty models from a [`SnapshotSource`]: a folder, or another node.
//! 2. [`SnapshotServer`] gives snapshots of this node's models to other nodes.
//!
//! What a snapshot is, and how it is checked, is in `projections::snapshot`.
//!
//! ```
//! use snapshot_transfer::SnapshotSource;
//!
//! let source: SnapshotSource = "http://TOKEN@10.0.0.7:9090".parse()?;
//! assert_eq!(source.to_string(), "http://10.0.0.7:9090", "the token is never shown");
//! # Ok::<(), &str>(())
//! ```

mod client;
mod server;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use projections::snapshot::{self, FileCopy, Manifest, ModelCopy, SnapshotError};
use projections::source::EventSource;
use rustls::ClientConfig;

use client::SnapshotClient;

pub use server::SnapshotServer;

/// How many snapshots of a node are tried: it may replace one by a newer while it is fetched.
const ATTEMPTS: u32 = 3;

/// Where an empty read node takes the first state of its models from.
#[derive(Clone, PartialEq, Eq)]
pub enum SnapshotSource {
    /// A snapshot in a folder, as `loggia snapshot` makes it.
    Folder(PathBuf),
    /// Another node that serves snapshots.
    Node {
        /// The URL of its operators' listener: `http://` or `https://` and the address, without a slash at the end.
        address: String,
        /// Its snapshot token.
        token: Option<String>,
    },
}

impl FromStr for SnapshotSource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(SnapshotSource::Folder(text.into()));
        };
        if !matches!(scheme, "http" | "https") {
            return Err("expected a folder, or a URL that begins with http:// or https://");
        }
        let (token, rest) = match rest.split_once('@') {
            Some((token, rest)) => (Some(token), rest),
            None => (None, rest),
        };
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '"' | '<' | '>');
        let is_token =
            |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if rest.is_empty() || !rest.chars().all(plain) || !token.is_none_or(is_token) {
            return Err("expected a folder, or a URL such as http://TOKEN@10.0.0.7:9090");
        }
        let address = format!("{scheme}://{}", rest.trim_end_matches('/'));
        Ok(SnapshotSource::Node { address, token: token.map(str::to_owned) })
    }
}

/// Without the token.
impl fmt::Display for SnapshotSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotSource::Folder(folder) => folder.display().fmt(f),
            SnapshotSource::Node { address, .. } => address.fmt(f),
        }
    }
}

/// Without the token.
impl fmt::Debug for SnapshotSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotSource({self})")
    }
}

/// The error of models that could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Files of an earlier attempt cannot be removed.
    #[error(transparent)]
    Models(SnapshotError),
    /// The snapshot cannot be fetched or used.
    #[error(
        "snapshot is “{from}”, which cannot be used, and nothing was changed; set LOGGIA_SNAPSHOT to another one, or remove it to \
         start from the first event"
    )]
    Snapshot {
        /// The source.
        from: SnapshotSource,
        /// Why it cannot be used.
        source: SnapshotError,
    },
}

/// Fills the models in this folder from a snapshot, if one is set. Models that exist stay as they are. `tls` makes the TLS of
/// connections to another node.
///
/// # Errors
///
/// Fails if the snapshot cannot be fetched, or is not one of the log of `source`; the models are empty then.
pub async fn install_first(
    models: &Path,
    from: Option<&SnapshotSource>,
    source: &EventSource,
    tls: impl FnOnce() -> Result<ClientConfig, rustls::Error>,
) -> Result<(), InstallError> {
    snapshot::remove_incoming(models).map_err(InstallError::Models)?;
    let Some(from) = from else { return Ok(()) };
    if std::fs::read_dir(models).is_ok_and(|mut entries| entries.next().is_some()) {
        tracing::info!("the read models exist already; the setting snapshot is ignored");
        return Ok(());
    }
    let filled = fill(models, from, source, tls).await;
    let manifest = filled.map_err(|source| InstallError::Snapshot { from: from.clone(), source })?;
    let (position, size) = (manifest.position(), manifest.size());
    tracing::info!(%position, bytes = size, %from, "the read models start from a snapshot");
    Ok(())
}

async fn fill(
    models: &Path,
    from: &SnapshotSource,
    source: &EventSource,
    tls: impl FnOnce() -> Result<ClientConfig, rustls::Error>,
) -> Result<Manifest, SnapshotError> {
    match from {
        SnapshotSource::Folder(folder) => {
            let manifest = Manifest::read(folder)?;
            let copy = async |model: &ModelCopy, file: &FileCopy, to: &Path| {
                let path = folder.join(&model.name).join(&file.name);
                copy_file(path, to.to_owned(), file.size).await
            };
            snapshot::install(models, &manifest, source, copy).await?;
            Ok(manifest)
        }
        SnapshotSource::Node { address, token } => {
            let node = SnapshotClient::new(address, token.as_deref(), tls)?;
            for attempt in 1.. {
                let manifest = node.manifest().await?;
                let fetch = async |_: &ModelCopy, file: &FileCopy, to: &Path| node.fetch(file, to).await;
                match snapshot::install(models, &manifest, source, fetch).await {
                    Ok(()) => return Ok(manifest),
                    Err(SnapshotError::Unavailable(reason)) if attempt < ATTEMPTS => {
                        tracing::warn!(reason, "the snapshot is incomplete; fetching it again");
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(SnapshotError::Unavailable("it is incomplete".into()))
        }
    }
}

/// Copies a regular file of at most `size` bytes to a new file.
async fn copy_file(path: PathBuf, to: PathBuf, size: u64) -> Result<(), SnapshotError> {
    let copy = move || {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| SnapshotError::File { path, source }
        };
        let from = match bounded_file::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SnapshotError::Damaged(format!("{} is missing", path.display())));
            }
            from => from.map_err(at(&path))?,
        };
        let mut copied = File::create_new(&to).map_err(at(&to))?;
        let length = io::copy(&mut from.take(size.saturating_add(1)), &mut copied).map_err(at(&path))?;
        match length > size {
            true => {
                Err(SnapshotError::Damaged(format!("{} is longer than its manifest says", path.display())))
            }
            false => Ok(()),
        }
    };
    let copied = tokio::task::spawn_blocking(copy).await;
    copied.map_err(|error| SnapshotError::Unavailable(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_a_folder_or_a_node() {
        let node = |address: &str, token: Option<&str>| {
            Ok(SnapshotSource::Node { address: address.to_owned(), token: token.map(str::to_owned) })
        };
        assert_eq!("http://10.0.0.7:9090/".parse(), node("http://10.0.0.7:9090", None));
        assert_eq!("http://s3cret@10.0.0.7:9090".parse(), node("http://10.0.0.7:9090", Some("s3cret")));
        assert_eq!("https://a.example/b".parse(), node("https://a.example/b", None));
        let shown = "http://s3cret@a".parse::<SnapshotSource>().map(|source| format!("{source} {source:?}"));
        assert_eq!(shown.as_deref(), Ok("http://a SnapshotSource(http://a)"), "the token is hidden");
        assert_eq!("/srv/snap".parse(), Ok(SnapshotSource::Folder("/srv/snap".into())));
        for wrong in ["ftp://a", "http://", "http://u:p@a", "http://@a", "http://t@", "https://a?b"] {
            assert!(wrong.parse::<SnapshotSource>().is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_file_of_a_folder_is_copied_only_up_to_its_size() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("keys.db"), folder.path().join("copy"));
        std::fs::write(&from, "four").unwrap();
        copy_file(from.clone(), to.clone(), 4).await.unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"four");
        std::fs::remove_file(&to).unwrap();
        let longer = copy_file(from.clone(), to.clone(), 3).await.unwrap_err().to_string();
        assert_eq!(longer, format!("it is damaged: {} is longer than its manifest says", from.display()));
        assert_eq!(std::fs::metadata(&to).unwrap().len(), 4, "no more than one byte too many was copied");
        std::fs::remove_file(&from).unwrap();
        let missing = copy_file(from.clone(), to.clone(), 4).await.unwrap_err().to_string();
        assert_eq!(missing, format!("it is damaged: {} is missing", from.display()));
        let device = copy_file("/dev/zero".into(), to, 4).await.unwrap_err().to_string();
        assert_eq!(
            device,
            "/dev/zero cannot be read or written: it is not a regular file; check its folder and the room on the disk"
        );
    }
}
