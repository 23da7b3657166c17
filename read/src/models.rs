//! The current generation of every model, for those who answer. A swap of generations and a new commit are seen
//! by polling two small files; nobody who is answering is disturbed.
//!
//! Each model is refreshed by itself, so one that fails or takes its time holds up no other.

mod following;
mod slot;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use schemas::month::Month;

use crate::archive::{self, ArchiveError, ArchiveReader};
use crate::catalog::{self, CatalogError, CatalogReader};
use crate::counters::{self, CountersError, CountersReader};
use crate::generation::{GenerationError, Generations};
use crate::keys::{self, KeysError, KeysReader};
use crate::neighbours::{self, NeighboursError, NeighboursReader};
use crate::search::{self, SearchError, SearchReader};
use slot::Slot;

pub use following::POLL;
pub use slot::Opened;

/// The clock of a node: its month is the one whose calls are counted.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Readers of the current generations; clones share them.
#[derive(Clone)]
pub struct ReadModels {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for ReadModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadModels").finish_non_exhaustive()
    }
}

struct Inner {
    keys: Slot<KeysReader>,
    counters: Slot<CountersReader>,
    catalog: Slot<CatalogReader>,
    search: Slot<SearchReader>,
    archive: Slot<ArchiveReader>,
    neighbours: Slot<NeighboursReader>,
    clock: Clock,
}

/// One of the read models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Who may call.
    Keys,
    /// Who has called how often.
    Counters,
    /// The projects.
    Catalog,
    /// The search index.
    Search,
    /// The projects by day and by taste.
    Archive,
    /// The projects that are alike.
    Neighbours,
}

/// A model could not be opened or refreshed.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The search index.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The counters.
    #[error(transparent)]
    Counters(#[from] CountersError),
    /// The neighbours.
    #[error(transparent)]
    Neighbours(#[from] NeighboursError),
    /// The archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The folder of any of them.
    #[error(transparent)]
    Generation(#[from] GenerationError),
}

impl Model {
    /// Every model, those that decide about calls first.
    pub const ALL: [Model; 6] =
        [Model::Keys, Model::Counters, Model::Catalog, Model::Search, Model::Archive, Model::Neighbours];

    /// Returns its name, which is also that of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Model::Keys => "keys",
            Model::Counters => "counters",
            Model::Catalog => "catalog",
            Model::Search => "search",
            Model::Archive => "archive",
            Model::Neighbours => "neighbours",
        }
    }

    /// Returns the layout of its files that this version reads.
    pub fn layout(self) -> u32 {
        match self {
            Model::Catalog => catalog::LAYOUT,
            Model::Search => search::LAYOUT,
            Model::Archive => archive::LAYOUT,
            Model::Keys => keys::LAYOUT,
            Model::Neighbours => neighbours::LAYOUT,
            Model::Counters => counters::LAYOUT,
        }
    }

    /// Returns the name under which the health of the process lists a refresh that fails.
    pub fn component(self) -> String {
        format!("model {}", self.name())
    }

    fn is_about_calls(self) -> bool {
        matches!(self, Model::Keys | Model::Counters)
    }

    /// How long its refresh may fail before the node is not ready: a revoked key that goes on is worse than a project
    /// that is found late.
    fn patience(self) -> Duration {
        Duration::from_secs(if self.is_about_calls() { 10 } else { 60 })
    }
}

impl ReadModels {
    /// The models below a folder, for a node with this clock. None is open before the first [`ReadModels::refresh`].
    pub fn new(root: impl Into<PathBuf>, clock: Clock) -> ReadModels {
        let root = root.into();
        let generations = |model: Model| Generations::in_layout(root.join(model.name()), model.layout());
        let inner = Inner {
            keys: Slot::new(generations(Model::Keys)),
            counters: Slot::new(generations(Model::Counters)),
            catalog: Slot::new(generations(Model::Catalog)),
            search: Slot::new(generations(Model::Search)),
            archive: Slot::new(generations(Model::Archive)),
            neighbours: Slot::new(generations(Model::Neighbours)),
            clock,
        };
        ReadModels { inner: Arc::new(inner) }
    }

    /// The catalog's current generation; none while none was ever finished.
    pub fn catalog(&self) -> Option<Arc<Opened<CatalogReader>>> {
        self.inner.catalog.open()
    }

    /// The search index's current generation; none while none was ever finished.
    pub fn search(&self) -> Option<Arc<Opened<SearchReader>>> {
        self.inner.search.open()
    }

    /// The keys' current generation; none while none was ever finished.
    pub fn keys(&self) -> Option<Arc<Opened<KeysReader>>> {
        self.inner.keys.open()
    }

    /// The counters' current generation; none while none was ever finished.
    pub fn counters(&self) -> Option<Arc<Opened<CountersReader>>> {
        self.inner.counters.open()
    }

    /// The neighbours' current generation; none while none was ever finished.
    pub fn neighbours(&self) -> Option<Arc<Opened<NeighboursReader>>> {
        self.inner.neighbours.open()
    }

    /// The archive's current generation; none while none was ever finished.
    pub fn archive(&self) -> Option<Arc<Opened<ArchiveReader>>> {
        self.inner.archive.open()
    }

    /// Opens what is newly current and shows new commits, of every model once.
    ///
    /// # Errors
    ///
    /// Fails with the first model that could not be refreshed; the others are, all the same.
    pub async fn refresh(&self) -> Result<(), ModelsError> {
        let mut first = Ok(());
        for model in Model::ALL {
            let refreshed = self.refresh_one(model).await;
            first = first.and(refreshed);
        }
        first
    }

    async fn refresh_one(&self, model: Model) -> Result<(), ModelsError> {
        let inner = &self.inner;
        match model {
            Model::Keys => inner.keys.refresh(()).await,
            Model::Counters => inner.counters.refresh(Month::of((inner.clock)())).await,
            Model::Catalog => inner.catalog.refresh(()).await,
            Model::Search => inner.search.refresh(()).await,
            Model::Archive => {
                // It lists what the search index knows, so that index is opened first.
                let view = inner.search.open().map(|search| search.reader.view());
                if view.is_none() && inner.archive.open().is_none() {
                    return Ok(());
                }
                inner.archive.refresh(view).await
            }
            Model::Neighbours => inner.neighbours.refresh(()).await,
        }
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests;
