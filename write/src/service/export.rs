//! The whole catalog as import lines, page by page, as it stood at one position of the log.

use std::collections::{HashMap, HashSet, VecDeque};

use event_log::{EventLog, Namespace, StoreError};
use futures::{Stream, stream};
use schemas::envelope::Recorded;
use schemas::event::VectorsRecorded;
use schemas::ids::Position;
use schemas::import::{ImportRecord, SlugOrigin};
use schemas::picture::PictureId;

use super::past::Past;
use crate::computed;
use crate::project::{Listing, PictureFate, Project};

/// The type of events that record vectors, in every version.
const VECTORS: &str = "loggia.curation.vectors_recorded.";

/// How many slugs are looked at for one page.
const PAGE: usize = 200;

/// Which vectors an export has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportedVectors {
    /// Those that were brought. Computed ones come again wherever the records are imported.
    Brought,
    /// Computed ones too.
    All,
}

/// A listed project as it is exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Its import line, without a line end.
    pub line: String,
    /// The kept pictures whose sources are files, by source.
    pub pictures: Vec<(String, PictureId)>,
}

/// An export under way. It holds one page in memory, however large the catalog is.
struct Export<'s> {
    store: &'s EventLog,
    /// The position that the export shows, once it began.
    head: Option<Position>,
    after: String,
    projects: VecDeque<Exported>,
    vectors: ExportedVectors,
}

/// The catalog as it is when the first project is asked for, in the order of the slugs. What changes meanwhile does not show;
/// withdrawn projects and old slugs are left out.
pub fn export(
    store: &EventLog,
    vectors: ExportedVectors,
) -> impl Stream<Item = Result<Exported, StoreError>> + Send + '_ {
    let export = Export { store, head: None, after: String::new(), projects: VecDeque::new(), vectors };
    stream::try_unfold(export, |mut export| async move {
        while export.projects.is_empty() {
            if !export.read_page().await? {
                return Ok(None);
            }
        }
        Ok(export.projects.pop_front().map(|project| (project, export)))
    })
}

impl Export<'_> {
    /// Reads the next page; false at the end. A page of old slugs alone gives no project.
    async fn read_page(&mut self) -> Result<bool, StoreError> {
        let head = match self.head {
            Some(head) => head,
            None => self.store.head().await?.position,
        };
        self.head = Some(head);
        let claims = self.store.claims(Namespace::SLUG, &self.after, PAGE).await?;
        let Some((last, _)) = claims.last() else { return Ok(false) };
        self.after.clone_from(last);
        let streams: Vec<_> = claims.iter().map(|(_, stream)| stream.clone()).collect();
        let (mut projects, mut encoded) = (HashMap::new(), HashSet::new());
        for (stream, mut events) in self.store.read_streams(&streams).await? {
            events.retain(|event| event.position <= head);
            if self.vectors == ExportedVectors::Brought && are_computed(&events) {
                encoded.insert(stream.clone());
            }
            projects.insert(stream.clone(), Past::of(stream, events)?);
        }
        for (name, stream) in claims {
            if let Some(Project::Listed(listing)) = projects.get(&stream).map(Past::project)
                && listing.slug.as_str() == name
            {
                let vectors = listing.vectors.clone().filter(|vectors| {
                    // Beside a computed side the other one was brought.
                    let is_computed = computed::is_built_in(&vectors.model)
                        || encoded.contains(&stream) && vectors.computed.is_none();
                    self.vectors == ExportedVectors::All || !is_computed
                });
                let (line, pictures) = (line(listing, vectors)?, pictures(listing));
                self.projects.push_back(Exported { line, pictures });
            }
        }
        Ok(true)
    }
}

/// Returns whether the newest vectors of a project were recorded as computed.
fn are_computed(events: &[Recorded]) -> bool {
    let newest = events.iter().rfind(|event| event.kind.starts_with(VECTORS));
    newest.is_some_and(|event| event.actor.as_str() == computed::ACTOR)
}

fn pictures(listing: &Listing) -> Vec<(String, PictureId)> {
    let files = listing.record.pictures.iter().filter(|picture| picture.is_file());
    let kept = files.filter_map(|picture| match listing.pictures.get(&picture.source)? {
        PictureFate::Attached(kept) => Some((picture.source.clone(), kept.id)),
        PictureFate::Refused(_) | PictureFate::Erased(_) => None,
    });
    kept.collect()
}

fn line(listing: &Listing, vectors: Option<VectorsRecorded>) -> Result<String, StoreError> {
    ImportRecord {
        slug: listing.slug.clone(),
        record: listing.record.clone(),
        origin: SlugOrigin::Given,
        id: None,
        vectors,
    }
    .to_line()
    .map_err(|error| StoreError::corrupt(error.to_string()))
}
