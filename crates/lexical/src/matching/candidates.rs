//! The intersection of clauses: documents that match the clauses so far, looked up in one clause after the other.

use tantivy::DocId;

use super::accumulator::for_each_best_variant;
use super::{Filter, SegmentClause, SegmentVariant, for_each_scored_batch};
use crate::index::postings::{PostingList, seek};
use crate::index::segment::Segment;
use crate::ranking::bm25::{LengthNorms, tf_saturation};

/// Documents, ascending, that match all clauses so far.
#[derive(Default)]
pub(super) struct Candidates {
    documents: Vec<DocId>,
    /// The score of the best variant of the current clause in each document, without the idf; 0 where there is none.
    current: Vec<f32>,
    /// For each clause so far its index in the query, and its score in each document.
    clause_scores: Vec<(usize, Vec<f32>)>,
}

impl Candidates {
    /// Returns the documents that pass the filter and contain a variant of every clause. The first clause should be the rarest.
    pub(super) fn of_all(
        length_norms: &LengthNorms,
        filter: Filter<'_>,
        clauses: &[SegmentClause<'_>],
    ) -> Candidates {
        let mut candidates = Candidates::default();
        // The bitmap of a clause of one word often excludes a document at once.
        let single_words = clauses.iter().skip(1).filter_map(|clause| match clause.variants.as_slice() {
            [only] => Some(only.list),
            _ => None,
        });
        let single_words: Vec<PostingList<'_>> = single_words.collect();
        for (at, clause) in clauses.iter().enumerate() {
            if at == 0 {
                for_each_best_variant(length_norms, filter, &clause.variants, |document, score| {
                    if single_words.iter().all(|list| list.may_contain(document)) {
                        candidates.documents.push(document);
                        candidates.current.push(score);
                    }
                });
            } else {
                candidates.score_clause(length_norms, filter.segment, &clause.variants);
            }
            candidates.finish_clause(clause.index, clause.idf);
        }
        candidates
    }

    /// Scores the candidates by the variants of a further clause.
    fn score_clause(
        &mut self,
        length_norms: &LengthNorms,
        segment: &Segment,
        variants: &[SegmentVariant<'_>],
    ) {
        let Candidates { documents, current, .. } = self;
        current.clear();
        current.resize(documents.len(), 0.0);
        for variant in variants {
            if variant.list.documents.len() < documents.len() {
                let mut at = 0;
                for_each_scored_batch(
                    length_norms,
                    segment,
                    variant.list,
                    variant.weight,
                    |batch, scores| {
                        for (&document, score) in batch.iter().zip(scores) {
                            at = seek(documents, at, document);
                            if documents.get(at) == Some(&document) {
                                current[at] = current[at].max(*score);
                            }
                        }
                    },
                );
                continue;
            }
            let mut cursor = variant.list.cursor();
            for (&document, best) in documents.iter().zip(current.iter_mut()) {
                if let Some(frequency) = cursor.frequency(document) {
                    let length_norm = length_norms[segment.length_id(document)];
                    *best = best.max(variant.weight * tf_saturation(frequency as f32, length_norm));
                }
            }
        }
    }

    /// Stores the scores of the current clause and drops the documents that do not match it.
    fn finish_clause(&mut self, index: usize, idf: f32) {
        let scores = self.current.iter().map(|score| idf * score).collect();
        self.clause_scores.push((index, scores));
        if self.current.contains(&0.0) {
            let current = &self.current;
            retain_positive(&mut self.documents, current);
            self.clause_scores.iter_mut().for_each(|(_, scores)| retain_positive(scores, current));
        }
    }

    /// Returns the documents with their scores, added up in the query's order.
    pub(super) fn scores(mut self) -> impl Iterator<Item = (DocId, f32)> {
        self.clause_scores.sort_by_key(|(index, _)| *index);
        let clause_scores = self.clause_scores;
        self.documents.into_iter().enumerate().map(move |(row, document)| {
            (document, clause_scores.iter().fold(0.0, |score, (_, scores)| score + scores[row]))
        })
    }
}

/// Retains the items whose score is above 0.
fn retain_positive<T>(items: &mut Vec<T>, scores: &[f32]) {
    let mut scores = scores.iter();
    items.retain(|_| scores.next().is_some_and(|score| *score > 0.0));
}
