//! The best matches of one page, kept while all matches are visited.

use std::sync::Arc;

use tantivy::DocId;

use super::Rank;
use crate::Collects;
use crate::ordinal_set::OrdinalSet;

/// The number of scores that are compared with the threshold at once.
const STRIDE: usize = 16;

/// A document of the result list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedDocument {
    pub(crate) rank: Rank,
    /// The segment's index in the snapshot.
    pub(crate) segment: u32,
    pub(crate) document: DocId,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PageStart {
    /// At the best match.
    First,
    /// After the match of this rank.
    After(Rank),
}

/// Counts all matches and keeps the `k` best ones of a page in order.
pub(crate) struct TopK {
    k: usize,
    start: PageStart,
    /// Sorted by rank.
    best: Vec<RankedDocument>,
    /// The number of matches, on all pages.
    pub(crate) total: u64,
    /// The number of matches before the page.
    skipped: u64,
    /// The score below which a match cannot enter the page; 0 until the page is full.
    threshold: f32,
    pub(crate) collected: Collected,
}

/// What is collected of every match, on all pages.
#[derive(Debug)]
pub(crate) enum Collected {
    Nothing,
    Ordinals(Arc<OrdinalSet>),
    /// The ordinals and scores, in no order.
    Matches(Vec<(u64, f32)>),
}

impl TopK {
    pub(crate) fn new(k: usize, start: PageStart) -> TopK {
        let (best, collected) = (Vec::with_capacity(k), Collected::Nothing);
        TopK { k, start, best, total: 0, skipped: 0, threshold: 0.0, collected }
    }

    /// Returns it with what all matches are collected into.
    pub(crate) fn collecting(self, collects: Collects) -> TopK {
        let collected = match collects {
            Collects::Nothing => Collected::Nothing,
            Collects::Ordinals => Collected::Ordinals(Arc::default()),
            Collects::Matches => Collected::Matches(Vec::new()),
        };
        TopK { collected, ..self }
    }

    /// Offers matches of one segment. `tie_breaker` is called only where the score alone may not decide.
    pub(crate) fn offer(
        &mut self,
        segment: u32,
        documents: &[DocId],
        scores: &[f32],
        tie_breaker: impl Fn(DocId) -> u64,
    ) {
        self.total += documents.len() as u64;
        let matches = documents.iter().copied().zip(scores.iter().copied());
        match self.start {
            PageStart::First => {
                // Once the page is full, most matches are below the threshold.
                for (documents, scores) in documents.chunks(STRIDE).zip(scores.chunks(STRIDE)) {
                    let threshold = self.threshold;
                    if scores.iter().fold(true, |below, score| below & (*score < threshold)) {
                        continue;
                    }
                    // They lie apart in memory: reading several at once costs as much as reading one.
                    let mut ties = [0; STRIDE];
                    ties.iter_mut().zip(documents).for_each(|(tie, document)| *tie = tie_breaker(*document));
                    for ((&document, &score), tie_breaker) in documents.iter().zip(scores).zip(ties) {
                        if score >= self.threshold {
                            self.insert(RankedDocument {
                                rank: Rank { score, tie_breaker },
                                segment,
                                document,
                            });
                        }
                    }
                }
            }
            PageStart::After(last) => {
                for (document, score) in matches {
                    if score > last.score {
                        self.skipped += 1;
                    } else if score == last.score || score >= self.threshold {
                        let rank = Rank { score, tie_breaker: tie_breaker(document) };
                        if !last.is_before(&rank) {
                            self.skipped += 1;
                        } else if score >= self.threshold {
                            self.insert(RankedDocument { rank, segment, document });
                        }
                    }
                }
            }
        }
    }

    /// Returns the score below which a match cannot enter the page; 0 until the page is full, and if all scores are collected.
    pub(crate) fn threshold(&self) -> f32 {
        if self.collects_scores() { 0.0 } else { self.threshold }
    }

    /// Returns whether the page is the first, and not all scores are collected: what is below the threshold needs no score, and may come
    /// twice.
    pub(crate) fn is_first_page(&self) -> bool {
        matches!(self.start, PageStart::First) && !self.collects_scores()
    }

    fn collects_scores(&self) -> bool {
        matches!(self.collected, Collected::Matches(_))
    }

    /// A document that was offered before, with a better score, is not inserted once more.
    fn insert(&mut self, document: RankedDocument) {
        let is_same =
            |other: &RankedDocument| other.document == document.document && other.segment == document.segment;
        if self.best.iter().any(is_same) {
            return;
        }
        let at = self.best.partition_point(|better| better.rank.is_before(&document.rank));
        if self.best.len() == self.k {
            if at == self.k {
                return;
            }
            self.best.pop();
        }
        self.best.insert(at, document);
        if self.best.len() == self.k
            && let Some(last) = self.best.last()
        {
            self.threshold = last.rank.score;
        }
    }

    /// Returns the page in order, and whether more matches follow it.
    pub(crate) fn finish(self) -> (Vec<RankedDocument>, bool) {
        let has_more = self.total - self.skipped > self.best.len() as u64;
        (self.best, has_more)
    }
}
