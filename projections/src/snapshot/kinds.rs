//! The models as snapshots know them.

use std::path::{Path, PathBuf};

use futures::FutureExt;
use futures::future::BoxFuture;
use read::checkpoint::Checkpoint;
use read::generation::Generations;

use crate::archive::ArchiveProjection;
use crate::catalog::CatalogProjection;
use crate::counters::CountersWorker;
use crate::keys::KeysProjection;
use crate::neighbours::NeighboursProjection;
use crate::projection::ProjectionError;
use crate::search::SearchProjection;
use crate::work::Work;
use crate::worker::Worker;

/// A kind of model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// Its name.
    pub(super) name: &'static str,
    /// The layout of its files that this version reads and writes.
    pub(super) layout: u32,
    copy: fn(PathBuf, PathBuf) -> BoxFuture<'static, Result<Checkpoint, ProjectionError>>,
}

/// All of them, in the order in which they are shown.
pub(super) const KINDS: [Kind; 6] = [
    Kind::of::<Worker<CatalogProjection>>(),
    Kind::of::<Worker<SearchProjection>>(),
    Kind::of::<Worker<NeighboursProjection>>(),
    Kind::of::<Worker<ArchiveProjection>>(),
    Kind::of::<Worker<KeysProjection>>(),
    Kind::of::<CountersWorker>(),
];

impl Kind {
    const fn of<W: Work>() -> Kind {
        Kind { name: W::NAME, layout: W::LAYOUT, copy: copy::<W> }
    }

    /// Its generations below the folder of all models.
    pub(super) fn generations(self, models: &Path) -> Generations {
        Generations::in_layout(models.join(self.name), self.layout)
    }

    /// Copies one of its generations into an empty folder.
    pub(super) async fn copy(self, from: &Path, to: &Path) -> Result<Checkpoint, ProjectionError> {
        (self.copy)(from.to_owned(), to.to_owned()).await
    }
}

fn copy<W: Work>(from: PathBuf, to: PathBuf) -> BoxFuture<'static, Result<Checkpoint, ProjectionError>> {
    async move { W::copy(&from, &to).await }.boxed()
}
