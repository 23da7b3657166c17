//! Documents that hold variants of clauses, brought together in ascending order.

use std::cell::RefCell;

use tantivy::DocId;

use super::super::postings::{Holders, seek};
use super::super::segment::Segment;
use super::super::snapshot::{Damping, saturated};
use super::{Filter, each_block};

/// What a typed word means for a search that forgives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Whether a result may rest on it: it is neither short, nor frequent, nor a function word.
    pub(crate) counts: bool,
    /// Whether every result must hold it: it is a character of a script without spaces.
    pub(crate) is_required: bool,
}

/// A clause as a segment holds it.
pub(super) struct HeldClause<'s> {
    /// Its place in the query.
    pub(super) place: usize,
    pub(super) rarity: f32,
    pub(super) standing: Standing,
    pub(super) variants: Vec<HeldVariant<'s>>,
}

/// A variant that the segment holds.
pub(super) struct HeldVariant<'s> {
    pub(super) holders: Holders<'s>,
    pub(super) weight: f32,
}

/// One number a document of the largest segment met, all 0 between uses, and a bit for each that is not.
#[derive(Default)]
struct Board {
    numbers: Vec<f32>,
    marks: Vec<u64>,
}

/// How many clauses a document holds.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Those that count.
    pub(super) counted: u8,
    /// Those that are required.
    pub(super) required: u8,
}

impl Tally {
    pub(super) fn of(standing: &Standing) -> Tally {
        Tally { counted: u8::from(standing.counts), required: u8::from(standing.is_required) }
    }

    pub(super) fn add(&mut self, other: Tally) {
        self.counted += other.counted;
        self.required += other.required;
    }
}

thread_local! {
    /// For the best share of a clause.
    static BEST: RefCell<Board> = RefCell::default();
    /// For the sum over clauses, and for how many of them a document holds: all 0 between uses as well.
    static TALLIES: RefCell<(Board, Vec<Tally>)> = RefCell::default();
}

impl Board {
    fn reserve(&mut self, bound: DocId) {
        if self.numbers.len() < bound as usize {
            self.numbers.resize(bound as usize, 0.0);
            self.marks.resize(bound.div_ceil(64) as usize, 0);
        }
    }

    #[inline]
    fn change(&mut self, document: DocId, change: impl FnOnce(&mut f32)) {
        change(&mut self.numbers[document as usize]);
        self.marks[document as usize / 64] |= 1 << (document % 64);
    }

    /// Hands out all numbers in ascending order of their documents and leaves the board empty.
    fn drain(&mut self, mut visit: impl FnMut(DocId, f32)) {
        for (place, marks) in self.marks.iter_mut().enumerate() {
            while *marks != 0 {
                let document = place as u32 * 64 + marks.trailing_zeros();
                *marks &= *marks - 1;
                visit(document, std::mem::take(&mut self.numbers[document as usize]));
            }
        }
    }
}

