//! Finds the documents of a snapshot that match words, and scores them.
//!
//! The score of a word in a document is its rarity times a share below 1 that grows with its frequency there and falls with the
//! document's length (BM25). Words are added up in the query's order, so that the same content gives the same score bit for bit.

mod approximate;
mod candidates;
mod exact;
mod phrases;

use tantivy::DocId;

use super::postings::Holders;
use super::segment::Segment;
use super::snapshot::{Damping, saturated};

pub(super) use approximate::{Clause, Variant, match_all, match_most};
pub(super) use candidates::Standing;
pub(super) use exact::match_exactly;

/// Documents are handed on in blocks of at most so many.
const BLOCK: usize = 128;

/// Takes up documents that match.
pub(super) trait Collect {
    /// Takes up some documents of one segment with their scores, which are finite and above 0.
    fn collect(&mut self, found: Found<'_>);
}

/// Documents of one segment that match.
pub(super) struct Found<'a> {
    pub(super) segment: &'a Segment,
    /// The segment's index in the snapshot.
    pub(super) ordinal: u32,
    pub(super) documents: &'a [DocId],
    /// A score for each document, free to be changed.
    pub(super) scores: &'a mut [f32],
}

/// Which documents of a segment count at all.
#[derive(Clone, Copy)]
struct Filter<'a> {
    segment: &'a Segment,
    has_deletions: bool,
    /// The code of the wanted category in the segment.
    category: Option<u16>,
}

impl<'a> Filter<'a> {
    /// Nothing if the segment has no document of the category.
    fn new(segment: &'a Segment, category: Option<&str>) -> Option<Filter<'a>> {
        let code = match category {
            None => None,
            Some(category) => Some(segment.rows.code(category)?),
        };
        Some(Filter { segment, has_deletions: segment.has_deletions(), category: code })
    }

    fn passes_all(&self) -> bool {
        !self.has_deletions && self.category.is_none()
    }

    #[inline]
    fn passes(&self, document: DocId) -> bool {
        (!self.has_deletions || self.segment.is_alive(document))
            && self.category.is_none_or(|code| self.segment.rows.is_of(document, code))
    }
}

/// Fills a block with documents and hands it on when it is full.
pub(super) struct Outlet<'a, C> {
    segment: &'a Segment,
    ordinal: u32,
    collector: &'a mut C,
    documents: [DocId; BLOCK],
    scores: [f32; BLOCK],
    filled: usize,
}

impl<'a, C: Collect> Outlet<'a, C> {
    pub(super) fn new(segment: &'a Segment, ordinal: usize, collector: &'a mut C) -> Outlet<'a, C> {
        Outlet {
            segment,
            ordinal: ordinal as u32,
            collector,
            documents: [0; BLOCK],
            scores: [0.0; BLOCK],
            filled: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, document: DocId, score: f32) {
        self.documents[self.filled] = document;
        self.scores[self.filled] = score;
        self.filled += 1;
        if self.filled == BLOCK {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        self.collector.collect(Found {
            segment: self.segment,
            ordinal: self.ordinal,
            documents: &self.documents[..self.filled],
            scores: &mut self.scores[..self.filled],
        });
        self.filled = 0;
    }
}

/// Calls `visit` with block after block of the documents that hold a word, deleted ones included, and the word's share in each,
/// weighed by `weight`.
fn each_block(
    damping: &Damping,
    segment: &Segment,
    word: Holders<'_>,
    weight: f32,
    mut visit: impl FnMut(&[DocId], &mut [f32]),
) {
    let mut shares = [0.0; BLOCK];
    for (documents, frequencies) in word.documents.chunks(BLOCK).zip(word.frequencies.chunks(BLOCK)) {
        let shares = &mut shares[..documents.len()];
        // Look-ups go one by one; what is made of them is made of several at once.
        for (&document, share) in documents.iter().zip(shares.iter_mut()) {
            *share = damping[segment.length(document)];
        }
        for (&frequency, share) in frequencies.iter().zip(shares.iter_mut()) {
            *share = weight * saturated(f32::from(frequency), *share);
        }
        visit(documents, shares);
    }
}
