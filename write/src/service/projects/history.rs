//! The events of one project, with the command that caused each.

use event_log::StoreError;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{CommandId, Position, StreamId, StreamVersion};
use schemas::picture::PictureId;

use crate::project::Project;
use crate::service::decode_known;

/// The history of one project, in memory.
pub(in crate::service) struct ProjectHistory {
    pub(in crate::service) stream: StreamId,
    pub(in crate::service) version: StreamVersion,
    entries: Vec<Entry>,
    project: Project,
}

struct Entry {
    command: CommandId,
    position: Position,
    event: Event,
}

impl ProjectHistory {
    pub(super) fn empty(stream: StreamId) -> ProjectHistory {
        ProjectHistory {
            stream,
            version: StreamVersion::default(),
            entries: Vec::new(),
            project: Project::Absent,
        }
    }

    /// Returns the history that consists of these events. Fails for events of a newer version, which this one cannot
    /// decide on.
    pub(super) fn of(stream: StreamId, events: Vec<Recorded>) -> Result<ProjectHistory, StoreError> {
        let mut history = ProjectHistory::empty(stream);
        for recorded in events {
            let event = decode_known(&recorded)?;
            history.project = std::mem::take(&mut history.project).evolve(&event);
            history.version = history.version.next();
            let (command, position) = (recorded.causation, recorded.position);
            history.entries.push(Entry { command, position, event });
        }
        Ok(history)
    }

    /// Returns the current state of the project.
    pub(in crate::service) fn project(&self) -> &Project {
        &self.project
    }

    /// Returns whether the project shows a picture in its newest or a former revision: it was attached, and not erased since.
    pub(in crate::service) fn shows(&self, picture: PictureId) -> bool {
        let last = self.entries.iter().rev().find_map(|entry| match &entry.event {
            Event::PictureAttached(attached) => (attached.picture.id == picture).then_some(true),
            Event::PictureErased(erased) => (erased.picture == picture).then_some(false),
            _ => None,
        });
        last.unwrap_or(false)
    }

    /// Returns the project as a command found it; `None` if the command appended nothing.
    pub(super) fn before(&self, command: CommandId) -> Option<Project> {
        let first = self.entries.iter().position(|entry| entry.command == command)?;
        Some(Project::replay(self.entries[..first].iter().map(|entry| &entry.event)))
    }

    /// Returns the project as a command left it, and the position of the last event of the command; `None` if it appended
    /// nothing.
    pub(in crate::service) fn after(&self, command: CommandId) -> Option<(Project, Position)> {
        let last = self.entries.iter().rposition(|entry| entry.command == command)?;
        let project = Project::replay(self.entries[..=last].iter().map(|entry| &entry.event));
        Some((project, self.entries[last].position))
    }
}