/// Calls `visit` with every document that passes and holds one of the variants, in ascending order, and its best share.
pub(super) fn each_best(
    damping: &Damping,
    filter: Filter<'_>,
    variants: &[HeldVariant<'_>],
    mut visit: impl FnMut(DocId, f32),
) {
    let mut visit = |document, share| {
        if filter.passes(document) {
            visit(document, share);
        }
    };
    if let [only] = variants {
        return each_block(damping, filter.segment, only.holders, only.weight, |documents, shares| {
            documents.iter().zip(shares).for_each(|(&document, share)| visit(document, *share));
        });
    }
    // A panic meanwhile leaves an empty one.
    let mut best = BEST.take();
    best.reserve(filter.segment.bound());
    for held in variants {
        each_block(damping, filter.segment, held.holders, held.weight, |documents, shares| {
            for (&document, share) in documents.iter().zip(shares) {
                best.change(document, |best| *best = best.max(*share));
            }
        });
    }
    best.drain(visit);
    BEST.set(best);
}

/// Calls `visit` with every document that passes and holds a variant of any clause, in ascending order, with its score and how
/// many of the clauses that it holds count and are required.
pub(super) fn sum_up(
    damping: &Damping,
    filter: Filter<'_>,
    clauses: &[HeldClause<'_>],
    mut visit: impl FnMut(DocId, f32, Tally),
) {
    let (mut sums, mut counts) = TALLIES.take();
    sums.reserve(filter.segment.bound());
    if counts.len() < filter.segment.bound() as usize {
        counts.resize(filter.segment.bound() as usize, Tally::default());
    }
    for clause in clauses.iter().filter(|clause| !clause.variants.is_empty()) {
        let tally = Tally::of(&clause.standing);
        each_best(damping, filter, &clause.variants, |document, share| {
            sums.change(document, |sum| *sum += clause.rarity * share);
            counts[document as usize].add(tally);
        });
    }
    sums.drain(|document, score| {
        visit(document, score, std::mem::take(&mut counts[document as usize]));
    });
    TALLIES.set((sums, counts));
}

/// Documents in ascending order that hold the clauses so far.
#[derive(Default)]
pub(super) struct Candidates {
    documents: Vec<DocId>,
    /// For each document its best share of the clause at hand; 0 where it lacks it.
    shares: Vec<f32>,
    /// For each settled clause its place in the query, and each document's part of the score.
    settled: Vec<(usize, Vec<f32>)>,
}

impl Candidates {
    /// The documents that pass and hold a variant of every clause. The first clause should be the rarest.
    pub(super) fn of_all(damping: &Damping, filter: Filter<'_>, clauses: &[HeldClause<'_>]) -> Candidates {
        let mut candidates = Candidates::default();
        // A clause of one word often tells at once what it will not hold.
        let alone = clauses.iter().skip(1).filter_map(|clause| match clause.variants.as_slice() {
            [only] => Some(only.holders),
            _ => None,
        });
        let alone: Vec<Holders<'_>> = alone.collect();
        for (place, clause) in clauses.iter().enumerate() {
            if place == 0 {
                each_best(damping, filter, &clause.variants, |document, share| {
                    if alone.iter().all(|word| word.may_hold(document)) {
                        candidates.documents.push(document);
                        candidates.shares.push(share);
                    }
                });
            } else {
                candidates.look_up(damping, filter.segment, &clause.variants);
            }
            candidates.settle(clause.place, clause.rarity);
        }
        candidates
    }

    /// Looks the candidates up in a further clause.
    fn look_up(&mut self, damping: &Damping, segment: &Segment, variants: &[HeldVariant<'_>]) {
        let Candidates { documents, shares, .. } = self;
        shares.clear();
        shares.resize(documents.len(), 0.0);
        for held in variants {
            if held.holders.documents.len() < documents.len() {
                let mut rest = 0;
                each_block(damping, segment, held.holders, held.weight, |block, block_shares| {
                    for (&document, share) in block.iter().zip(block_shares) {
                        rest = seek(documents, rest, document);
                        if documents.get(rest) == Some(&document) {
                            shares[rest] = shares[rest].max(*share);
                        }
                    }
                });
                continue;
            }
            let mut probe = held.holders.probe();
            for (&document, best) in documents.iter().zip(shares.iter_mut()) {
                if let Some(frequency) = probe.frequency(document) {
                    let damping = damping[segment.length(document)];
                    *best = best.max(held.weight * saturated(frequency as f32, damping));
                }
            }
        }
    }

    /// Drops the documents that lack the clause at hand and keeps what it is worth in the others.
    fn settle(&mut self, place: usize, rarity: f32) {
        let parts = self.shares.iter().map(|share| rarity * share).collect();
        self.settled.push((place, parts));
        if self.shares.contains(&0.0) {
            let shares = &self.shares;
            keep(&mut self.documents, shares);
            self.settled.iter_mut().for_each(|(_, parts)| keep(parts, shares));
        }
    }

    /// The documents with their scores, added up in the query's order.
    pub(super) fn scores(mut self) -> impl Iterator<Item = (DocId, f32)> {
        self.settled.sort_by_key(|(place, _)| *place);
        let settled = self.settled;
        self.documents.into_iter().enumerate().map(move |(row, document)| {
            (document, settled.iter().fold(0.0, |score, (_, parts)| score + parts[row]))
        })
    }
}

/// Keeps the items whose share is above 0.
fn keep<T>(items: &mut Vec<T>, shares: &[f32]) {
    let mut shares = shares.iter();
    items.retain(|_| shares.next().is_some_and(|share| *share > 0.0));
}
