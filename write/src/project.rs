//! The project aggregate: what an editor may do with a project. Pure functions, one use case a file.

mod identify;
mod import;
mod picture;
mod rejection;
mod rename;
mod restore;
mod revise;
#[cfg(test)]
mod scenario;
mod select;
mod urls;
mod vectors;
mod withdraw;
mod years;

use std::collections::BTreeMap;

use schemas::event::{ComputedSide, Event, ProjectRevised, VectorsRecorded};
use schemas::external_id::ExternalId;
use schemas::ids::Revision;
use schemas::picture::{Picture, PictureId};
use schemas::record::Record;
use schemas::slug::Slug;

pub use identify::{IdMatch, match_ids};
pub use import::{Change, apply_patch, import};
pub use picture::{attach, attach_to_source, record_fetch};
pub use rejection::Rejection;
pub use rename::rename;
pub use restore::restore;
pub use revise::revise;
pub use select::select;
pub use vectors::{
    COMPUTED_BY, is_own_encoder, record_missing_side, record_vectors, return_to_encoder, returns_to_encoder,
};
pub use withdraw::withdraw;
pub use years::{last_year, reject_years};

/// The state of a project, folded from its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Project {
    /// No events yet.
    #[default]
    Absent,
    /// In the catalog.
    Listed(Listing),
    /// Withdrawn from the catalog; its data stays.
    Withdrawn {
        /// Its data at the time of withdrawal.
        listing: Listing,
        /// The reason for the withdrawal, if one was given.
        reason: String,
    },
}

/// The data of a project that is or was in the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The current slug.
    pub slug: Slug,
    /// The external ids that it has and had, the current one last.
    pub ids: Vec<ExternalId>,
    /// The current record.
    pub record: Record,
    /// The number of revisions, from 1.
    pub revision: Revision,
    /// The outcome for each picture that was fetched or attached, by its source.
    pub pictures: BTreeMap<String, PictureOutcome>,
    /// The newest recorded vectors.
    pub vectors: Option<VectorsRecorded>,
}

/// The outcome for a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureOutcome {
    /// Stored under this id.
    Attached(Picture),
    /// Refused, for this reason.
    Refused(String),
    /// Erased permanently.
    Erased(PictureId),
}

impl Project {
    /// Returns the project after one more event.
    pub fn evolve(self, event: &Event) -> Project {
        match event {
            Event::ProjectSelected(selected) => Project::Listed(Listing {
                slug: selected.slug.clone(),
                ids: selected.id.iter().cloned().collect(),
                record: selected.record.clone(),
                revision: Revision::FIRST,
                pictures: BTreeMap::new(),
                vectors: None,
            }),
            Event::ProjectRevised(revised) => self.with(|listing| {
                listing.record = revised.record.clone();
                listing.revision = listing.revision.next();
            }),
            Event::ProjectRenamed(renamed) => self.with(|listing| listing.slug = renamed.slug.clone()),
            Event::ProjectIdentified(identified) => {
                self.with(|listing| listing.ids.push(identified.id.clone()))
            }
            Event::PictureAttached(attached) => self.with(|listing| {
                let outcome = PictureOutcome::Attached(attached.picture.clone());
                listing.pictures.insert(attached.source.clone(), outcome);
            }),
            Event::PictureRefused(refused) => self.with(|listing| {
                listing
                    .pictures
                    .insert(refused.source.clone(), PictureOutcome::Refused(refused.reason.clone()));
            }),
            Event::PictureErased(erased) => self.with(|listing| {
                for outcome in listing.pictures.values_mut() {
                    if matches!(outcome, PictureOutcome::Attached(picture) if picture.id == erased.picture) {
                        *outcome = PictureOutcome::Erased(erased.picture);
                    }
                }
            }),
            Event::VectorsRecorded(vectors) => self.with(|listing| listing.vectors = Some(vectors.clone())),
            Event::ProjectWithdrawn(withdrawn) => match self {
                Project::Absent => Project::Absent,
                Project::Listed(listing) | Project::Withdrawn { listing, .. } => {
                    Project::Withdrawn { listing, reason: withdrawn.reason.clone() }
                }
            },
            Event::ProjectRestored(_) => match self {
                Project::Withdrawn { listing, .. } => Project::Listed(listing),
                Project::Absent | Project::Listed(_) => self,
            },
            // Never in a project's stream.
            Event::Account(_) => self,
        }
    }

