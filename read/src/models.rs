//! The read models of a node: a list of them, and the reader of the current generation of each. A swap of generations and a new
//! commit are found by polling two small files; requests that are under way keep the generation that they began with.
//!
//! Each model is refreshed by itself, so one that fails or takes its time holds up no other.

mod following;
mod slot;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemas::clock::Clock;
use schemas::month::Month;

use crate::archive::ArchiveReader;
use crate::catalog::CatalogReader;
use crate::checkpoint::Checkpoint;
use crate::counters::CountersReader;
use crate::error::ModelError;
use crate::generation::Generations;
use crate::keys::KeysReader;
use crate::model::{Follows, Model, Surroundings};
use crate::neighbours::NeighboursReader;
use crate::search::SearchReader;
use slot::Slot;

pub use following::POLL;
pub use slot::Opened;

/// Declares every model, in the order in which they are shown and snapshots hold them: a variant, the method that gives its open
/// reader, and the type of that reader.
macro_rules! registry {
    ($($(#[doc = $doc:literal])* $kind:ident, $reader:ident: $Reader:ty;)*) => {
        /// One of the read models.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ModelKind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl ModelKind {
            /// Every model.
            pub const ALL: [ModelKind; [$(stringify!($kind)),*].len()] = [$(ModelKind::$kind),*];

            /// Returns its name, which is also that of its folder.
            pub const fn name(self) -> &'static str {
                match self { $(ModelKind::$kind => <$Reader>::NAME,)* }
            }

            /// Returns the layout of its files that this version reads and writes.
            pub const fn layout(self) -> u32 {
                match self { $(ModelKind::$kind => <$Reader>::LAYOUT,)* }
            }

            /// Returns what it is made from.
            pub const fn follows(self) -> Follows {
                match self { $(ModelKind::$kind => <$Reader>::FOLLOWS,)* }
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
                #[doc = concat!("Returns the current generation of `", stringify!($reader), "`; none while none was ever finished.")]
                pub fn $reader(&self) -> Option<Arc<Opened<$Reader>>> {
                    self.inner.slots.$reader.open()
                }
            )*

            /// Returns how far a model has come; none while none was ever finished.
            ///
            /// # Errors
            ///
            /// Fails where its files cannot be read.
            pub async fn checkpoint(&self, model: ModelKind) -> Result<Option<Checkpoint>, ModelError> {
                match model {
                    $(ModelKind::$kind => match self.$reader() {
                        Some(open) => Model::checkpoint(&open.reader).await.map(Some),
                        None => Ok(None),
                    },)*
                }
            }

            async fn refresh_one(&self, model: ModelKind) -> Result<(), ModelError> {
                let (slots, surroundings) = (&self.inner.slots, self.surroundings());
                match model { $(ModelKind::$kind => slots.$reader.refresh(&surroundings).await,)* }
            }
        }
    };
}

registry! {
    /// The projects.
    Catalog, catalog: CatalogReader;
    /// The search index.
    Search, search: SearchReader;
    /// The projects that are alike.
    Neighbours, neighbours: NeighboursReader;
    /// The projects by day and by taste.
    Archive, archive: ArchiveReader;
    /// Who may call.
    Keys, keys: KeysReader;
    /// Who has called how often.
    Counters, counters: CountersReader;
}

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
    slots: Slots,
    clock: Clock,
}

impl ModelKind {
    /// Returns its generations below the folder of all models.
    pub fn generations(self, models: &Path) -> Generations {
        Generations::in_layout(models.join(self.name()), self.layout())
    }

    /// Returns the name under which the health of the process lists a refresh that fails.
    pub fn component(self) -> String {
        format!("model {}", self.name())
    }

    fn is_about_calls(self) -> bool {
        matches!(self, ModelKind::Keys | ModelKind::Counters)
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
        ReadModels { inner: Arc::new(Inner { slots: Slots::below(&root.into()), clock }) }
    }

    /// Opens what is newly current and shows new commits, of every model once.
    ///
    /// # Errors
    ///
    /// Fails with the first model that could not be refreshed; the others are, all the same.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        let mut first = Ok(());
        for model in ModelKind::ALL {
            let refreshed = self.refresh_one(model).await;
            first = first.and(refreshed);
        }
        first
    }

    fn surroundings(&self) -> Surroundings {
        let search = self.search().map(|search| search.reader.view());
        Surroundings { month: Month::of(self.inner.clock.now()), search }
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests;
