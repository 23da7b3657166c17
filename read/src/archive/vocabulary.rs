//! How often the words of the archive are used, counted beside the requests that ask for it.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use schemas::record::Category;

use super::browse;
use super::counts::Counts;
use super::dictionary::Dictionary;
use super::snapshot::Snapshot;

/// When words are counted again behind a commit: a count takes a pass over all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Counted at each commit up to this number of projects.
    pub(super) few: u64,
    /// Of more projects, once this multiple of the time that the last count took has passed.
    pub(super) rest: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { few: 20_000, rest: 20 }
    }
}

/// The use of the words in one snapshot, which may be somewhat older than the one that is asked beside it.
#[derive(Debug)]
pub(super) struct Vocabulary {
    snapshot: Arc<Snapshot>,
    /// Of all projects and of each category: a category is counted when somebody asks for it first, and then with the others.
    counts: [OnceLock<Counts>; 6],
    counted: Instant,
    took: Duration,
}

impl Vocabulary {
    /// Counts the words of a snapshot, of all projects and of the categories that were asked for in an earlier one.
    pub(super) fn of(snapshot: Arc<Snapshot>, earlier: Option<&Vocabulary>) -> Vocabulary {
        let begun = Instant::now();
        let vocabulary =
            Vocabulary { snapshot, counts: Default::default(), counted: begun, took: Duration::ZERO };
        vocabulary.counts(None);
        for category in Category::ALL {
            if earlier.is_some_and(|earlier| earlier.counts[index(Some(category))].get().is_some()) {
                vocabulary.counts(Some(category));
            }
        }
        Vocabulary { counted: Instant::now(), took: begun.elapsed(), ..vocabulary }
    }

    /// Whether it should be made again for a snapshot.
    pub(super) fn is_due(&self, snapshot: &Arc<Snapshot>, pace: Pace) -> bool {
        !Arc::ptr_eq(&self.snapshot, snapshot)
            && (browse::listed(snapshot, None) <= pace.few
                || self.counted.elapsed() >= self.took.saturating_mul(pace.rest))
    }

    /// How often each word is used in projects of a category, or in all.
    pub(super) fn counts(&self, category: Option<Category>) -> &Counts {
        let Snapshot { shelf, dictionary, .. } = &*self.snapshot;
        self.counts[index(category)].get_or_init(|| Counts::of(shelf, dictionary, category))
    }

    /// The words that were counted.
    pub(super) fn dictionary(&self) -> &Dictionary {
        &self.snapshot.dictionary
    }

    /// The memory that the counts take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.counts.iter().filter_map(OnceLock::get).map(Counts::bytes).sum()
    }
}

fn index(category: Option<Category>) -> usize {
    category.map_or(0, |category| 1 + category as usize)
}
