//! The approximate tiers: each typed word is a clause of variants, of which the best counts in a document.

use super::accumulator::{ClauseCounts, accumulate_clauses, for_each_best_variant, with_union};
use super::candidates::Candidates;
use super::phrases::{PhraseDocuments, Phrases, phrase_documents};
use super::{Clause, Collector, Filter, MatchBuffer, Scope, SegmentClause, SegmentVariant};
use crate::index::postings::LetterDocuments;
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
        if let Some((letter, finished)) = clauses.split_last()
            && let Some((documents, score)) = documents_with_letter(segment, letter)
        {
            let mut matches = MatchBuffer::new(segment, segment_index, collector);
            let mut phrases = Phrases::open(segment, words, phrases)?;
            match_letter((filter, length_norms), finished, (documents, score), &mut phrases, &mut matches)?;
            matches.flush();
            continue;
        }
        let phrase_documents = phrase_documents(segment, clauses)?;
        let mut clauses = segment_clauses(segment, clauses, &phrase_documents);
        if clauses.iter().any(|clause| clause.variants.is_empty()) {
            continue;
        }
        let only =
            if let ([only], true) = (clauses.as_slice(), phrases.is_empty()) { Some(only) } else { None };
        if let Some(only) = only.filter(|_| collector.only_counts()) {
            let lists = only.variants.iter().map(|variant| variant.list);
            with_union(filter, segment_index, lists, |documents| collector.count(documents));
            continue;
        }
        let mut matches = MatchBuffer::new(segment, segment_index, collector);
        if let Some(only) = only {
            for_each_best_variant(length_norms, filter, &only.variants, |document, score| {
                matches.push(document, only.idf * score);
            });
        } else {
            clauses.sort_by_key(SegmentClause::documents);
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

/// Returns the documents that match a clause of a single letter, and its score, which is the same for all of them: such a clause
/// may have a large part of all words as variants. `None` for other clauses, and for letters outside a to z.
fn documents_with_letter<'s>(
    segment: &'s Segment,
    clause: &Clause<'_>,
) -> Option<(LetterDocuments<'s>, f32)> {
    let completion = clause.completion.as_ref().filter(|completion| completion.includes_prefix)?;
    Some((segment.documents_with_letter(completion.prefix)?, 0.5 * clause.idf))
}

/// Collects every document that contains a variant of every finished clause and a word that begins with the letter.
fn match_letter(
    (filter, length_norms): (Filter<'_>, &LengthNorms),
    finished: &[Clause<'_>],
    (documents, letter_score): (LetterDocuments<'_>, f32),
    phrases: &mut Phrases,
    matches: &mut MatchBuffer<'_, impl Collector>,
) -> tantivy::Result<()> {
    if finished.is_empty() {
        documents.for_each(|document| {
            if filter.passes(document) {
                matches.push(document, letter_score);
            }
        });
        return Ok(());
    }
    let phrase_documents = phrase_documents(filter.segment, finished)?;
    let mut clauses = segment_clauses(filter.segment, finished, &phrase_documents);
    if clauses.iter().any(|clause| clause.variants.is_empty()) {
        return Ok(());
    }
    clauses.sort_by_key(SegmentClause::documents);
    for (document, score) in Candidates::of_all(length_norms, filter, &clauses).scores() {
        if documents.contains(document) && phrases.match_in(document) {
            matches.push(document, score + letter_score);
        }
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
        let phrase_documents = phrase_documents(segment, clauses)?;
        accumulate_clauses(
            length_norms,
            filter,
            &segment_clauses(segment, clauses, &phrase_documents),
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
pub(super) fn segment_clauses<'s>(
    segment: &'s Segment,
    clauses: &[Clause<'_>],
    phrase_documents: &'s [Vec<PhraseDocuments>],
) -> Vec<SegmentClause<'s>> {
    let mut all = Vec::with_capacity(clauses.len());
    for (index, clause) in clauses.iter().enumerate() {
        let mut variants = Vec::with_capacity(clause.variants.len());
        for variant in &clause.variants {
            if let Some(list) = segment.posting_list(variant.word) {
                variants.push(SegmentVariant { list, weight: variant.weight });
            }
        }
        for (phrase, documents) in clause.phrases.iter().zip(&phrase_documents[index]) {
            let list = documents.list();
            if !list.documents.is_empty() {
                variants.push(SegmentVariant { list, weight: phrase.weight });
            }
        }
        if let Some(completion) = &clause.completion {
            for (word, list) in segment.words_with_prefix(completion.prefix) {
                if completion.includes(word) {
                    variants.push(SegmentVariant { list, weight: completion.weight_of(word) });
                }
            }
        }
        all.push(SegmentClause { index, idf: clause.idf, role: clause.role, variants });
    }
    all
}
