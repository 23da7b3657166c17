//! What happened to one project, and which command did what.

use event_log::StoreError;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{CommandId, Position, StreamId, StreamVersion};
use schemas::picture::PictureId;
use schemas::versioned::Decoded;

use crate::project::Project;

/// One project's history in memory.
pub(super) struct Past {
    pub(super) stream: StreamId,
    pub(super) version: StreamVersion,
    acts: Vec<Act>,
    project: Project,
}

struct Act {
    command: CommandId,
    position: Position,
    event: Event,
}

impl Past {
    /// A project that has yet to come into being on this stream.
    pub(super) fn nothing(stream: StreamId) -> Past {
        Past { stream, version: StreamVersion::default(), acts: Vec::new(), project: Project::Absent }
    }

    /// The history that these events tell. What a newer version wrote cannot be judged by this one.
    pub(super) fn of(stream: StreamId, events: Vec<Recorded>) -> Result<Past, StoreError> {
        let mut past = Past::nothing(stream);
        for recorded in events {
            let event = known(&recorded)?;
            past.add(recorded.causation, recorded.position, event);
        }
        Ok(past)
    }

    /// Adds what a command did.
    pub(super) fn add(&mut self, command: CommandId, position: Position, event: Event) {
        self.project = std::mem::take(&mut self.project).evolve(&event);
        self.version = self.version.next();
        self.acts.push(Act { command, position, event });
    }

    /// The project as it is.
    pub(super) fn project(&self) -> &Project {
        &self.project
    }

    /// Whether the project shows a picture, in its newest or a former revision: it was attached, and not erased since.
    pub(super) fn shows(&self, picture: PictureId) -> bool {
        let of_it = self.acts.iter().rev().find_map(|act| match &act.event {
            Event::PictureAttached(attached) => (attached.picture.id == picture).then_some(true),
            Event::PictureErased(erased) => (erased.picture == picture).then_some(false),
            _ => None,
        });
        of_it.unwrap_or(false)
    }

    /// The project as a command found it, if the command did something.
    pub(super) fn before(&self, command: CommandId) -> Option<Project> {
        let first = self.acts.iter().position(|act| act.command == command)?;
        Some(Project::replay(self.acts[..first].iter().map(|act| &act.event)))
    }

    /// The project as a command left it and the position of the last thing it did, if it did something.
    pub(super) fn after(&self, command: CommandId) -> Option<(Project, Position)> {
        let last = self.acts.iter().rposition(|act| act.command == command)?;
        let project = Project::replay(self.acts[..=last].iter().map(|act| &act.event));
        Some((project, self.acts[last].position))
    }
}

/// The event, if this version knows it.
pub(super) fn known(recorded: &Recorded) -> Result<Event, StoreError> {
    match recorded.decode() {
        Ok(Decoded::Known(event)) => Ok(*event),
        Ok(Decoded::Unknown) => Err(StoreError::unavailable(format!(
            "{} has events of a newer Loggia ({}); use that one to change it",
            recorded.stream, recorded.kind
        ))),
        Err(error) => Err(StoreError::corrupt(error.to_string())),
    }
}
