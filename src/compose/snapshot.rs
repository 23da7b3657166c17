//! Begins the models of a new read node with a snapshot, and gives snapshots to other nodes.

mod fetching;
mod serving;

use std::path::Path;

use anyhow::{Context, Result};
use projections::snapshot::{self, FileCopy, Manifest, ModelCopy, SnapshotError};
use projections::source::EventSource;

use crate::config::SnapshotSource;
use fetching::Fetching;

pub use serving::Snapshots;

/// How often a node that gives its snapshot may take another one meanwhile.
const ATTEMPTS: u32 = 3;

/// Fills the models from the snapshot that is set. Models that are there already stay as they are.
pub async fn begin(models: &Path, from: Option<&SnapshotSource>, source: &EventSource) -> Result<()> {
    snapshot::remove_incoming(models)?;
    let Some(from) = from else { return Ok(()) };
    if std::fs::read_dir(models).is_ok_and(|mut entries| entries.next().is_some()) {
        tracing::info!("the read models are there already; snapshot is not looked at");
        return Ok(());
    }
    let manifest = fill(models, from, source).await.with_context(|| {
        format!(
            "snapshot is “{from}”, which cannot be begun with and was not; set LOGGIA_SNAPSHOT to another one, or \
             remove it to begin with the first event"
        )
    })?;
    let (position, size) = (manifest.position(), manifest.size());
    tracing::info!(%position, bytes = size, %from, "the read models begin with a snapshot");
    Ok(())
}

async fn fill(models: &Path, from: &SnapshotSource, source: &EventSource) -> Result<Manifest, SnapshotError> {
    match from {
        SnapshotSource::Folder(folder) => {
            let manifest = Manifest::read(folder)?;
            let bring = async |model: &ModelCopy, file: &FileCopy, to: &Path| {
                let path = folder.join(&model.name).join(&file.name);
                match tokio::fs::copy(&path, to).await {
                    Ok(_) => Ok(()),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        Err(SnapshotError::Damaged(format!("{} is missing", path.display())))
                    }
                    Err(source) => Err(SnapshotError::File { path, source }),
                }
            };
            snapshot::install(models, &manifest, source, bring).await?;
            Ok(manifest)
        }
        SnapshotSource::Node { address, token } => {
            let node = Fetching::from(address, token.as_deref())?;
            for attempt in 1.. {
                let manifest = node.manifest().await?;
                let bring = async |_: &ModelCopy, file: &FileCopy, to: &Path| node.file(file, to).await;
                match snapshot::install(models, &manifest, source, bring).await {
                    Ok(()) => return Ok(manifest),
                    Err(SnapshotError::Unavailable(reason)) if attempt < ATTEMPTS => {
                        tracing::warn!(reason, "the snapshot did not come whole; beginning again");
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(SnapshotError::Unavailable("it did not come whole".into()))
        }
    }
}
