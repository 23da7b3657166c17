//! The order of results, and the page that keeps the best of them.

use tantivy::DocId;

/// So many scores are held against the threshold at once.
const STRIDE: usize = 16;

/// Days run from the newest to the oldest in 24 bits around this middle; the year 24,000 either way fits.
const MIDDLE_DAY: i64 = 1 << 23;
const UNKNOWN_DAY: u64 = (1 << 24) - 1;
/// Ordinals from 0 up to this bound fit beside the day.
pub(super) const ORDINAL_BOUND: u64 = 1 << 40;

/// The tie-breaker of a document: the newest day first, an unknown one last, then the lower ordinal.
#[cfg_attr(not(feature = "writer"), expect(dead_code, reason = "only the writer makes tie-breakers"))]
pub(super) fn tie(published: Option<i32>, ordinal: u64) -> u64 {
    let day = published
        .map_or(UNKNOWN_DAY, |day| (MIDDLE_DAY - i64::from(day)).clamp(0, UNKNOWN_DAY as i64 - 1) as u64);
    day << 40 | ordinal
}

/// The ordinal of the document that has this tie-breaker.
pub(super) fn ordinal_of(tie: u64) -> u64 {
    tie % ORDINAL_BOUND
}

/// The place of a document in a ranking: the higher score first, then the lower tie-breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rank {
    /// Finite and positive.
    pub(super) score: f32,
    /// Unique in an index, since ordinals are.
    pub(super) tie: u64,
}

impl Rank {
    /// Whether a document of this rank stands before one of the `other`.
    pub(super) fn is_before(&self, other: &Rank) -> bool {
        self.score > other.score || (self.score == other.score && self.tie < other.tie)
    }
}

/// A ranked document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) rank: Rank,
    /// The segment's index in the snapshot.
    pub(super) segment: u32,
    pub(super) document: DocId,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// At the best match.
    First,
    /// Behind the match of this rank.
    After(Rank),
}

/// Counts matches exactly and keeps the first few of them in order.
pub(super) struct BestOf {
    limit: usize,
    start: Start,
    best: Vec<Place>,
    /// All matches, whatever the page shows.
    pub(super) total: u64,
    /// Matches that stand before the page.
    skipped: u64,
    /// The score that a match must reach to be of interest, once the page is full.
    threshold: f32,
}

impl BestOf {
    pub(super) fn new(limit: usize, start: Start) -> BestOf {
        BestOf { limit, start, best: Vec::with_capacity(limit), total: 0, skipped: 0, threshold: 0.0 }
    }

    /// Takes up matches of one segment. `tie` is asked where the score alone may not decide.
    pub(super) fn offer(
        &mut self,
        segment: u32,
        documents: &[DocId],
        scores: &[f32],
        tie: impl Fn(DocId) -> u64,
    ) {
        self.total += documents.len() as u64;
        let matches = documents.iter().copied().zip(scores.iter().copied());
        match self.start {
            Start::First => {
                // Once the page is full, most matches are of no interest.
                for (documents, scores) in documents.chunks(STRIDE).zip(scores.chunks(STRIDE)) {
                    let threshold = self.threshold;
                    if scores.iter().fold(true, |below, score| below & (*score < threshold)) {
                        continue;
                    }
                    // They lie apart in memory, which gives several as quickly as one.
                    let mut ties = [0; STRIDE];
                    ties.iter_mut().zip(documents).for_each(|(place, document)| *place = tie(*document));
                    for ((&document, &score), tie) in documents.iter().zip(scores).zip(ties) {
                        if score >= self.threshold {
                            self.insert(Place { rank: Rank { score, tie }, segment, document });
                        }
                    }
                }
            }
            Start::After(after) => {
                for (document, score) in matches {
                    if score > after.score {
                        self.skipped += 1;
                    } else if score == after.score || score >= self.threshold {
                        let rank = Rank { score, tie: tie(document) };
                        if !after.is_before(&rank) {
                            self.skipped += 1;
                        } else if score >= self.threshold {
                            self.insert(Place { rank, segment, document });
                        }
                    }
                }
            }
        }
    }

    fn insert(&mut self, place: Place) {
        let at = self.best.partition_point(|better| better.rank.is_before(&place.rank));
        if self.best.len() == self.limit {
            if at == self.limit {
                return;
            }
            self.best.pop();
        }
        self.best.insert(at, place);
        if self.best.len() == self.limit
            && let Some(last) = self.best.last()
        {
            self.threshold = last.rank.score;
        }
    }

    /// The places in order, and whether more stand behind them.
    pub(super) fn finish(self) -> (Vec<Place>, bool) {
        let more = self.total - self.skipped > self.best.len() as u64;
        (self.best, more)
    }
}
