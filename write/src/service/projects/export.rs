//! Exports the catalog as import lines, page by page, at one position of the log.

use std::collections::{HashMap, HashSet, VecDeque};

use event_log::{EventLog, Namespace, StoreError};
use futures::{Stream, stream};
use schemas::envelope::Recorded;
use schemas::event::VectorsRecorded;
use schemas::ids::Position;
use schemas::import::{ImportRecord, SlugOrigin};
use schemas::picture::PictureId;

use super::history::ProjectHistory;
use crate::project::{self, Listing, PictureOutcome, Project};

/// The type of events that record vectors, in every version.
const VECTORS: &str = "loggia.curation.vectors_recorded.";

const PAGE: usize = 200;

/// The vectors that an export contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportedVectors {
    /// Only supplied ones. The others are computed again where the records are imported.
    Supplied,
    /// All, computed ones too.
    All,
}

/// An exported project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedProject {
    /// Its import line, without a line end.
    pub line: String,
    /// The stored pictures whose sources are files, by source.
    pub pictures: Vec<(String, PictureId)>,
}

/// An export under way. It has one page in memory, whatever the size of the catalog.
struct Export<'s> {
    log: &'s EventLog,
    /// The position that is exported; `None` before the first page.
    head: Option<Position>,
    after: String,
    projects: VecDeque<ExportedProject>,
    vectors: ExportedVectors,
}

/// Returns the catalog at the time when the first project is requested, in the order of the slugs, without withdrawn
/// projects and former slugs. Later changes have no effect.
///
/// # Errors
///
/// The stream fails if the log cannot be read, or has events of a newer version.
pub fn export(
    log: &EventLog,
    vectors: ExportedVectors,
) -> impl Stream<Item = Result<ExportedProject, StoreError>> + Send + '_ {
    let export = Export { log, head: None, after: String::new(), projects: VecDeque::new(), vectors };
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
    /// Reads the next page; returns false at the end. A page of former slugs only adds no project.
    async fn read_page(&mut self) -> Result<bool, StoreError> {
        let head = match self.head {
            Some(head) => head,
            None => self.log.head().await?.position,
        };
        self.head = Some(head);
        let claims = self.log.claims(Namespace::SLUG, &self.after, PAGE).await?;
        let Some((last, _)) = claims.last() else { return Ok(false) };
        self.after.clone_from(last);
        let streams: Vec<_> = claims.iter().map(|(_, stream)| stream.clone()).collect();
        let (mut projects, mut encoded) = (HashMap::new(), HashSet::new());
        for (stream, mut events) in self.log.read_streams(&streams).await? {
            events.retain(|event| event.position <= head);
            if self.vectors == ExportedVectors::Supplied && are_computed(&events) {
                encoded.insert(stream.clone());
            }
            projects.insert(stream.clone(), ProjectHistory::of(stream, events)?);
        }
        for (name, stream) in claims {
            if let Some(Project::Listed(listing)) = projects.get(&stream).map(ProjectHistory::project)
                && listing.slug.as_str() == name
            {
                let vectors = listing.vectors.clone().filter(|vectors| {
                    // The side beside a computed one was supplied.
                    let is_computed = project::is_own_encoder(&vectors.model)
                        || encoded.contains(&stream) && vectors.computed.is_none();
                    self.vectors == ExportedVectors::All || !is_computed
                });
                let (line, pictures) = (line(listing, vectors)?, pictures(listing));
                self.projects.push_back(ExportedProject { line, pictures });
            }
        }
        Ok(true)
    }
}

/// Returns whether the newest vectors of a project were recorded as computed.
fn are_computed(events: &[Recorded]) -> bool {
    let newest = events.iter().rfind(|event| event.kind.starts_with(VECTORS));
    newest.is_some_and(|event| event.actor.as_str() == project::COMPUTED_BY)
}

fn pictures(listing: &Listing) -> Vec<(String, PictureId)> {
    let files = listing.record.pictures.iter().filter(|picture| picture.is_file());
    let kept = files.filter_map(|picture| match listing.pictures.get(&picture.source)? {
        PictureOutcome::Attached(kept) => Some((picture.source.clone(), kept.id)),
        PictureOutcome::Refused(_) | PictureOutcome::Erased(_) => None,
    });
    kept.collect()
}

fn line(listing: &Listing, vectors: Option<VectorsRecorded>) -> Result<String, StoreError> {
    ImportRecord {
        slug: listing.slug.clone(),
        record: listing.record.clone(),
        origin: SlugOrigin::Given,
        id: listing.id().cloned(),
        vectors,
    }
    .to_line()
    .map_err(|error| StoreError::corrupt(error.to_string()))
}
