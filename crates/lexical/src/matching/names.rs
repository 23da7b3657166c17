//! What was typed, compared with names: names that begin with it, and names in which its words are next to each other.

use std::cell::OnceCell;
use std::ops::Range;

use tantivy::DocId;

use super::phrases::PhraseDocuments;
use super::{Clause, Collector, Filter, MatchBuffer, PhraseVariant, Scope};
use crate::index::postings::PostingList;
use crate::index::rows::{NameRange, Names};
use crate::index::segment::Segment;
use crate::index::snapshot::Snapshot;
use crate::query::Query;
use crate::ranking::band::MatchBand;

/// The names of a snapshot that begin with what was typed.
pub(crate) struct Beginnings<'s> {
    /// Of each segment, in their order: the names that begin with what was typed as whole words.
    whole: Vec<Range<u32>>,
    /// The names that [`match_beginnings`] collects.
    collected: Vec<OpenNames<'s>>,
    is_empty: bool,
}

/// The names of a segment that go on with the last word. Documents that have the word in another form are left out: they are matches
/// of that form.
struct OpenNames<'s> {
    names: NameSet,
    exact: ExactEnd<'s>,
    /// The documents with another form of the last term.
    forms: Vec<PostingList<'s>>,
}

/// The documents of a segment that contain the end of what was typed.
enum ExactEnd<'s> {
    Word(Option<PostingList<'s>>),
    Compound(PhraseDocuments),
}

impl<'s> OpenNames<'s> {
    fn open(segment: &'s Segment, query: &Query, range: Range<u32>) -> tantivy::Result<OpenNames<'s>> {
        let list_of = |word: &String| segment.posting_list(word);
        let names = NameSet::new(range);
        let Some(compound) = &query.open_compound else {
            let forms = query.forms.last().into_iter().flatten().filter_map(list_of).collect();
            let exact = ExactEnd::Word(query.words.last().and_then(list_of));
            return Ok(OpenNames { names, exact, forms });
        };
        let words =
            compound.words.iter().map(|&(word, offset)| (query.words[word].as_str(), offset)).collect();
        let documents = PhraseDocuments::of(segment, &PhraseVariant { words, weight: 1.0 })?;
        let forms = compound.joined.iter().filter_map(list_of).collect();
        Ok(OpenNames { names, exact: ExactEnd::Compound(documents), forms })
    }

    /// Returns whether a document whose name is one of these contains all that was typed.
    fn is_exact(&self, document: DocId) -> bool {
        match &self.exact {
            ExactEnd::Word(list) => list.is_some_and(|list| list.contains(document)),
            ExactEnd::Compound(documents) => documents.list().contains(document),
        }
    }

    fn leaves_out(&self, document: DocId) -> bool {
        self.forms.iter().any(|list| list.contains(document)) && !self.is_exact(document)
    }
}

/// The most names whose documents are sorted, to be sought in batches of documents.
const MAX_SORTED: usize = 4_096;

/// The names of a segment in a range.
pub(super) struct NameSet {
    range: Range<u32>,
    /// Their documents, ascending; `None` if there are too many.
    documents: OnceCell<Option<Vec<DocId>>>,
}

impl NameSet {
    pub(super) fn new(range: Range<u32>) -> NameSet {
        NameSet { range, documents: OnceCell::new() }
    }

    /// Returns the documents with one of the names, ascending, from the first to the last of an ascending batch; `None` if there are too
    /// many names: each document's rank is to be looked up then.
    pub(super) fn within(&self, names: Names<'_>, batch: &[DocId]) -> Option<&[DocId]> {
        let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return Some(&[]) };
        let sorted = self.documents.get_or_init(|| {
            let is_small = self.range.len() <= MAX_SORTED;
            let mut documents: Vec<DocId> =
                is_small.then(|| self.range.clone().map(|rank| names.document(rank)).collect())?;
            documents.sort_unstable();
            Some(documents)
        });
        let documents = sorted.as_deref()?;
        let rest = &documents[documents.partition_point(|document| document < first)..];
        Some(&rest[..rest.partition_point(|document| document <= last)])
    }

