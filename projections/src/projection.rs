//! What makes a projection: how it takes events in, and how it makes them visible.

use std::path::Path;
use std::sync::Arc;

use read::checkpoint::Checkpoint;
use read::error::ModelError;
use read::model::Model;
use read::project::Project;
use schemas::account::AccountEvent;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{AccountId, Position, ProjectId};

use crate::source::Sharing;

/// An event that the catalog's readers are concerned with. Its parts are those of every projection.
#[derive(Debug)]
pub struct ProjectEvent {
    /// As it was recorded.
    pub recorded: Arc<Recorded>,
    /// Whose it is.
    pub project: ProjectId,
    /// The event in its newest shape.
    pub event: Arc<Event>,
}

/// An event that the readers of keys are concerned with.
#[derive(Debug)]
pub struct KeyEvent {
    /// As it was recorded.
    pub recorded: Arc<Recorded>,
    /// Whose keys it speaks of.
    pub account: AccountId,
    /// The event in its newest shape.
    pub event: AccountEvent,
}

impl ProjectEvent {
    /// The event, if it stands in the stream of a project.
    pub fn of(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        let project = recorded.stream.as_project()?;
        Some(ProjectEvent { recorded: recorded.clone(), project, event: event.clone() })
    }

    /// The event, if it may change what readers are told of a project: another one would only have its row and document
    /// written once more.
    pub fn of_what_is_told(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        Project::is_changed_by(event).then(|| ProjectEvent::of(recorded, event)).flatten()
    }
}

impl KeyEvent {
    /// The event, if it speaks of an account and stands in the stream of one.
    pub fn of(recorded: &Arc<Recorded>, event: &Event) -> Option<KeyEvent> {
        let account = recorded.stream.as_account()?;
        match event {
            Event::Account(event) => {
                Some(KeyEvent { recorded: recorded.clone(), account, event: event.clone() })
            }
            Event::ProjectSelected(_)
            | Event::ProjectRevised(_)
            | Event::ProjectRenamed(_)
            | Event::ProjectWithdrawn(_)
            | Event::ProjectRestored(_)
            | Event::PictureAttached(_)
            | Event::PictureRefused(_)
            | Event::PictureErased(_)
            | Event::VectorsRecorded(_) => None,
        }
    }
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

impl Refused {
    /// The event, which could not be applied for this reason.
    pub fn of(recorded: &Recorded, reason: impl ToString) -> Refused {
        Refused { position: recorded.position, kind: recorded.kind.clone(), reason: reason.to_string() }
    }
}

/// One making of a read model, and how events change it. Nothing is visible before [`Projection::commit`]; a
/// projection that is dropped before goes on from its last checkpoint. Applying an event twice changes nothing,
/// since the worker passes over what is at or below the checkpoint.
pub trait Projection: Sized + Send + 'static {
    /// The model that it writes.
    type Model: Model;
    /// Whether its worker reads the log together with the others of the node.
    const SHARING: Sharing = Sharing::Shared;

    /// The events that concern it.
    type Event: Send;

    /// The event as this projection takes it; none if it does not concern it. Other projections hold it too: what this
    /// one passes over is not copied.
    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<Self::Event>;

    /// Opens the model in a folder, or makes it.
    fn open(folder: &Path) -> impl Future<Output = Result<Self, ModelError>> + Send;

    /// How far it has come, as of its last commit.
    fn checkpoint(&self) -> &Checkpoint;

    /// Stages a batch in order, and tells the events that cannot be applied; the rest is staged all the same.
    fn apply(
        &mut self,
        batch: Vec<Self::Event>,
    ) -> impl Future<Output = Result<Vec<Refused>, ModelError>> + Send;

    /// Makes what is staged visible, together with the checkpoint.
    fn commit(&mut self, checkpoint: Checkpoint) -> impl Future<Output = Result<(), ModelError>> + Send;

    /// Leaves out until [`Projection::settle`] what only serves readers, since there are none during a replay, or only a
    /// crash, after which the generation is made from nothing again.
    fn prepare_replay(&mut self) -> impl Future<Output = Result<(), ModelError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Puts the model into the form that is fastest to ask, where that is worth it: called when there is nothing else to
    /// do, and at the end of a replay. What it says of the log does not change.
    ///
    /// It is dropped when an event comes. So it blocks no thread, and work that takes longer than a moment is done aside: the
    /// next call goes on with it.
    fn settle(&mut self) -> impl Future<Output = Result<(), ModelError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Whether work of [`Projection::settle`] is under way aside, so that it is called again without waiting for a quiet
    /// time.
    fn is_settling(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use schemas::event::{PictureRefused, ProjectRenamed, ProjectRestored, VectorsRecorded};

    use super::*;
    use crate::recorded::recorded;

    #[test]
    fn what_readers_are_not_told_concerns_the_neighbours_only() {
        let vectors = VectorsRecorded { model: "m".into(), visual: None, semantic: None, computed: None };
        let refused = PictureRefused { source: "a.jpg".into(), reason: "it is no picture".into() };
        for (event, told) in [
            (Event::VectorsRecorded(vectors), false),
            (Event::PictureRefused(refused), false),
            (Event::ProjectRestored(ProjectRestored {}), true),
            (Event::ProjectRenamed(ProjectRenamed { slug: "x".parse().unwrap() }), true),
        ] {
            let (recorded, event) = (recorded(1, 1, &event), Arc::new(event));
            assert!(ProjectEvent::of(&recorded, &event).is_some());
            assert_eq!(ProjectEvent::of_what_is_told(&recorded, &event).is_some(), told, "{event:?}");
        }
    }
}
