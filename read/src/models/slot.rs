//! The open generation of one model.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use model::error::ModelError;
use model::generation::{Generation, GenerationError, Generations};
use model::{Model, ModelContext};

/// An open generation.
pub struct OpenModel<Reader> {
    /// The generation.
    pub generation: Generation,
    /// Its reader.
    pub reader: Reader,
}

/// The reader of a model's current generation.
pub(super) struct Slot<Reader> {
    generations: Generations,
    open: ArcSwapOption<OpenModel<Reader>>,
}

impl<Reader> Slot<Reader> {
    pub(super) fn new(generations: Generations) -> Slot<Reader> {
        Slot { generations, open: ArcSwapOption::empty() }
    }

    pub(super) fn open(&self) -> Option<Arc<OpenModel<Reader>>> {
        self.open.load_full()
    }

    fn newly_current(&self) -> Result<Option<Generation>, GenerationError> {
        let current = self.generations.current()?;
        if current.is_none() && !self.generations.has_current()? {
            // It was quarantined: its answers may be wrong.
            self.open.store(None);
        }
        let open = self.open.load();
        Ok(current.filter(|current| open.as_ref().is_none_or(|open| open.generation != *current)))
    }

    fn swap(&self, generation: Generation, reader: Reader) {
        tracing::info!(generation = %generation.path.display(), "now reading a new generation");
        self.open.store(Some(Arc::new(OpenModel { generation, reader })));
    }
}

impl<Reader: Model> Slot<Reader> {
    pub(super) async fn refresh(&self, context: &ModelContext) -> Result<(), ModelError> {
        if self.open().is_none() && !Reader::can_open(context) {
            return Ok(());
        }
        let newer = match self.newly_current() {
            Ok(Some(generation)) => match Reader::open(&generation.path, context).await {
                Ok(reader) => {
                    self.swap(generation, reader);
                    return Ok(());
                }
                Err(error) => Err(error),
            },
            Ok(None) => Ok(()),
            Err(error) => Err(error.into()),
        };
        // New commits of the open generation are loaded even if looking for another one fails: a process without free file descriptors
        // must still see that a key was revoked.
        let refreshed = match self.open() {
            Some(open) => Model::refresh(&open.reader, context).await,
            None => Ok(()),
        };
        newer.and(refreshed)
    }
}
