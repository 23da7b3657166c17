//! A projection: derives one read model from events. The projections are the modules below, one a file; `counters` follows
//! the streams of metered calls instead of the log.

/// Implements the parts of [`Projection`] that a writer of `read` has itself, under the same names.
macro_rules! parts_of_the_writer {
    () => {
        async fn open(folder: &std::path::Path) -> Result<Self, ModelError> {
            Self::open(folder).await
        }

        fn checkpoint(&self) -> &read::checkpoint::Checkpoint {
            self.checkpoint()
        }

        async fn commit(&mut self, checkpoint: read::checkpoint::Checkpoint) -> Result<(), ModelError> {
            self.commit(checkpoint).await
        }
    };
}

mod archive;
mod catalog;
pub mod counters;
mod keys;
mod neighbours;
pub mod search;

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

/// An event in the stream of a project. Its parts are shared with the other projections.
#[derive(Debug)]
pub struct ProjectEvent {
    /// The envelope as stored.
    pub recorded: Arc<Recorded>,
    /// The project of the stream.
    pub project: ProjectId,
    /// The event in its newest version.
    pub event: Arc<Event>,
}

/// An event in the stream of an account.
#[derive(Debug)]
pub struct KeyEvent {
    /// The envelope as stored.
    pub recorded: Arc<Recorded>,
    /// The account of the stream.
    pub account: AccountId,
    /// The event in its newest version.
    pub event: AccountEvent,
}

impl ProjectEvent {
    /// Returns the event if it is in the stream of a project.
    pub fn from_event(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        let project = recorded.stream.as_project()?;
        Some(ProjectEvent { recorded: recorded.clone(), project, event: event.clone() })
    }

    /// Returns the event if it can change what readers see of a project. For any other event, row and document would be
    /// written again without a change.
    pub fn if_visible_to_readers(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        Project::is_changed_by(event).then(|| ProjectEvent::from_event(recorded, event)).flatten()
    }
}

impl KeyEvent {
    /// Returns the event if it is an account event in the stream of an account.
    pub fn from_event(recorded: &Arc<Recorded>, event: &Event) -> Option<KeyEvent> {
        let account = recorded.stream.as_account()?;
        match event {
            Event::Account(event) => {
                Some(KeyEvent { recorded: recorded.clone(), account, event: event.clone() })
            }
            Event::ProjectSelected(_)
            | Event::ProjectRevised(_)
            | Event::ProjectRenamed(_)
            | Event::ProjectIdentified(_)
            | Event::ProjectWithdrawn(_)
            | Event::ProjectRestored(_)
            | Event::PictureAttached(_)
            | Event::PictureRefused(_)
            | Event::PictureErased(_)
            | Event::VectorsRecorded(_) => None,
        }
    }
}

/// An event that cannot be applied, with the reason; the worker parks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoisonEvent {
    /// Its position in the log.
    pub position: Position,
    /// Its event type.
    pub kind: String,
    /// Why it cannot be applied.
    pub reason: String,
}

impl PoisonEvent {
    /// Creates a poison event from its envelope and the reason.
    pub fn new(recorded: &Recorded, reason: impl ToString) -> PoisonEvent {
        PoisonEvent { position: recorded.position, kind: recorded.kind.clone(), reason: reason.to_string() }
    }
}

/// Applies a batch in order, and returns the events that could not be applied.
fn poison_events<E, R: ToString>(
    batch: Vec<E>,
    mut apply: impl FnMut(E) -> (Arc<Recorded>, Result<(), R>),
) -> Vec<PoisonEvent> {
    let poison = |event| {
        let (recorded, applied) = apply(event);
        applied.err().map(|reason| PoisonEvent::new(&recorded, reason))
    };
    batch.into_iter().filter_map(poison).collect()
}

