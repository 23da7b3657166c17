//! Words that may be something like what was typed: each is a clause of variants, of which the best counts in a document.

use super::super::query::Phrase;
use super::super::segment::Segment;
use super::super::snapshot::{Damping, Snapshot};
use super::candidates::{Candidates, HeldClause, HeldVariant, Standing, Tally, each_best, sum_up};
use super::phrases::Phrases;
use super::{Collect, Filter, Outlet};

/// A typed word and what may stand for it.
#[derive(Debug)]
pub(crate) struct Clause<'a> {
    pub(crate) variants: Vec<Variant<'a>>,
    /// What the clause is worth (see [`Snapshot::rarity`]).
    pub(crate) rarity: f32,
    pub(crate) standing: Standing,
}

/// A word that may stand for a typed one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant<'a> {
    pub(crate) word: &'a str,
    /// How much it counts, above 0 and at most 1.
    pub(crate) weight: f32,
}

/// Collects every document that holds a variant of every clause, and the phrases.
pub(crate) fn match_all(
    snapshot: &Snapshot,
    clauses: &[Clause<'_>],
    (words, phrases): (&[String], &[Phrase]),
    (category, damping): (Option<&str>, &Damping),
    collector: &mut impl Collect,
) -> tantivy::Result<()> {
    for (ordinal, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, category) else { continue };
        let mut clauses = held_clauses(segment, clauses);
        if clauses.iter().any(|clause| clause.variants.is_empty()) {
            continue;
        }
        let mut outlet = Outlet::new(segment, ordinal, collector);
        if let ([only], true) = (clauses.as_slice(), phrases.is_empty()) {
            each_best(damping, filter, &only.variants, |document, share| {
                outlet.push(document, only.rarity * share);
            });
        } else {
            clauses.sort_by_key(|clause| {
                clause.variants.iter().map(|held| held.holders.documents.len()).sum::<usize>()
            });
            let mut phrases = Phrases::open(segment, words, phrases)?;
            for (document, score) in Candidates::of_all(damping, filter, &clauses).scores() {
                if phrases.hold_in(document) {
                    outlet.push(document, score);
                }
            }
        }
        outlet.flush();
    }
    Ok(())
}

/// Collects every document that holds a variant of more than half of the clauses that count and of every one that is required,
/// and the phrases.
pub(crate) fn match_most(
    snapshot: &Snapshot,
    clauses: &[Clause<'_>],
    (words, phrases): (&[String], &[Phrase]),
    (category, damping): (Option<&str>, &Damping),
    collector: &mut impl Collect,
) -> tantivy::Result<()> {
    let mut all = Tally::default();
    clauses.iter().for_each(|clause| all.add(Tally::of(&clause.standing)));
    for (ordinal, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, category) else { continue };
        let mut outlet = Outlet::new(segment, ordinal, collector);
        let mut phrases = Phrases::open(segment, words, phrases)?;
        sum_up(damping, filter, &held_clauses(segment, clauses), |document, score, tally| {
            let holds_most = 2 * tally.counted > all.counted && tally.required == all.required;
            if holds_most && phrases.hold_in(document) {
                outlet.push(document, score);
            }
        });
        outlet.flush();
    }
    Ok(())
}

/// The clauses in the query's order with the variants that the segment holds.
fn held_clauses<'s>(segment: &'s Segment, clauses: &[Clause<'_>]) -> Vec<HeldClause<'s>> {
    let mut all = Vec::with_capacity(clauses.len());
    for (place, clause) in clauses.iter().enumerate() {
        let mut variants = Vec::with_capacity(clause.variants.len());
        for variant in &clause.variants {
            if let Some(holders) = segment.find(variant.word) {
                variants.push(HeldVariant { holders, weight: variant.weight });
            }
        }
        all.push(HeldClause { place, rarity: clause.rarity, standing: clause.standing, variants });
    }
    all
}
