//! What was typed, compared with names: names that begin with it, and names in which its words are next to each other.

use std::ops::Range;

use tantivy::DocId;

use super::{Clause, Collector, Filter, MatchBuffer, Scope};
use crate::index::rows::NameRange;
use crate::index::segment::Segment;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::ranking::band::MatchBand;

/// The names of a snapshot that begin with what was typed.
pub(crate) struct Beginnings {
    /// Of each segment, in their order: the names that begin with what was typed as whole words.
    whole: Vec<Range<u32>>,
    /// The names that [`match_beginnings`] collects.
    ranges: Vec<Range<u32>>,
    is_empty: bool,
}

/// The number of documents whose name begins with what was typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BeginningCounts {
    pub(crate) all: u64,
    /// Of these the number that match exactly.
    pub(crate) exact: u64,
}

impl Beginnings {
    pub(crate) fn new(snapshot: &Snapshot, query: &Query) -> Beginnings {
        let (mut whole, mut ranges) = (Vec::new(), Vec::new());
        if !query.typed.is_empty() {
            whole.reserve_exact(snapshot.segments.len());
            ranges.reserve_exact(snapshot.segments.len());
            for segment in &snapshot.segments {
                let found = segment.rows.names().beginning_with(query.typed.as_bytes());
                let NameRange { whole: finished, unfinished } = found;
                if query.ends_with_letter {
                    ranges.push(finished.start..unfinished.end);
                    continue;
                }
                ranges.push(if query.is_open { unfinished } else { Range::default() });
                whole.push(finished);
            }
        }
        let is_empty = ranges.iter().all(Range::is_empty);
        Beginnings { whole, ranges, is_empty }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Drops the names that go on with the last word.
    pub(crate) fn keep_whole_words(&mut self) {
        self.ranges.clear();
        self.is_empty = true;
    }

    /// Returns whether [`match_beginnings`] collects the document.
    pub(crate) fn contains(&self, segment_index: u32, segment: &Segment, document: DocId) -> bool {
        let Some(range) = self.ranges.get(segment_index as usize) else { return false };
        !range.is_empty() && segment.rows.names().rank(document).is_some_and(|rank| range.contains(&rank))
    }

    /// Returns the range of names that begin with what was typed as whole words.
    pub(super) fn whole(&self, segment_index: usize) -> Range<u32> {
        self.whole.get(segment_index).cloned().unwrap_or_default()
    }
}

/// Returns the band of a name of this rank that begins with what was typed, as whole words.
pub(super) fn band_of_whole_words(query: &Query, name: &[u8]) -> MatchBand {
    if name.len() == query.typed.len() { MatchBand::WholeName } else { MatchBand::Beginning }
}

/// Collects every document whose name begins with what was typed and goes on with the last word, with its final score. Not in the order
/// of documents. If the last word is a single letter it may be a whole word as well.
pub(crate) fn match_beginnings(
    snapshot: &Snapshot,
    query: &Query,
    scope: Scope<'_>,
    beginnings: &Beginnings,
    collector: &mut impl Collector,
) -> BeginningCounts {
    let mut counts = BeginningCounts::default();
    for (segment_index, (segment, range)) in snapshot.segments.iter().zip(&beginnings.ranges).enumerate() {
        if range.is_empty() {
            continue;
        }
        let Some(filter) = Filter::new(segment, scope) else { continue };
        let names = segment.rows.names();
        let last = query.words.last().and_then(|word| segment.posting_list(word));
        let mut matches = MatchBuffer::new(segment, segment_index, collector);
        for rank in range.clone() {
            let document = names.document(rank);
            if !filter.passes(document) {
                continue;
            }
            let rest = names.name(rank).len() - query.typed.len();
            // The words that follow the sixteenth are not searched for, and the others are in the name.
            let is_exact = query.is_truncated
                || last.is_some_and(|last| last.documents.binary_search(&document).is_ok());
            let is_name = is_exact || query.words.len() > 1 || query.ends_with_letter;
            let band = match rest {
                0 => MatchBand::WholeName,
                _ if is_name || rest <= query.typed.len() => MatchBand::UnfinishedBeginning,
                // A single word is often a whole one: half of the name that it begins must have been typed to come first.
                _ => MatchBand::Approximate,
            };
            matches.push(document, band.score_of_beginning(rest));
            counts.all += 1;
            counts.exact += u64::from(is_exact);
        }
        matches.flush();
    }
    counts
}

/// Returns in which band a document is whose name has all words next to each other; `None` if it does not, and for a single word.
pub(crate) fn band_in_name(query: &Query, name: &[u8]) -> Option<MatchBand> {
    let typed = query.typed.as_bytes();
    if query.words.len() < 2 || typed.is_empty() || name.len() < typed.len() {
        return None;
    }
    let mut found = None;
    let mut at = 0;
    while name.len() - at >= typed.len() {
        if name[at..].starts_with(typed) {
            if name.get(at + typed.len()).is_none_or(|next| *next == b' ') {
                return Some(MatchBand::InName);
            }
            found = query.is_open.then_some(MatchBand::UnfinishedInName);
        }
        match name[at..].iter().position(|byte| *byte == b' ') {
            Some(blank) => at += blank + 1,
            None => break,
        }
    }
    found
}

/// Returns how far the name has the clauses in their order, from 0 to 1: the share of the clauses whose variant begins the name (the
/// first clause) or directly follows one of the clause before.
pub(crate) fn order_in_name(clauses: &[Clause<'_>], name: &[u8]) -> f32 {
    let (mut before, mut in_order, mut is_first) = (0_u32, 0_u32, true);
    for word in name.split(|byte| *byte == b' ') {
        let mut matched = 0;
        for (index, clause) in clauses.iter().enumerate() {
            matched |= u32::from(clause.matches(word)) << index;
        }
        in_order |= matched & (before << 1);
        if is_first {
            in_order |= matched & 1;
        }
        (before, is_first) = (matched, false);
    }
    in_order.count_ones() as f32 / clauses.len().max(1) as f32
}
