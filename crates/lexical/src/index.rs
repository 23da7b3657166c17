//! What an index is on disk and in memory. tantivy writes and merges the files; the modules here read them into structures that
//! are faster to search, once for each segment and not for each query.
//!
//! In reading order: [`schema`] (fields of a document), [`rows`] (a file of summaries and sort keys beside each segment),
//! [`postings`] (which documents contain a word), [`lexicon`] (all words with their document frequencies), [`segment`] (a
//! part of the index that never changes, but for deletions), [`snapshot`] (all segments at one commit), [`digest`] and [`copy`].

#[cfg(feature = "writer")]
pub(crate) mod copy;
pub(crate) mod digest;
pub(crate) mod lexicon;
pub(crate) mod postings;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod segment;
pub(crate) mod snapshot;

use std::ops::Range;

/// Returns the first index of the range for which `before` is false; it is true for all indexes before that.
pub(crate) fn partition_point(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let Range { start: mut low, end: mut high } = range;
    while low < high {
        let middle = low.midpoint(high);
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