    /// Returns the rank of the document's name if it is one of these.
    pub(super) fn rank(&self, names: Names<'_>, document: DocId) -> Option<u32> {
        if self.range.is_empty() {
            None
        } else {
            names.rank(document).filter(|rank| self.range.contains(rank))
        }
    }
}

/// The number of documents whose name begins with what was typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BeginningCounts {
    pub(crate) all: u64,
    /// Of these the number that match exactly.
    pub(crate) exact: u64,
    /// Of these the number that contain every word in some form, exact ones included.
    pub(crate) full: u64,
}

impl<'s> Beginnings<'s> {
    pub(crate) fn open(snapshot: &'s Snapshot, query: &Query) -> tantivy::Result<Beginnings<'s>> {
        let (mut whole, mut collected) = (Vec::new(), Vec::new());
        if !query.typed.is_empty() {
            whole.reserve_exact(snapshot.segments.len());
            collected.reserve_exact(snapshot.segments.len());
            for segment in &snapshot.segments {
                let found = segment.rows.names().beginning_with(query.typed.as_bytes());
                let NameRange { whole: finished, unfinished } = found;
                if query.ends_with_letter {
                    collected.push(OpenNames::open(segment, query, finished.start..unfinished.end)?);
                    continue;
                }
                let unfinished = if query.is_open { unfinished } else { Range::default() };
                collected.push(OpenNames::open(segment, query, unfinished)?);
                whole.push(finished);
            }
        }
        let is_empty = collected.iter().all(|open| open.names.range.is_empty());
        Ok(Beginnings { whole, collected, is_empty })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Drops the names that go on with the last word.
    pub(crate) fn keep_whole_words(&mut self) {
        self.collected.clear();
        self.is_empty = true;
    }

    /// Returns whether [`match_beginnings`] collects none of an ascending batch of documents, where that is known without a look at each.
    pub(crate) fn has_none_of(&self, segment_index: u32, segment: &Segment, batch: &[DocId]) -> bool {
        let Some(collected) = self.collected.get(segment_index as usize) else { return true };
        collected.names.within(segment.rows.names(), batch).is_some_and(<[DocId]>::is_empty)
    }

    /// Calls `visit` with every document of a segment that [`match_beginnings`] collects.
    pub(crate) fn for_each(&self, segment_index: u32, segment: &Segment, mut visit: impl FnMut(DocId)) {
        let Some(collected) = self.collected.get(segment_index as usize) else { return };
        let documents = collected.names.range.clone().map(|rank| segment.rows.names().document(rank));
        documents.filter(|document| !collected.leaves_out(*document)).for_each(&mut visit);
    }

    /// Returns whether [`match_beginnings`] collects the document.
    pub(crate) fn contains(&self, segment_index: u32, segment: &Segment, document: DocId) -> bool {
        let collected = self.collected.get(segment_index as usize);
        collected.is_some_and(|open| {
            open.names.rank(segment.rows.names(), document).is_some() && !open.leaves_out(document)
        })
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
    beginnings: &Beginnings<'_>,
    collector: &mut impl Collector,
) -> BeginningCounts {
    let mut counts = BeginningCounts::default();
    for (segment_index, (segment, open)) in snapshot.segments.iter().zip(&beginnings.collected).enumerate() {
        if open.names.range.is_empty() {
            continue;
        }
        let Some(filter) = Filter::new(segment, scope) else { continue };
        let names = segment.rows.names();
        let is_optional = query.words.len().checked_sub(1).is_none_or(|last| !query.is_required(last));
        let mut matches = MatchBuffer::new(segment, segment_index, collector);
        for rank in open.names.range.clone() {
            let document = names.document(rank);
            if !filter.passes(document) || open.leaves_out(document) {
                continue;
            }
            let rest = names.name(rank).len() - query.typed.len();
            // The words that follow the sixteenth are not searched for, and the others are in the name.
            let is_exact = query.is_truncated || open.is_exact(document);
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
            counts.full += u64::from(is_exact || is_optional);
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
