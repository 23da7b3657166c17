//! The archive at one commit, as it is asked.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;
use schemas::record::Category;

use super::dictionary::{Dictionary, Reading, Term};
use super::newest::{Entry, Newest};
use super::order::Day;
use super::rebuild::{Arrivals, Coming};
use super::shelf::Shelf;
use super::words::Stems;

/// Never changed; another one takes its place.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) shelf: Shelf,
    pub(super) newest: Newest,
    pub(super) dictionary: Arc<Dictionary>,
}

/// What has changed since a snapshot.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Everything that changed: where it stands in the snapshot, it leaves that place.
    changed: HashSet<u64, RandomState>,
    /// What is listed of it.
    coming: Vec<Coming>,
    newest: Vec<Entry>,
    terms: Vec<Term>,
}

/// A changed project as the database has it.
pub(super) struct Changed<'a> {
    pub(super) ordinal: u64,
    pub(super) slug: &'a str,
    pub(super) category: Category,
    /// Its publication.
    pub(super) published: Day,
    /// The day that it is browsed by.
    pub(super) newest: Day,
    pub(super) is_listed: bool,
    pub(super) words: &'a str,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    pub(super) fn add(&mut self, project: &Changed<'_>, reading: &mut Reading<'_>) {
        self.changed.insert(project.ordinal);
        if !project.is_listed {
            return;
        }
        let first = self.terms.len();
        reading.read(project.words, &mut self.terms);
        self.coming.push(Coming {
            day: project.published,
            slug: project.slug.to_owned(),
            ordinal: project.ordinal,
            category: project.category as usize,
            terms: first..self.terms.len(),
        });
        let Changed { newest: day, ordinal, category, .. } = *project;
        self.newest.push(Entry { day, ordinal, category });
    }
}

impl Snapshot {
    /// Of nothing, in blocks that will hold so many projects at the most.
    pub(super) fn new(largest: usize) -> Snapshot {
        Snapshot { shelf: Shelf::new(largest), newest: Newest::new(largest), dictionary: Arc::default() }
    }

    pub(super) fn reading<'a>(&self, stems: &'a Stems) -> Reading<'a> {
        Reading::new(stems, self.dictionary.clone())
    }

    /// The archive behind the changes, whose words stand in this dictionary.
    pub(super) fn changed(&self, mut changes: Changes, dictionary: Arc<Dictionary>) -> Snapshot {
        changes.coming.sort_unstable_by(|a, b| a.place().cmp(&b.place()));
        let arrivals = Arrivals { projects: &changes.coming, terms: &changes.terms, dictionary: &dictionary };
        let shelf = self.shelf.changed(&changes.changed, arrivals);
        let newest = self.newest.changed(&changes.changed, changes.newest);
        Snapshot { shelf, newest, dictionary }
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let blocks: usize = self.shelf.blocks.iter().map(|block| block.bytes()).sum();
        blocks + self.newest.bytes() + self.dictionary.bytes()
    }
}
