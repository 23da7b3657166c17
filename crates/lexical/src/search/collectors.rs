//! What the tiers do with the documents that match.

use std::sync::Arc;

use crate::matching::{Clause, Collector, DocumentSet, MatchBatch, order_in_name};
use crate::ranking::band::MatchBand;
use crate::ranking::top_k::{Collected, TopK};

/// Ranks approximate matches: half of the score is their relevance, half the order of the words in the name.
pub(super) struct ApproximateCollector<'t, 'c> {
    pub(super) top_k: &'t mut TopK,
    pub(super) clauses: &'c [Clause<'c>],
}

impl Collector for ApproximateCollector<'_, '_> {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        // The order of a single word says nothing.
        let threshold = if self.clauses.len() < 2 { f32::MAX } else { self.top_k.threshold() };
        for (&document, score) in batch.documents.iter().zip(batch.scores.iter_mut()) {
            let half = 0.5 * MatchBand::Approximate.score(*score);
            *score = half;
            if half + 0.5 >= threshold {
                *score += 0.5 * order_in_name(self.clauses, batch.segment.rows.names().of(document));
            }
        }
        self.top_k.collect(batch);
    }

    fn count(&mut self, documents: DocumentSet<'_>) {
        self.top_k.count(documents);
    }
}

impl Collector for TopK {
    fn collect(&mut self, batch: MatchBatch<'_>) {
        let ordinals = batch.documents.iter().map(|document| batch.segment.ordinal(*document));
        match &mut self.collected {
            Collected::Nothing => {}
            Collected::Ordinals(set) => Arc::make_mut(set).extend(ordinals),
            Collected::Matches(matches) => matches.extend(ordinals.zip(batch.scores.iter().copied())),
        }
        self.offer(batch.segment_index, batch.documents, batch.scores, |document| {
            batch.segment.rows.tie_breaker(document)
        });
    }

    fn threshold(&self) -> f32 {
        TopK::threshold(self)
    }

    fn count(&mut self, documents: DocumentSet<'_>) {
        self.total += documents.count();
        self.add_ordinals(&documents);
    }
}

impl TopK {
    /// Adds documents that are counted elsewhere to the ordinals, if these are collected.
    pub(super) fn add_ordinals(&mut self, documents: &DocumentSet<'_>) {
        if let Collected::Ordinals(set) = &mut self.collected {
            Arc::make_mut(set).extend(documents.iter().map(|document| documents.segment.ordinal(document)));
        }
    }
}
