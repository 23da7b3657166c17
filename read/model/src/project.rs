//! The state of a project as readers see it, folded from its events.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemas::api::summary::Edition;
use schemas::event::Event;
use schemas::ids::{Position, Revision};
use schemas::picture::Picture;
use schemas::record::Record;
use schemas::slug::Slug;
use serde::{Deserialize, Serialize};

/// A project as of some event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// The position of the event that selected it, which orders projects by selection.
    pub ordinal: Position,
    /// The present slug.
    pub slug: Slug,
    /// The number of the record's revision, from 1.
    pub revision: Revision,
    /// The slug when that revision was recorded.
    pub recorded_slug: Slug,
    /// The present record.
    pub record: Record,
    /// The stored pictures by source, including sources that only former revisions name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pictures: BTreeMap<String, Picture>,
    /// The time of its selection.
    pub added_at: Timestamp,
    /// The time of the last change of the record or slug, or of a withdrawal or its end.
    pub updated_at: Timestamp,
    /// The reason for its withdrawal, while it is withdrawn.
    pub withdrawn: Option<String>,
}

/// The reason why an event cannot follow the previous ones of its project. The write side never appends such an event; a log that
/// contains one is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnexpectedEvent {
    /// The project was never selected.
    #[error("it refers to a project that was not selected before")]
    NotSelected,
    /// The project was selected before.
    #[error("it selects a project that was selected before")]
    SelectedTwice,
    /// The event concerns an account.
    #[error("it is an event of an account in the stream of a project")]
    OfAnAccount,
}

impl Project {
    /// Returns the view from which its answers are rendered.
    pub fn edition(&self) -> Edition<'_> {
        Edition {
            slug: &self.slug,
            revision: self.revision,
            recorded_slug: &self.recorded_slug,
            record: &self.record,
            pictures: &self.pictures,
            added_at: self.added_at,
        }
    }

    /// Returns whether an event may change what readers see. Vectors, which are recorded for every record, and refused pictures do
    /// not.
    pub fn is_changed_by(event: &Event) -> bool {
        !matches!(event, Event::VectorsRecorded(_) | Event::PictureRefused(_))
    }

    /// Returns the state after an event. An event that does not concern readers changes nothing.
    ///
    /// # Errors
    ///
    /// Returns an error for an event that cannot follow the state.
    pub fn evolve(
        project: Option<Project>,
        event: &Event,
        position: Position,
        time: Timestamp,
    ) -> Result<Project, UnexpectedEvent> {
        let mut project = match (project, event) {
            (None, Event::ProjectSelected(selected)) => {
                return Ok(Project {
                    ordinal: position,
                    slug: selected.slug.clone(),
                    revision: Revision::FIRST,
                    recorded_slug: selected.slug.clone(),
                    record: selected.record.clone(),
                    pictures: BTreeMap::new(),
                    added_at: time,
                    updated_at: time,
                    withdrawn: None,
                });
            }
            (_, Event::Account(_)) => return Err(UnexpectedEvent::OfAnAccount),
            (None, _) => return Err(UnexpectedEvent::NotSelected),
            (Some(_), Event::ProjectSelected(_)) => return Err(UnexpectedEvent::SelectedTwice),
            (Some(project), Event::VectorsRecorded(_) | Event::PictureRefused(_)) => return Ok(project),
            (Some(mut project), Event::PictureAttached(attached)) => {
                project.pictures.insert(attached.source.clone(), attached.picture.clone());
                return Ok(project);
            }
            (Some(mut project), Event::PictureErased(erased)) => {
                project.pictures.retain(|_, picture| picture.id != erased.picture);
                return Ok(project);
            }
            (Some(mut project), Event::ProjectRevised(revised)) => {
                project.record.clone_from(&revised.record);
                project.revision = project.revision.next();
                project.recorded_slug.clone_from(&project.slug);
                project
            }
            (Some(mut project), Event::ProjectRenamed(renamed)) => {
                project.slug.clone_from(&renamed.slug);
                project
            }
            (Some(mut project), Event::ProjectWithdrawn(withdrawn)) => {
                project.withdrawn = Some(withdrawn.reason.clone());
                project
            }
            (Some(mut project), Event::ProjectRestored(_)) => {
                project.withdrawn = None;
                project
            }
        };
        project.updated_at = time;
        Ok(project)
    }
}
