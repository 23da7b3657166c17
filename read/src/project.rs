//! What a project's events add up to for its readers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemas::api::summary::Edition;
use schemas::event::Event;
use schemas::ids::{Position, Revision};
use schemas::picture::Picture;
use schemas::record::Record;
use schemas::slug::Slug;
use serde::{Deserialize, Serialize};

/// A project as it stands behind some event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// The position of the event that selected it: counts projects in the order of their selection.
    pub ordinal: Position,
    /// Where it is found.
    pub slug: Slug,
    /// Counts what the record said.
    pub revision: Revision,
    /// Where it was found when that revision was recorded.
    pub recorded_slug: Slug,
    /// What is recorded.
    pub record: Record,
    /// The pictures that are kept, by the source that the record names or named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pictures: BTreeMap<String, Picture>,
    /// When it was selected first.
    pub added_at: Timestamp,
    /// When the record, the slug or its standing last changed.
    pub updated_at: Timestamp,
    /// Why it left the catalog, if it did.
    pub withdrawn: Option<String>,
}

/// An event that cannot follow what was before it. The write side never makes one; a log that holds one is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutOfPlace {
    /// An event of a project that was never selected.
    #[error("it speaks of a project that was not selected before")]
    NotSelected,
    /// A second first event.
    #[error("it selects a project that was selected before")]
    SelectedTwice,
    /// An event that speaks of no project.
    #[error("it speaks of an account and stands in the stream of a project")]
    OfAnAccount,
}

impl Project {
    /// What its answers are made of.
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

    /// Whether an event may change what readers are told: vectors, of which there is one for every record, and refused
    /// pictures do not.
    pub fn is_changed_by(event: &Event) -> bool {
        !matches!(event, Event::VectorsRecorded(_) | Event::PictureRefused(_))
    }

    /// What `project` becomes through `event`. An event that does not concern readers changes nothing.
    pub fn after(
        project: Option<Project>,
        event: &Event,
        position: Position,
        time: Timestamp,
    ) -> Result<Project, OutOfPlace> {
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
            (_, Event::Account(_)) => return Err(OutOfPlace::OfAnAccount),
            (None, _) => return Err(OutOfPlace::NotSelected),
            (Some(_), Event::ProjectSelected(_)) => return Err(OutOfPlace::SelectedTwice),
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
