//! The current generation of every model, for those who answer. A swap of generations and a new commit are seen
//! by polling two small files; nobody who is answering is disturbed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio_util::sync::CancellationToken;

use crate::archive::{ArchiveError, ArchiveReader};
use crate::catalog::{self, CatalogError, CatalogReader};
use crate::counters::{CountersError, CountersReader};
use crate::generation::{Generation, GenerationError, Generations};
use crate::keys::{KeysError, KeysReader};
use crate::neighbours::{NeighboursError, NeighboursReader};
use crate::search::{SearchError, SearchReader};

/// How often a new commit or generation is looked for.
pub const POLL: Duration = Duration::from_millis(25);

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
    catalog: Model<CatalogReader>,
    search: Model<SearchReader>,
    keys: Model<KeysReader>,
    counters: Model<CountersReader>,
    neighbours: Model<NeighboursReader>,
    archive: Model<ArchiveReader>,
}

struct Model<Reader> {
    generations: Generations,
    open: ArcSwapOption<Opened<Reader>>,
}

/// A reader and the generation that it reads.
pub struct Opened<Reader> {
    /// The generation.
    pub generation: Generation,
    /// Its reader.
    pub reader: Reader,
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

impl ReadModels {
    /// The models below a folder. None is open before the first [`ReadModels::refresh`].
    pub fn new(root: impl Into<PathBuf>) -> ReadModels {
        let root = root.into();
        let inner = Inner {
            catalog: Model::of(Generations::in_layout(root.join("catalog"), catalog::LAYOUT)),
            search: Model::new(root.join("search")),
            keys: Model::new(root.join("keys")),
            counters: Model::new(root.join("counters")),
            neighbours: Model::new(root.join("neighbours")),
            archive: Model::new(root.join("archive")),
        };
        ReadModels { inner: Arc::new(inner) }
    }

    /// The catalog's current generation; none while none was ever finished.
    pub fn catalog(&self) -> Option<Arc<Opened<CatalogReader>>> {
        self.inner.catalog.open.load_full()
    }

    /// The search index's current generation; none while none was ever finished.
    pub fn search(&self) -> Option<Arc<Opened<SearchReader>>> {
        self.inner.search.open.load_full()
    }

    /// The keys' current generation; none while none was ever finished.
    pub fn keys(&self) -> Option<Arc<Opened<KeysReader>>> {
        self.inner.keys.open.load_full()
    }

    /// The counters' current generation; none while none was ever finished.
    pub fn counters(&self) -> Option<Arc<Opened<CountersReader>>> {
        self.inner.counters.open.load_full()
    }

    /// The neighbours' current generation; none while none was ever finished.
    pub fn neighbours(&self) -> Option<Arc<Opened<NeighboursReader>>> {
        self.inner.neighbours.open.load_full()
    }

    /// The archive's current generation; none while none was ever finished.
    pub fn archive(&self) -> Option<Arc<Opened<ArchiveReader>>> {
        self.inner.archive.open.load_full()
    }

    /// Opens what is newly current and shows new commits.
    pub async fn refresh(&self) -> Result<(), ModelsError> {
        if let Some(generation) = self.inner.catalog.newly_current()? {
            let reader = CatalogReader::open(&generation.path).await?;
            self.inner.catalog.swap(generation, reader);
        }
        if let Some(generation) = self.inner.search.newly_current()? {
            let reader = SearchReader::open(&generation.path)?;
            self.inner.search.swap(generation, reader);
        }
        if let Some(search) = self.search() {
            search.reader.refresh()?;
        }
        self.refresh_keys().await?;
        self.refresh_counters().await?;
        self.refresh_neighbours().await?;
        self.refresh_archive().await
    }

    async fn refresh_keys(&self) -> Result<(), ModelsError> {
        if let Some(generation) = self.inner.keys.newly_current()? {
            let reader = KeysReader::open(&generation.path).await?;
            self.inner.keys.swap(generation, reader);
        } else if let Some(keys) = self.keys() {
            keys.reader.refresh().await?;
        }
        Ok(())
    }

    async fn refresh_counters(&self) -> Result<(), ModelsError> {
        if let Some(generation) = self.inner.counters.newly_current()? {
            let reader = CountersReader::open(&generation.path).await?;
            self.inner.counters.swap(generation, reader);
        } else if let Some(counters) = self.counters() {
            counters.reader.refresh().await?;
        }
        Ok(())
    }

    async fn refresh_neighbours(&self) -> Result<(), ModelsError> {
        if let Some(generation) = self.inner.neighbours.newly_current()? {
            let reader = NeighboursReader::open(&generation.path).await?;
            self.inner.neighbours.swap(generation, reader);
        } else if let Some(neighbours) = self.neighbours() {
            neighbours.reader.refresh().await?;
        }
        Ok(())
    }

    async fn refresh_archive(&self) -> Result<(), ModelsError> {
        if let Some(generation) = self.inner.archive.newly_current()? {
            let reader = ArchiveReader::open(&generation.path).await?;
            self.inner.archive.swap(generation, reader);
        } else if let Some(archive) = self.archive() {
            archive.reader.refresh().await?;
        }
        Ok(())
    }

    /// Refreshes until it is told to stop. A failure is logged once and tried again: a generation may be swapped
    /// away between two looks.
    pub async fn follow(self, stop: CancellationToken) {
        let mut failing = false;
        while !stop.is_cancelled() {
            match self.refresh().await {
                Ok(()) => failing = false,
                Err(error) if !failing => {
                    failing = true;
                    tracing::warn!(%error, "a read model could not be refreshed; trying again");
                }
                Err(_) => {}
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(POLL) => {}
            }
        }
    }
}

impl<Reader> Model<Reader> {
    fn new(root: PathBuf) -> Model<Reader> {
        Model::of(Generations::new(root))
    }

    fn of(generations: Generations) -> Model<Reader> {
        Model { generations, open: ArcSwapOption::empty() }
    }

    fn newly_current(&self) -> Result<Option<Generation>, GenerationError> {
        let current = self.generations.current()?;
        if current.is_none() && !self.generations.has_current()? {
            // It was quarantined: what it answers may be wrong.
            self.open.store(None);
        }
        let open = self.open.load();
        Ok(current.filter(|current| open.as_ref().is_none_or(|open| open.generation != *current)))
    }

    fn swap(&self, generation: Generation, reader: Reader) {
        tracing::info!(generation = %generation.path.display(), "now reading a new generation");
        self.open.store(Some(Arc::new(Opened { generation, reader })));
    }
}
