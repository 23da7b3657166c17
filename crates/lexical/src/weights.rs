//! The measures with which the words of a search are scored: how rare each is, and how long documents are on average.
//!
//! Both change with every commit. A cursor carries those of the first page, so that a document which did not change has
//! the same score, bit for bit, in every later commit and on every other node.

use super::query::MOST_WORDS;

/// The words of a query, and the completions of its last word.
pub(super) const MOST_WEIGHTS: usize = MOST_WORDS + 1;

/// The measures of one search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weights {
    /// The mean length of documents, at least 1.
    pub(super) mean_length: f32,
    rarities: [f32; MOST_WEIGHTS],
    count: u8,
}

impl Weights {
    /// No word yet.
    pub(super) fn new(mean_length: f32) -> Weights {
        Weights { mean_length, rarities: [0.0; MOST_WEIGHTS], count: 0 }
    }

    /// Adds the rarity of the next word. There are at most [`MOST_WEIGHTS`]; what is beyond is dropped.
    pub(super) fn push(&mut self, rarity: f32) {
        if let Some(place) = self.rarities.get_mut(usize::from(self.count)) {
            *place = rarity;
            self.count += 1;
        }
    }

    /// The rarity of each word.
    pub(super) fn rarities(&self) -> &[f32] {
        self.rarities.get(..usize::from(self.count)).unwrap_or_default()
    }
}
