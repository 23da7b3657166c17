//! The forms tier: every word that results must contain, in some form.

use super::accumulator::{for_each_best_variant, with_intersection};
use super::candidates::Candidates;
use super::clauses::segment_clauses;
use super::exact::ExactTest;
use super::phrases::{Phrases, phrase_documents};
use super::{Clause, Collector, Filter, MatchBuffer, Scope, SegmentClause};
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::ranking::bm25::LengthNorms;

/// Collects every document that contains a variant of every clause and the quoted phrases, but for those that contain what was typed
/// exactly. Where the collector only counts, it gets those as well.
pub(crate) fn match_forms(
    snapshot: &Snapshot,
    query: &Query,
    clauses: &[Clause<'_>],
    (scope, length_norms): (Scope<'_>, &LengthNorms),
    collector: &mut impl Collector,
) -> tantivy::Result<()> {
    let only_counts = query.strict_phrases().is_empty() && collector.only_counts();
    for (segment_index, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, scope) else { continue };
        let phrase_documents = phrase_documents(segment, clauses)?;
        let mut clauses = segment_clauses(segment, clauses, &phrase_documents);
        if clauses.iter().any(|clause| clause.variants.is_empty()) {
            continue;
        }
        if only_counts {
            with_intersection(filter, segment_index, &clauses, |documents| collector.count(documents));
            continue;
        }
        let mut exact = ExactTest::open(segment, query)?;
        let mut phrases = Phrases::open(segment, &query.words, query.strict_phrases())?;
        let mut matches = MatchBuffer::new(segment, segment_index, collector);
        let mut push = |document, score| {
            let is_exact = exact.as_mut().is_some_and(|exact| exact.passes(document));
            if !is_exact && phrases.match_in(document) {
                matches.push(document, score);
            }
        };
        if let [only] = clauses.as_slice() {
            for_each_best_variant(length_norms, filter, &only.variants, |document, score| {
                push(document, only.idf * score);
            });
        } else {
            clauses.sort_by_key(SegmentClause::documents);
            for (document, score) in Candidates::of_all(length_norms, filter, &clauses).scores() {
                push(document, score);
            }
        }
        matches.flush();
    }
    Ok(())
}

/// Returns the number of documents that contain a variant of every clause, and the quoted phrases: what was typed, in any form.
pub(crate) fn count_full(
    snapshot: &Snapshot,
    query: &Query,
    clauses: &[Clause<'_>],
    scope: Scope<'_>,
) -> tantivy::Result<u64> {
    let mut count = 0;
    for (segment_index, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, scope) else { continue };
        let phrase_documents = phrase_documents(segment, clauses)?;
        let clauses = segment_clauses(segment, clauses, &phrase_documents);
        if clauses.iter().any(|clause| clause.variants.is_empty()) {
            continue;
        }
        let mut phrases = Phrases::open(segment, &query.words, query.strict_phrases())?;
        with_intersection(filter, segment_index, &clauses, |documents| {
            count += if query.strict_phrases().is_empty() {
                documents.count()
            } else {
                documents.iter().filter(|document| phrases.match_in(*document)).count() as u64
            };
        });
    }
    Ok(count)
}
