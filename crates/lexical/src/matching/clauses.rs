//! The approximate tiers: each typed word is a clause of variants, of which the best counts in a document.

use super::accumulator::{ClauseCounts, accumulate_clauses, for_each_best_variant};
use super::candidates::Candidates;
use super::phrases::Phrases;
use super::{Clause, Collector, Filter, MatchBuffer, Scope, SegmentClause, SegmentVariant};
use crate::index::segment::Segment;
use crate::index::snapshot::Snapshot;
use crate::query::Phrase;
use crate::ranking::bm25::LengthNorms;

/// Collects every document that contains a variant of every clause, and the phrases.
pub(crate) fn match_all(
    snapshot: &Snapshot,
    clauses: &[Clause<'_>],
    (words, phrases): (&[String], &[Phrase]),
    (scope, length_norms): (Scope<'_>, &LengthNorms),
    collector: &mut impl Collector,
) -> tantivy::Result<()> {
    for (segment_index, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, scope) else { continue };
        let mut clauses = segment_clauses(segment, clauses);
        if clauses.iter().any(|clause| clause.variants.is_empty()) {
            continue;
        }
        let mut matches = MatchBuffer::new(segment, segment_index, collector);
        if let ([only], true) = (clauses.as_slice(), phrases.is_empty()) {
            for_each_best_variant(length_norms, filter, &only.variants, |document, score| {
                matches.push(document, only.idf * score);
            });
        } else {
            clauses.sort_by_key(|clause| {
                clause.variants.iter().map(|variant| variant.list.documents.len()).sum::<usize>()
            });
            let mut phrases = Phrases::open(segment, words, phrases)?;
            for (document, score) in Candidates::of_all(length_norms, filter, &clauses).scores() {
                if phrases.match_in(document) {
                    matches.push(document, score);
                }
            }
        }
        matches.flush();
    }
    Ok(())
}

/// Collects every document that contains a variant of more than half of the significant clauses and of every required one, and the
/// phrases.
pub(crate) fn match_majority(
    snapshot: &Snapshot,
    clauses: &[Clause<'_>],
    (words, phrases): (&[String], &[Phrase]),
    (scope, length_norms): (Scope<'_>, &LengthNorms),
    collector: &mut impl Collector,
) -> tantivy::Result<()> {
    let mut all = ClauseCounts::default();
    clauses.iter().for_each(|clause| all.add(ClauseCounts::of(&clause.role)));
    for (segment_index, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, scope) else { continue };
        let mut matches = MatchBuffer::new(segment, segment_index, collector);
        let mut phrases = Phrases::open(segment, words, phrases)?;
        accumulate_clauses(
            length_norms,
            filter,
            &segment_clauses(segment, clauses),
            |document, score, counts| {
                let is_majority = 2 * counts.significant > all.significant && counts.required == all.required;
                if is_majority && phrases.match_in(document) {
                    matches.push(document, score);
                }
            },
        );
        matches.flush();
    }
    Ok(())
}

/// Returns the clauses in the query's order, with the variants that the segment contains.
fn segment_clauses<'s>(segment: &'s Segment, clauses: &[Clause<'_>]) -> Vec<SegmentClause<'s>> {
    let mut all = Vec::with_capacity(clauses.len());
    for (index, clause) in clauses.iter().enumerate() {
        let mut variants = Vec::with_capacity(clause.variants.len());
        for variant in &clause.variants {
            if let Some(list) = segment.posting_list(variant.word) {
                variants.push(SegmentVariant { list, weight: variant.weight });
            }
        }
        all.push(SegmentClause { index, idf: clause.idf, role: clause.role, variants });
    }
    all
}
