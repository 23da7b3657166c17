//! The read models of a node: their registry, and the reader of each current generation. New generations and commits are found at
//! the signal of the workers, or by polling two small files if these run in another process; requests under way keep the generation that they started with.
//!
//! Models are refreshed independently, so that a failing or slow one does not delay the others.

mod refresh_loop;
mod slot;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemas::clock::Clock;
use schemas::month::Month;

use crate::catalog::CatalogReader;
use crate::counters::CountersReader;
use crate::keys::KeysReader;
use crate::neighbours::NeighboursReader;
use archive::ArchiveReader;
use model::checkpoint::Checkpoint;
use model::error::ModelError;
use model::generation::Generations;
use model::search::SearchReader;
use model::{Model, ModelContext, ModelInput};
use slot::Slot;

pub use refresh_loop::{CommitSignal, CommitSignals, POLL};
pub use slot::OpenModel;

/// Declares the models in the order of lists and snapshots: a variant, the method that returns the open reader, and the reader's
/// type.
macro_rules! registry {
    ($($(#[doc = $doc:literal])* $kind:ident, $reader:ident: $Reader:ty;)*) => {
        /// One of the read models.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ModelKind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl ModelKind {
            /// All models.
            pub const ALL: [ModelKind; [$(stringify!($kind)),*].len()] = [$(ModelKind::$kind),*];

            /// Returns the name, which is also the name of the folder.
            pub const fn name(self) -> &'static str {
                match self { $(ModelKind::$kind => <$Reader>::NAME,)* }
            }

            /// Returns the layout of its files that this version reads and writes.
            pub const fn layout(self) -> u32 {
                match self { $(ModelKind::$kind => <$Reader>::LAYOUT,)* }
            }

            /// Returns what it is built from.
            pub const fn input(self) -> ModelInput {
                match self { $(ModelKind::$kind => <$Reader>::INPUT,)* }
            }

            /// Returns whether a copy of it may have a file of this name. A database is one file: what is in a journal beside it would
            /// be read as a part of it.
            pub fn may_have(self, file: &str) -> bool {
                match self { $(ModelKind::$kind => <$Reader>::SCHEMA.is_none() || file == <$Reader>::FILE,)* }
            }

            /// Checks a copy of it that another node may have made, as [`Model::check_copy`] does.
            #[cfg(feature = "apply")]
            pub async fn check_copy(self, folder: &Path) -> Result<(), ModelError> {
                match self { $(ModelKind::$kind => <$Reader>::check_copy(folder).await,)* }
            }

            /// Copies one of its generations into an empty folder, as [`Model::copy`] does.
            #[cfg(feature = "apply")]
            pub async fn copy(self, from: &Path, to: &Path) -> Result<Checkpoint, ModelError> {
                match self { $(ModelKind::$kind => <$Reader>::copy(from, to).await,)* }
            }
        }

        struct Slots {
            $($reader: Slot<$Reader>,)*
        }

        impl Slots {
            fn below(root: &Path) -> Slots {
                Slots { $($reader: Slot::new(ModelKind::$kind.generations(root)),)* }
            }
        }

        impl ReadModels {
            $(
                #[doc = concat!("Returns the current generation of `", stringify!($reader), "`; `None` before the first one.")]
                pub fn $reader(&self) -> Option<Arc<OpenModel<$Reader>>> {
                    self.inner.slots.$reader.open()
                }
            )*

            /// Returns the checkpoint of a model; `None` before its first generation.
            ///
            /// # Errors
            ///
            /// Returns an error if its files cannot be read.
            pub async fn checkpoint(&self, model: ModelKind) -> Result<Option<Checkpoint>, ModelError> {
                match model {
                    $(ModelKind::$kind => match self.$reader() {
                        Some(open) => Model::checkpoint(&open.reader).await.map(Some),
                        None => Ok(None),
                    },)*
                }
            }

            async fn refresh_one(&self, model: ModelKind) -> Result<(), ModelError> {
                let (slots, context) = (&self.inner.slots, self.context());
                match model { $(ModelKind::$kind => slots.$reader.refresh(&context).await,)* }
            }
        }
    };
}

registry! {
    /// The projects.
    Catalog, catalog: CatalogReader;
    /// The search index.
    Search, search: SearchReader;
    /// The lists of similar projects.
    Neighbours, neighbours: NeighboursReader;
    /// The projects by day and by taste.
    Archive, archive: ArchiveReader;
    /// The API keys.
    Keys, keys: KeysReader;
    /// The metered calls of each key.
    Counters, counters: CountersReader;
}

/// The readers of the current generations; clones share them.
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
    slots: Slots,
    clock: Clock,
    signals: Option<CommitSignals>,
    text_model: Option<Arc<str>>,
}

impl ModelKind {
    /// Returns its generations in the folder of all models.
    pub fn generations(self, models: &Path) -> Generations {
        Generations::in_layout(models.join(self.name()), self.layout())
    }

    /// Returns its name in the health of the process, where failing refreshes are listed.
    pub fn component(self) -> String {
        format!("model {}", self.name())
    }

    fn is_about_calls(self) -> bool {
        matches!(self, ModelKind::Keys | ModelKind::Counters)
    }

    /// Returns how long its refresh may fail before the node is not ready: a revoked key that still works is worse than a project that is
    /// found late.
    fn grace_period(self) -> Duration {
        Duration::from_secs(if self.is_about_calls() { 10 } else { 60 })
    }
}

impl ReadModels {
    /// Returns the models in a folder. None is open before the first [`ReadModels::refresh`].
    pub fn new(root: impl Into<PathBuf>, clock: Clock) -> ReadModels {
        ReadModels::with_signals(root, clock, None, None)
    }

    /// Returns the models in a folder whose workers run in this process and send these signals; `None` if they run in another. The
    /// meanings that a text model of this name gave to texts are loaded.
    pub fn with_signals(
        root: impl Into<PathBuf>,
        clock: Clock,
        signals: Option<CommitSignals>,
        text_model: Option<Arc<str>>,
    ) -> ReadModels {
        let slots = Slots::below(&root.into());
        ReadModels { inner: Arc::new(Inner { slots, clock, signals, text_model }) }
    }

    /// Refreshes every model once: opens new current generations and loads new commits.
    ///
    /// # Errors
    ///
    /// Returns the first error; the other models are refreshed nevertheless.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        let mut first = Ok(());
        for model in ModelKind::ALL {
            let refreshed = self.refresh_one(model).await;
            first = first.and(refreshed);
        }
        first
    }

    fn context(&self) -> ModelContext {
        let search = self.search().map(|search| search.reader.view());
        let text_model = self.inner.text_model.clone();
        ModelContext { month: Month::of(self.inner.clock.now()), search, text_model }
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests;
