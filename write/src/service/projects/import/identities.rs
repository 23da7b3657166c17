//! An index of the catalog by what identifies a record without a slug. The first import that needs it builds it from the log;
//! later ones catch up.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use event_log::{EventLog, StoreError};
use schemas::event::Event;
use schemas::ids::{Position, ProjectId, StreamId};
use schemas::import::Identity;
use schemas::record::Record;
use schemas::versioned::Decoded;

/// The number of events that are read at once.
const PAGE: usize = 1_000;

/// The types of events that contain a record, in every version.
const KINDS: [&str; 2] = ["loggia.curation.project_selected.", "loggia.curation.project_revised."];

/// The projects that have or had an identity, by a hash of it: 24 bytes for each identity of a project.
#[derive(Debug, Default)]
pub(in crate::service::projects) struct IdentityIndex {
    hashes: RandomState,
    after: Position,
    projects: BTreeSet<(u64, ProjectId)>,
}

impl IdentityIndex {
    /// Reads the events since the last call.
    pub(super) async fn catch_up(&mut self, log: &EventLog) -> Result<(), StoreError> {
        loop {
            let page = log.read_all(self.after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            for recorded in &page {
                if !KINDS.iter().any(|kind| recorded.kind.starts_with(kind)) {
                    continue;
                }
                // An event that cannot be decoded is reported when its project is loaded.
                let Ok(Decoded::Known(event)) = recorded.decode() else { continue };
                if let (Some(id), Some(record)) = (recorded.stream.as_project(), record(&event)) {
                    self.projects.insert((self.hash(&Identity::of(record)), id));
                }
            }
            self.after = last.position;
        }
    }

    /// Returns the streams of the projects that have or had this identity, or one with the same hash.
    pub(super) fn find(&self, identity: &Identity) -> impl Iterator<Item = StreamId> {
        let hash = self.hash(identity);
        let (first, last) = (ProjectId(ulid::Ulid(0)), ProjectId(ulid::Ulid(u128::MAX)));
        self.projects.range((hash, first)..=(hash, last)).map(|(_, id)| StreamId::project(*id))
    }

    fn hash(&self, identity: &Identity) -> u64 {
        self.hashes.hash_one(identity)
    }
}

fn record(event: &Event) -> Option<&Record> {
    match event {
        Event::ProjectSelected(selected) => Some(&selected.record),
        Event::ProjectRevised(revised) => Some(&revised.record),
        Event::ProjectRenamed(_)
        | Event::ProjectIdentified(_)
        | Event::ProjectWithdrawn(_)
        | Event::ProjectRestored(_)
        | Event::PictureAttached(_)
        | Event::PictureRefused(_)
        | Event::PictureErased(_)
        | Event::VectorsRecorded(_)
        | Event::Account(_) => None,
    }
}