/// The writer of one generation of a read model. Readers see nothing before [`Projection::commit`]; a projection that is
/// dropped before that continues from its last checkpoint. The worker never passes an event at or below the checkpoint.
pub trait Projection: Sized + Send + 'static {
    /// The model that it writes.
    type Model: Model;
    /// Whether its worker shares a consumer with the others of the node.
    const SHARING: Sharing = Sharing::Shared;

    /// An event that it applies.
    type Event: Send;

    /// Returns the event as this projection applies it; `None` for an event that does not change the model. The arguments
    /// are shared with other projections, so an event that is not selected is not copied.
    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<Self::Event>;

    /// Opens the model in a folder, creating it if there is none.
    fn open(folder: &Path) -> impl Future<Output = Result<Self, ModelError>> + Send;

    /// Returns the checkpoint of the last commit.
    fn checkpoint(&self) -> &Checkpoint;

    /// Stages a batch in order and returns the events that cannot be applied; all others are staged.
    fn apply(
        &mut self,
        batch: Vec<Self::Event>,
    ) -> impl Future<Output = Result<Vec<PoisonEvent>, ModelError>> + Send;

    /// Commits what is staged together with the checkpoint, and makes both visible to readers.
    fn commit(&mut self, checkpoint: Checkpoint) -> impl Future<Output = Result<(), ModelError>> + Send;

    /// Leaves out, until [`Projection::optimize`], work that only serves readers or protects from a crash: during a replay
    /// there are no readers, and after a crash the generation is created again.
    fn prepare_replay(&mut self) -> impl Future<Output = Result<(), ModelError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Brings the model into the form that is fastest to query, if that is worth its cost. Called when no events come, and
    /// at the end of a replay. The content of the model does not change.
    ///
    /// The future is dropped when an event comes. It must not block its thread; longer work runs on threads of its own, and
    /// the next call continues it.
    fn optimize(&mut self) -> impl Future<Output = Result<(), ModelError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Returns whether work that [`Projection::optimize`] started is still running on other threads. Then it is called again
    /// at once, and not only after a second without events.
    fn is_optimizing(&self) -> bool {
        false
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use schemas::event::{
        PictureRefused, ProjectIdentified, ProjectRenamed, ProjectRestored, VectorsRecorded,
    };
    use schemas::external_id::ExternalId;
    use schemas::ids::StreamId;

    use super::*;

    /// Returns an event at a position in the stream of the project with this number.
    pub(crate) fn recorded(position: u64, project: u64, event: &Event) -> Arc<Recorded> {
        let project: ProjectId = format!("{project:026}").parse().unwrap();
        Arc::new(kit::samples::recorded(Position(position), StreamId::project(project), event))
    }

    /// Applies a log, with a number for the project of each event, in batches of this size; returns the poison events.
    pub(crate) async fn apply_log<P: Projection>(
        projection: &mut P,
        log: &[(u64, Event)],
        batch: usize,
    ) -> Vec<PoisonEvent> {
        let (mut poison, mut position) = (Vec::new(), projection.checkpoint().position);
        for batch in log.chunks(batch) {
            let mut selected = Vec::new();
            for (project, event) in batch {
                position = position.next();
                let recorded = recorded(position.0, *project, event);
                selected.extend(P::select(&recorded, &Arc::new(event.clone())));
            }
            poison.extend(projection.apply(selected).await.unwrap());
            let checkpoint = Checkpoint { position, ..projection.checkpoint().clone() };
            projection.commit(checkpoint).await.unwrap();
        }
        poison
    }

    #[test]
    fn events_that_readers_do_not_see_are_selected_for_neighbours_only() {
        let vectors = VectorsRecorded { model: "m".into(), visual: None, semantic: None, computed: None };
        let refused = PictureRefused { source: "a.jpg".into(), reason: "it is not a picture".into() };
        let id = ExternalId { id: "7".into(), source: None };
        for (event, visible) in [
            (Event::VectorsRecorded(vectors), false),
            (Event::ProjectIdentified(ProjectIdentified { id }), false),
            // The picture is not waited for any more.
            (Event::PictureRefused(refused), true),
            (Event::ProjectRestored(ProjectRestored {}), true),
            (Event::ProjectRenamed(ProjectRenamed { slug: "x".parse().unwrap() }), true),
        ] {
            let (recorded, event) = (recorded(1, 1, &event), Arc::new(event));
            assert!(ProjectEvent::from_event(&recorded, &event).is_some());
            assert_eq!(
                ProjectEvent::if_visible_to_readers(&recorded, &event).is_some(),
                visible,
                "{event:?}"
            );
        }
    }
}
