//! The project: what an editor may do with it, and what follows. Everything here is pure; one use case, one file.

mod addresses;
mod describe;
mod import;
mod picture;
mod rejection;
mod rename;
mod restore;
mod revise;
#[cfg(test)]
mod scenario;
mod select;
mod withdraw;

use std::collections::BTreeMap;

use schemas::event::{ComputedSide, Event, ProjectRevised, VectorsRecorded};
use schemas::ids::Revision;
use schemas::picture::{Picture, PictureId};
use schemas::record::Record;
use schemas::slug::Slug;

pub use describe::{describe, describe_beside, give_back, gives_back};
pub use import::{Change, complete, import};
pub use picture::{attach, attach_named, look_at};
pub use rejection::Rejection;
pub use rename::rename;
pub use restore::restore;
pub use revise::revise;
pub use select::select;
pub use withdraw::withdraw;

/// A project as its events tell it.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Project {
    /// Nothing happened yet.
    #[default]
    Absent,
    /// It is in the catalog.
    Listed(Listing),
    /// It left the catalog; all that is known of it stays.
    Withdrawn {
        /// What it was when it left.
        listing: Listing,
        /// Why it left.
        reason: String,
    },
}

/// What is known of a project that was ever in the catalog.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Where it is found.
    pub slug: Slug,
    /// The external id that its first slug was made from, where the log says so.
    pub id: Option<String>,
    /// What is recorded of it.
    pub record: Record,
    /// How often the record was written.
    pub revision: Revision,
    /// What became of each picture that was looked at, by its source.
    pub pictures: BTreeMap<String, PictureFate>,
    /// The newest vectors, if any were recorded.
    pub vectors: Option<VectorsRecorded>,
}

/// What became of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureFate {
    /// It is kept.
    Attached(Picture),
    /// It cannot be kept, for this reason.
    Refused(String),
    /// It was kept and is taken down for good.
    Erased(PictureId),
}

impl Project {
    /// The project after one more event.
    pub fn evolve(self, event: &Event) -> Project {
        match event {
            Event::ProjectSelected(selected) => Project::Listed(Listing {
                slug: selected.slug.clone(),
                id: selected.id.clone(),
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
            Event::PictureAttached(attached) => self.with(|listing| {
                let fate = PictureFate::Attached(attached.picture.clone());
                listing.pictures.insert(attached.source.clone(), fate);
            }),
            Event::PictureRefused(refused) => self.with(|listing| {
                listing.pictures.insert(refused.source.clone(), PictureFate::Refused(refused.reason.clone()));
            }),
            Event::PictureErased(erased) => self.with(|listing| {
                for fate in listing.pictures.values_mut() {
                    if matches!(fate, PictureFate::Attached(picture) if picture.id == erased.picture) {
                        *fate = PictureFate::Erased(erased.picture);
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
            // It stands in no project's stream.
            Event::Account(_) => self,
        }
    }

    /// The project after these events, from its first on.
    pub fn replay<'e>(events: impl IntoIterator<Item = &'e Event>) -> Project {
        events.into_iter().fold(Project::Absent, Project::evolve)
    }

    /// What is known of it, in the catalog or not.
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

    /// Whether the project asked for as `slug` may be changed, or why not.
    pub(crate) fn may_be_changed(&self, slug: &Slug) -> Result<(), Rejection> {
        self.listed(slug).map(|_| ())
    }

    /// The listing of a project that may be changed, or why it may not; `asked` is the slug that was asked for.
    fn listed(&self, asked: &Slug) -> Result<&Listing, Rejection> {
        match self {
            Project::Absent => Err(Rejection::Unknown { slug: asked.clone() }),
            Project::Listed(listing) => Ok(listing),
            Project::Withdrawn { listing, reason } => {
                Err(Rejection::Withdrawn { slug: listing.slug.clone(), reason: reason.clone() })
            }
        }
    }
}

impl Listing {
    /// What must happen so that the project has this record and, if any are brought, these vectors.
    fn rewritten(&self, record: Record, vectors: Option<VectorsRecorded>) -> Vec<Event> {
        let revised = (record != self.record).then_some(Event::ProjectRevised(ProjectRevised { record }));
        revised.into_iter().chain(self.news(vectors).map(Event::VectorsRecorded)).collect()
    }

    /// The vectors that a brought set makes the newest, if they say anything new. A side that is not brought stays
    /// as the same model made it, so that the newest event alone tells all.
    fn news(&self, brought: Option<VectorsRecorded>) -> Option<VectorsRecorded> {
        let mut brought = brought?;
        let known = self.vectors.as_ref();
        let side_is_free = |side: &ComputedSide| {
            (side.visual.is_none() || brought.visual.is_none())
                && (side.semantic.is_none() || brought.semantic.is_none())
        };
        brought.computed = known.and_then(|known| known.computed.clone()).filter(side_is_free);
        if let Some(known) = self.vectors.as_ref().filter(|known| known.model == brought.model) {
            brought.visual = brought.visual.or_else(|| known.visual.clone());
            brought.semantic = brought.semantic.or_else(|| known.semantic.clone());
        }
        (self.vectors.as_ref() != Some(&brought)).then_some(brought)
    }
}

/// The slug that an event claims for its project, for ever.
pub fn claimed(event: &Event) -> Option<&Slug> {
    match event {
        Event::ProjectSelected(selected) => Some(&selected.slug),
        Event::ProjectRenamed(renamed) => Some(&renamed.slug),
        Event::ProjectRevised(_)
        | Event::ProjectWithdrawn(_)
        | Event::ProjectRestored(_)
        | Event::PictureAttached(_)
        | Event::PictureRefused(_)
        | Event::PictureErased(_)
        | Event::VectorsRecorded(_)
        | Event::Account(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::scenario::*;
    use super::*;

    #[test]
    fn the_record_is_counted_and_nothing_else() {
        let project =
            Project::replay(&[selected(), renamed("b"), vectors("m", &[1.0]), withdrawn("sold"), restored()]);
        assert_eq!(project.listing().unwrap().revision, Revision(1));
        let project = project.evolve(&revised("Second")).evolve(&revised("Third"));
        assert_eq!(project.listing().unwrap().revision, Revision(3));
        assert_eq!(project.listing().unwrap().record.name, "Third");
    }

    #[test]
    fn a_withdrawn_project_keeps_all_that_is_known() {
        let listed = Project::replay(&[selected(), vectors("m", &[1.0])]);
        let withdrawn = listed.clone().evolve(&withdrawn("sold"));
        assert_eq!(withdrawn.listing(), listed.listing());
        assert_eq!(withdrawn.evolve(&restored()), listed);
    }

    #[test]
    fn a_side_that_is_not_brought_stays_as_the_same_model_made_it() {
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
            listing.news(Some(semantic("m"))),
            Some(VectorsRecorded {
                model: "m".into(),
                visual: vector(1.0),
                semantic: vector(2.0),
                computed: None
            })
        );
        assert_eq!(listing.news(Some(semantic("other"))), Some(semantic("other")));
    }

    #[test]
    fn only_selecting_and_renaming_claim_a_slug() {
        let claims: Vec<_> = [selected(), revised("B"), renamed("c"), withdrawn("x"), restored()]
            .iter()
            .filter_map(|event| claimed(event).map(ToString::to_string))
            .collect();
        assert_eq!(claims, ["a", "c"]);
    }
}
