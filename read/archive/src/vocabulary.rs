//! The use of words in the archive, counted in the background of requests.

mod completions;
mod counts;
mod most_used;
mod nearest;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use schemas::record::Category;

use super::browse;
use super::dictionary::{Dictionary, TermKind};
use super::snapshot::Snapshot;
use completions::Completions;
use counts::TermCounts;

pub(super) use completions::{Completed, Completion, completions};
pub use most_used::{DimensionTerms, Term, TermsPage, TermsRequest};
pub(super) use {
    most_used::most_used_phrases, most_used::most_used_terms, most_used::terms_page, nearest::nearest_terms,
};

const KINDS: [TermKind; 2] = [TermKind::Word, TermKind::Phrase];

/// When words are counted again after a commit. A count reads all posting lists.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecountPolicy {
    /// Up to this number of projects, words are counted at each commit.
    pub(super) always_up_to: u64,
    /// With more projects, words are counted once this multiple of the duration of the last count has passed.
    pub(super) interval: u32,
}

impl Default for RecountPolicy {
    fn default() -> RecountPolicy {
        RecountPolicy { always_up_to: 20_000, interval: 20 }
    }
}

/// The use of the words in one snapshot, which may be older than the one that other queries read.
#[derive(Debug)]
pub(super) struct Vocabulary {
    snapshot: Arc<Snapshot>,
    /// Of all projects and of each category: words, then phrases. All but the words of all projects are counted on their first use, and
    /// from then on with the others.
    counts: [[OnceLock<TermCounts>; 1 + Category::ALL.len()]; KINDS.len()],
    /// What texts are completed from, likewise.
    completions: OnceLock<Completions>,
    counted_at: Instant,
    duration: Duration,
}

impl Vocabulary {
    /// Counts the words of a snapshot, of all projects and of the categories that were counted in an earlier vocabulary.
    pub(super) fn of(snapshot: Arc<Snapshot>, earlier: Option<&Vocabulary>) -> Vocabulary {
        let begun = Instant::now();
        let vocabulary = Vocabulary {
            snapshot,
            counts: Default::default(),
            completions: OnceLock::new(),
            counted_at: begun,
            duration: Duration::ZERO,
        };
        vocabulary.counts(TermKind::Word, None);
        for kind in KINDS {
            for category in std::iter::once(None).chain(Category::ALL.map(Some)) {
                let was_counted = |earlier: &Vocabulary| earlier.count(kind, category).get().is_some();
                if earlier.is_some_and(was_counted) {
                    vocabulary.counts(kind, category);
                }
            }
        }
        if let Some(before) = earlier.and_then(|earlier| earlier.completions.get()) {
            let of = || {
                Completions::of(&vocabulary.snapshot, vocabulary.counts(TermKind::Word, None), Some(before))
            };
            vocabulary.completions.get_or_init(of);
        }
        Vocabulary { counted_at: Instant::now(), duration: begun.elapsed(), ..vocabulary }
    }

    /// Returns whether the words of a newer snapshot should be counted.
    pub(super) fn is_due(&self, snapshot: &Arc<Snapshot>, policy: RecountPolicy) -> bool {
        !Arc::ptr_eq(&self.snapshot, snapshot)
            && (browse::listed(snapshot, None) <= policy.always_up_to
                || self.counted_at.elapsed() >= self.duration.saturating_mul(policy.interval))
    }

    /// Returns the use of each word or phrase in projects of a category, or in all.
    fn counts(&self, kind: TermKind, category: Option<Category>) -> &TermCounts {
        let Snapshot { block_list, dictionary, .. } = &*self.snapshot;
        self.count(kind, category).get_or_init(|| TermCounts::of(block_list, dictionary, kind, category))
    }

    fn count(&self, kind: TermKind, category: Option<Category>) -> &OnceLock<TermCounts> {
        &self.counts[kind as usize][category.map_or(0, |category| 1 + category as usize)]
    }

    fn completions(&self) -> &Completions {
        self.completions
            .get_or_init(|| Completions::of(&self.snapshot, self.counts(TermKind::Word, None), None))
    }

    fn dictionary(&self) -> &Dictionary {
        &self.snapshot.dictionary
    }

    /// Returns the memory of the counts, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let counts = self.counts.iter().flatten().filter_map(OnceLock::get);
        let counts: usize = counts.map(TermCounts::bytes).sum();
        counts + self.completions.get().map_or(0, Completions::bytes)
    }
}
