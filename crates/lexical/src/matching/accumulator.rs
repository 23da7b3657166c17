//! Scores while documents are visited word by word (term at a time): one slot for each document of a segment, reused by all
//! searches of a thread.

use std::cell::RefCell;

use tantivy::DocId;

use super::{ClauseRole, DocumentSet, Filter, SegmentClause, SegmentVariant, for_each_scored_batch};
use crate::index::postings::PostingList;
use crate::index::segment::Segment;
use crate::ranking::bm25::LengthNorms;

/// A score for each document, as many as the largest segment so far has, and a bit for each that was touched. All are 0 between
/// uses.
#[derive(Default)]
struct ScoreAccumulator {
    scores: Vec<f32>,
    /// A bit for each document, 64 in a block.
    touched: Vec<u64>,
}

/// The number of clauses that a document matches.
#[derive(Clone, Copy, Default)]
pub(super) struct ClauseCounts {
    pub(super) significant: u8,
    pub(super) required: u8,
}

impl ClauseCounts {
    /// Counts one clause.
    pub(super) fn of(role: &ClauseRole) -> ClauseCounts {
        ClauseCounts { significant: u8::from(role.is_significant), required: u8::from(role.is_required) }
    }

    pub(super) fn add(&mut self, other: ClauseCounts) {
        self.significant += other.significant;
        self.required += other.required;
    }
}

thread_local! {
    /// The best variant of one clause.
    static BEST: RefCell<ScoreAccumulator> = RefCell::default();
    /// The sum over clauses, and the number of clauses that each document matches, which is 0 between uses too.
    static SUMS: RefCell<(ScoreAccumulator, Vec<ClauseCounts>)> = RefCell::default();
}

impl ScoreAccumulator {
    /// Makes room for the documents below `max_doc`.
    fn reserve(&mut self, max_doc: DocId) {
        if self.scores.len() < max_doc as usize {
            self.scores.resize(max_doc as usize, 0.0);
            self.touched.resize(max_doc.div_ceil(64) as usize, 0);
        }
    }

    #[inline]
    fn change(&mut self, document: DocId, change: impl FnOnce(&mut f32)) {
        change(&mut self.scores[document as usize]);
        self.touched[document as usize / 64] |= 1 << (document % 64);
    }

    /// Calls `visit` with the touched documents, ascending, and their scores; resets all to 0.
    fn drain(&mut self, mut visit: impl FnMut(DocId, f32)) {
        for (at, block) in self.touched.iter_mut().enumerate() {
            while *block != 0 {
                let document = at as u32 * 64 + block.trailing_zeros();
                *block &= *block - 1;
                visit(document, std::mem::take(&mut self.scores[document as usize]));
            }
        }
    }
}

/// Calls `visit` with every document that passes the filter and contains one of the variants, ascending, and the score of its best
/// variant, without the idf.
pub(super) fn for_each_best_variant(
    length_norms: &LengthNorms,
    filter: Filter<'_>,
    variants: &[SegmentVariant<'_>],
    mut visit: impl FnMut(DocId, f32),
) {
    let mut visit = |document, score| {
        if filter.passes(document) {
            visit(document, score);
        }
    };
    if let [only] = variants {
        return for_each_scored_batch(
            length_norms,
            filter.segment,
            only.list,
            only.weight,
            |documents, scores| {
                documents.iter().zip(scores).for_each(|(&document, score)| visit(document, *score));
            },
        );
    }
    // Taken, so that a panic leaves an empty accumulator and not a half-filled one.
    let mut best = BEST.take();
    best.reserve(filter.segment.max_doc());
    for variant in variants {
        for_each_scored_batch(
            length_norms,
            filter.segment,
            variant.list,
            variant.weight,
            |documents, scores| {
                for (&document, score) in documents.iter().zip(scores) {
                    best.change(document, |best| *best = best.max(*score));
                }
            },
        );
    }
    best.drain(visit);
    BEST.set(best);
}

/// Calls `visit` with the documents that pass the filter and contain one of the lists, without their scores.
pub(super) fn with_union<'s>(
    filter: Filter<'s>,
    segment_index: usize,
    lists: impl Iterator<Item = PostingList<'s>>,
    visit: impl FnOnce(DocumentSet<'_>),
) {
    with_union_of_all(filter.segment, lists, |blocks| {
        let mut documents =
            DocumentSet { segment: filter.segment, segment_index: segment_index as u32, blocks };
        documents.retain(filter);
        visit(documents);
    });
}

/// Calls `visit` with the documents that pass the filter and contain a variant of every clause, without their scores.
pub(super) fn with_intersection(
    filter: Filter<'_>,
    segment_index: usize,
    clauses: &[SegmentClause<'_>],
    visit: impl FnOnce(DocumentSet<'_>),
) {
    let Some((last, others)) = clauses.split_last() else { return };
    let mut in_others: Vec<u64> = Vec::new();
    for clause in others {
        with_union_of_all(filter.segment, clause.variants.iter().map(|variant| variant.list), |blocks| {
            if in_others.is_empty() {
                in_others.extend_from_slice(blocks);
            } else {
                in_others.iter_mut().zip(blocks.iter()).for_each(|(block, other)| *block &= other);
            }
        });
    }
    with_union_of_all(filter.segment, last.variants.iter().map(|variant| variant.list), |blocks| {
        blocks.iter_mut().zip(&in_others).for_each(|(block, other)| *block &= other);
        let mut documents =
            DocumentSet { segment: filter.segment, segment_index: segment_index as u32, blocks };
        documents.retain(filter);
        visit(documents);
    });
}

/// Calls `visit` with a bit for each document that contains one of the lists, deleted ones included.
fn with_union_of_all<'s>(
    segment: &Segment,
    lists: impl Iterator<Item = PostingList<'s>>,
    visit: impl FnOnce(&mut [u64]),
) {
    let mut best = BEST.take();
    best.reserve(segment.max_doc());
    let blocks = &mut best.touched[..segment.max_doc().div_ceil(64) as usize];
    lists.for_each(|list| list.add_to(blocks));
    visit(&mut *blocks);
    blocks.fill(0);
    BEST.set(best);
}

/// Calls `visit` with every document that passes the filter and contains a variant of any clause, ascending, with its score and the
/// number of clauses that it matches.
pub(super) fn accumulate_clauses(
    length_norms: &LengthNorms,
    filter: Filter<'_>,
    clauses: &[SegmentClause<'_>],
    mut visit: impl FnMut(DocId, f32, ClauseCounts),
) {
    let (mut sums, mut counts) = SUMS.take();
    sums.reserve(filter.segment.max_doc());
    if counts.len() < filter.segment.max_doc() as usize {
        counts.resize(filter.segment.max_doc() as usize, ClauseCounts::default());
    }
    for clause in clauses.iter().filter(|clause| !clause.variants.is_empty()) {
        let one = ClauseCounts::of(&clause.role);
        for_each_best_variant(length_norms, filter, &clause.variants, |document, score| {
            sums.change(document, |sum| *sum += clause.idf * score);
            counts[document as usize].add(one);
        });
    }
    sums.drain(|document, score| {
        visit(document, score, std::mem::take(&mut counts[document as usize]));
    });
    SUMS.set((sums, counts));
}
