//! The state of a project as readers see it, folded from its events.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemas::api::summary::Edition;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Position, Revision};
use schemas::picture::Picture;
use schemas::record::Record;
use schemas::slug::Slug;
use serde::{Deserialize, Serialize};

use crate::awaited_pictures::AwaitedPictures;

/// The awaited pictures of a withdrawn project.
static NONE: BTreeSet<String> = BTreeSet::new();

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
    /// The pictures that are being fetched or drawn.
    #[serde(default, skip_serializing_if = "AwaitedPictures::is_empty")]
    pub awaited: AwaitedPictures,
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
            awaited: self.awaited(),
            added_at: self.added_at,
        }
    }

    /// Returns the sources of pictures that are being fetched or drawn: none while it is withdrawn.
    pub fn awaited(&self) -> &BTreeSet<String> {
        if self.withdrawn.is_some() { &NONE } else { self.awaited.sources() }
    }

    /// Returns whether an event may change what readers see. Vectors, which are recorded for every record, and external ids do not.
    pub fn is_changed_by(event: &Event) -> bool {
        !matches!(event, Event::VectorsRecorded(_) | Event::ProjectIdentified(_))
    }

    /// Returns the state after an event of this envelope. An event that does not concern readers changes nothing.
    ///
    /// # Errors
    ///
    /// Returns an error for an event that cannot follow the state.
    pub fn evolve(
        project: Option<Project>,
        event: &Event,
        recorded: &Recorded,
    ) -> Result<Project, UnexpectedEvent> {
        let mut project = match (project, event) {
            (None, Event::ProjectSelected(selected)) => {
                let mut awaited = AwaitedPictures::default();
                awaited.set_record(&selected.record, &recorded.actor, &BTreeMap::new());
                return Ok(Project {
                    ordinal: recorded.position,
                    slug: selected.slug.clone(),
                    revision: Revision::FIRST,
                    recorded_slug: selected.slug.clone(),
                    record: selected.record.clone(),
                    pictures: BTreeMap::new(),
                    awaited,
                    added_at: recorded.time,
                    updated_at: recorded.time,
                    withdrawn: None,
                });
            }
            (_, Event::Account(_)) => return Err(UnexpectedEvent::OfAnAccount),
            (None, _) => return Err(UnexpectedEvent::NotSelected),
            (Some(_), Event::ProjectSelected(_)) => return Err(UnexpectedEvent::SelectedTwice),
            (Some(project), Event::VectorsRecorded(_) | Event::ProjectIdentified(_)) => return Ok(project),
            (Some(mut project), Event::PictureRefused(refused)) => {
                project.awaited.settle(&refused.source);
                return Ok(project);
            }
            (Some(mut project), Event::PictureAttached(attached)) => {
                project.pictures.insert(attached.source.clone(), attached.picture.clone());
                project.awaited.settle(&attached.source);
                return Ok(project);
            }
            (Some(mut project), Event::PictureErased(erased)) => {
                project.awaited.erase(erased.picture, &project.pictures);
                project.pictures.retain(|_, picture| picture.id != erased.picture);
                return Ok(project);
            }
            (Some(mut project), Event::ProjectRevised(revised)) => {
                project.record.clone_from(&revised.record);
                project.awaited.set_record(&project.record, &recorded.actor, &project.pictures);
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
        project.updated_at = recorded.time;
        Ok(project)
    }
}
