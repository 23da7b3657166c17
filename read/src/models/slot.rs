//! The generation of one model that is open.

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use schemas::month::Month;

use super::ModelsError;
use crate::archive::ArchiveReader;
use crate::catalog::CatalogReader;
use crate::counters::CountersReader;
use crate::generation::{Generation, GenerationError, Generations};
use crate::keys::KeysReader;
use crate::neighbours::NeighboursReader;
use crate::search::{SearchReader, View};

/// A reader and the generation that it reads.
pub struct Opened<Reader> {
    /// The generation.
    pub generation: Generation,
    /// Its reader.
    pub reader: Reader,
}

/// Holds the reader of a model's current generation.
pub(super) struct Slot<Reader> {
    generations: Generations,
    open: ArcSwapOption<Opened<Reader>>,
}

/// A reader that is opened on a generation and shows its new commits. Both may block their thread for as long as it
/// takes to read what is new.
pub(super) trait Refreshed: Sized {
    /// What it is read beside: the month, or another model.
    type Beside: Clone;

    /// Opens the generation in a folder.
    async fn open(folder: &Path, beside: Self::Beside) -> Result<Self, ModelsError>;

    /// Shows what was committed since the last time.
    async fn refresh(&self, beside: Self::Beside) -> Result<(), ModelsError>;
}

impl<Reader> Slot<Reader> {
    pub(super) fn new(generations: Generations) -> Slot<Reader> {
        Slot { generations, open: ArcSwapOption::empty() }
    }

    pub(super) fn open(&self) -> Option<Arc<Opened<Reader>>> {
        self.open.load_full()
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

impl<Reader: Refreshed> Slot<Reader> {
    pub(super) async fn refresh(&self, beside: Reader::Beside) -> Result<(), ModelsError> {
        let newer = match self.newly_current() {
            Ok(Some(generation)) => match Reader::open(&generation.path, beside.clone()).await {
                Ok(reader) => {
                    self.swap(generation, reader);
                    return Ok(());
                }
                Err(error) => Err(error),
            },
            Ok(None) => Ok(()),
            Err(error) => Err(error.into()),
        };
        // The open generation may have new commits even if it cannot be looked for another one: a process that has no
        // file descriptors left must hear of a revoked key.
        let refreshed = match self.open() {
            Some(open) => open.reader.refresh(beside).await,
            None => Ok(()),
        };
        newer.and(refreshed)
    }
}

impl Refreshed for CatalogReader {
    type Beside = ();

    async fn open(folder: &Path, (): ()) -> Result<CatalogReader, ModelsError> {
        Ok(CatalogReader::open(folder).await?)
    }

    /// Does nothing: every question reads the last commit.
    async fn refresh(&self, (): ()) -> Result<(), ModelsError> {
        Ok(())
    }
}

impl Refreshed for SearchReader {
    type Beside = ();

    async fn open(folder: &Path, (): ()) -> Result<SearchReader, ModelsError> {
        Ok(SearchReader::open(folder)?)
    }

    async fn refresh(&self, (): ()) -> Result<(), ModelsError> {
        SearchReader::refresh(self)?;
        Ok(())
    }
}

impl Refreshed for KeysReader {
    type Beside = ();

    async fn open(folder: &Path, (): ()) -> Result<KeysReader, ModelsError> {
        Ok(KeysReader::open(folder).await?)
    }

    async fn refresh(&self, (): ()) -> Result<(), ModelsError> {
        Ok(KeysReader::refresh(self).await?)
    }
}

impl Refreshed for CountersReader {
    type Beside = Month;

    async fn open(folder: &Path, now: Month) -> Result<CountersReader, ModelsError> {
        Ok(CountersReader::open(folder, now).await?)
    }

    async fn refresh(&self, now: Month) -> Result<(), ModelsError> {
        Ok(CountersReader::refresh(self, now).await?)
    }
}

impl Refreshed for NeighboursReader {
    type Beside = ();

    async fn open(folder: &Path, (): ()) -> Result<NeighboursReader, ModelsError> {
        Ok(NeighboursReader::open(folder).await?)
    }

    async fn refresh(&self, (): ()) -> Result<(), ModelsError> {
        Ok(NeighboursReader::refresh(self).await?)
    }
}

impl Refreshed for ArchiveReader {
    type Beside = Option<View>;

    async fn open(folder: &Path, view: Option<View>) -> Result<ArchiveReader, ModelsError> {
        Ok(ArchiveReader::open_beside(folder, view).await?)
    }

    async fn refresh(&self, view: Option<View>) -> Result<(), ModelsError> {
        Ok(self.refresh_beside(view).await?)
    }
}
