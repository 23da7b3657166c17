//! What makes a projection: how it takes events in, and how it makes them visible.

use std::path::Path;

use read::catalog::CatalogError;
use read::checkpoint::Checkpoint;
use read::generation::GenerationError;
use read::search::SearchError;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Position, ProjectId};

/// An event that the catalog's readers are concerned with.
#[derive(Debug)]
pub struct ProjectEvent {
    /// As it was recorded.
    pub recorded: Recorded,
    /// Whose it is.
    pub project: ProjectId,
    /// The event in its newest shape.
    pub event: Event,
}

/// An event that could not be applied, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Where it stands.
    pub position: Position,
    /// Its type.
    pub kind: String,
    /// Why.
    pub reason: String,
}

/// A read model could not be read or written; it may work later.
#[derive(Debug, thiserror::Error)]
pub enum ProjectionError {
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The search index.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The folder of either.
    #[error(transparent)]
    Generation(#[from] GenerationError),
    /// The checkpoint of an index cannot be read.
    #[error("the checkpoint of the {model} model cannot be read ({reason}); run `loggia rebuild {model}`")]
    Checkpoint {
        /// The model's name.
        model: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// One making of a read model, and how events change it. Nothing is visible before [`Projection::commit`]; a
/// projection that is dropped before goes on from its last checkpoint. Applying an event twice changes nothing,
/// since the worker passes over what is at or below the checkpoint.
pub trait Projection: Sized + Send + 'static {
    /// Its name on the command line and in its folder.
    const NAME: &'static str;

    /// Opens the model in a folder, or makes it.
    fn open(folder: &Path) -> impl Future<Output = Result<Self, ProjectionError>> + Send;

    /// How far it has come, as of its last commit.
    fn checkpoint(&self) -> &Checkpoint;

    /// Stages a batch in order, and tells the events that cannot be applied; the rest is staged all the same.
    fn apply(
        &mut self,
        batch: Vec<ProjectEvent>,
    ) -> impl Future<Output = Result<Vec<Refused>, ProjectionError>> + Send;

    /// Makes what is staged visible, together with the checkpoint.
    fn commit(&mut self, checkpoint: Checkpoint) -> impl Future<Output = Result<(), ProjectionError>> + Send;

    /// Leaves out until [`Projection::settle`] what only serves readers, since there are none during a replay.
    fn prepare_replay(&mut self) {}

    /// Puts the model into the form that is fastest to ask, where that is worth it: called when there is nothing else to
    /// do, and at the end of a replay. What it says does not change.
    fn settle(&mut self) -> impl Future<Output = Result<(), ProjectionError>> + Send {
        std::future::ready(Ok(()))
    }

    /// The checkpoint and the digest of the model in a folder, in one consistent view, while it may be written.
    fn digest(folder: &Path) -> impl Future<Output = Result<(Checkpoint, [u8; 32]), ProjectionError>> + Send;
}