    /// Folds all events of a project.
    pub fn replay<'e>(events: impl IntoIterator<Item = &'e Event>) -> Project {
        events.into_iter().fold(Project::Absent, Project::evolve)
    }

    /// Returns its data, whether it is listed or withdrawn.
    pub fn listing(&self) -> Option<&Listing> {
        match self {
            Project::Absent => None,
            Project::Listed(listing) | Project::Withdrawn { listing, .. } => Some(listing),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Listing)) -> Project {
        match &mut self {
            Project::Absent => {}
            Project::Listed(listing) | Project::Withdrawn { listing, .. } => change(listing),
        }
        self
    }

    /// Rejects unless the project requested as `slug` may be changed.
    pub(crate) fn check_listed(&self, slug: &Slug) -> Result<(), Rejection> {
        self.listed(slug).map(|_| ())
    }

    /// Returns the data of a project that may be changed, or the rejection; `requested` is the requested slug.
    fn listed(&self, requested: &Slug) -> Result<&Listing, Rejection> {
        match self {
            Project::Absent => Err(Rejection::Unknown(requested.clone())),
            Project::Listed(listing) => Ok(listing),
            Project::Withdrawn { listing, reason } => {
                Err(Rejection::Withdrawn { slug: listing.slug.clone(), reason: reason.clone() })
            }
        }
    }
}

impl Listing {
    /// Returns the current external id.
    pub fn id(&self) -> Option<&ExternalId> {
        self.ids.last()
    }

    /// Returns the events that give the project this record and, if any are supplied, these vectors.
    fn revisions(&self, record: Record, vectors: Option<VectorsRecorded>) -> Vec<Event> {
        let revised = (record != self.record).then_some(Event::ProjectRevised(ProjectRevised { record }));
        revised.into_iter().chain(self.merged_vectors(vectors).map(Event::VectorsRecorded)).collect()
    }

    /// Merges supplied vectors with the newest ones; `None` if nothing changes. A side that is not supplied keeps the vector that the
    /// same model made, so that the newest event alone is complete.
    fn merged_vectors(&self, supplied: Option<VectorsRecorded>) -> Option<VectorsRecorded> {
        let mut supplied = supplied?;
        let known = self.vectors.as_ref();
        let side_is_free = |side: &ComputedSide| {
            (side.visual.is_none() || supplied.visual.is_none())
                && (side.semantic.is_none() || supplied.semantic.is_none())
        };
        supplied.computed = known.and_then(|known| known.computed.clone()).filter(side_is_free);
        if let Some(known) = self.vectors.as_ref().filter(|known| known.model == supplied.model) {
            supplied.visual = supplied.visual.or_else(|| known.visual.clone());
            supplied.semantic = supplied.semantic.or_else(|| known.semantic.clone());
        }
        (self.vectors.as_ref() != Some(&supplied)).then_some(supplied)
    }
}

#[cfg(test)]
mod tests {
    use super::scenario::*;
    use super::*;

    #[test]
    fn only_changes_of_the_record_count_as_revisions() {
        let project =
            Project::replay(&[selected(), renamed("b"), vectors("m", &[1.0]), withdrawn("sold"), restored()]);
        assert_eq!(project.listing().unwrap().revision, Revision(1));
        let project = project.evolve(&revised("Second")).evolve(&revised("Third"));
        assert_eq!(project.listing().unwrap().revision, Revision(3));
        assert_eq!(project.listing().unwrap().record.name, "Third");
    }

    #[test]
    fn a_withdrawn_project_keeps_its_data() {
        let listed = Project::replay(&[selected(), vectors("m", &[1.0])]);
        let withdrawn = listed.clone().evolve(&withdrawn("sold"));
        assert_eq!(withdrawn.listing(), listed.listing());
        assert_eq!(withdrawn.evolve(&restored()), listed);
    }

    #[test]
    fn a_side_that_is_not_supplied_keeps_the_vector_of_the_same_model() {
        let vector = |n: f32| Some(schemas::vector::Vector::new(vec![n]).unwrap());
        let project = Project::replay(&[selected(), vectors("m", &[1.0])]);
        let listing = project.listing().unwrap();
        let semantic = |model: &str| VectorsRecorded {
            model: model.into(),
            visual: None,
            semantic: vector(2.0),
            computed: None,
        };
        assert_eq!(
            listing.merged_vectors(Some(semantic("m"))),
            Some(VectorsRecorded {
                model: "m".into(),
                visual: vector(1.0),
                semantic: vector(2.0),
                computed: None
            })
        );
        assert_eq!(listing.merged_vectors(Some(semantic("other"))), Some(semantic("other")));
    }

    #[test]
    fn only_selecting_and_renaming_claim_a_slug() {
        let claims: Vec<_> = [selected(), revised("B"), renamed("c"), withdrawn("x"), restored()]
            .iter()
            .flat_map(event_log::claims::own_names)
            .map(|claim| claim.name)
            .collect();
        assert_eq!(claims, ["a", "c"]);
    }
}
