//! Finds the documents of a snapshot that match words, and scores them, segment by segment.
//!
//! A word scores its idf times its saturated frequency in the document (see [`bm25`](crate::ranking::bm25)). The scores of words
//! are added up in the query's order, so that the same content gives the same score bit for bit.
//!
//! - [`exact`]: all words as they were typed, by intersecting posting lists.
//! - [`forms`]: all words in any form, but for what is exact.
//! - [`clauses`]: each word as one of several variants, of which the best counts in a document; all clauses, or most of them.
//!   [`candidates`] intersects clauses, [`accumulator`] unites their variants.
//! - [`names`]: names that begin with what was typed, and the order of the words in names.
//! - [`phrases`]: whether the words of a phrase follow each other.

mod accumulator;
mod candidates;
mod clauses;
mod exact;
mod forms;
mod names;
mod phrases;

use tantivy::DocId;

use crate::index::postings::PostingList;
use crate::index::segment::Segment;
use crate::ordinal_set::OrdinalSet;
use crate::ranking::bm25::{LengthNorms, tf_saturation};

pub(crate) use clauses::{match_all, match_majority};
pub(crate) use exact::match_exact;
pub(crate) use forms::{count_full, match_forms};
pub(crate) use names::{BeginningCounts, Beginnings, band_in_name, match_beginnings, order_in_name};
pub(crate) use phrases::contains_phrase;

/// The most documents that are scored or handed to a collector at once.
const BATCH: usize = 128;

/// Receives the documents that match.
pub(crate) trait Collector {
    /// Receives some documents of one segment. Their scores are finite and above 0.
    fn collect(&mut self, batch: MatchBatch<'_>);

    /// Returns the score below which a document does not matter, so that its score need not be exact.
    fn threshold(&self) -> f32 {
        0.0
    }

    /// Returns whether of the documents that follow only the number matters, since names that begin with what was typed fill the page.
    fn only_counts(&self) -> bool {
        false
    }

    /// Returns whether of the documents after a full page only the number matters, unless they may have a place on it.
    fn counts_a_full_page(&self) -> bool {
        false
    }

    /// Counts documents of one segment in place of [`collect`](Self::collect), where [`only_counts`](Self::only_counts) allows it.
    fn count(&mut self, documents: DocumentSet<'_>);
}

/// Documents of one segment that match, a bit each, 64 in a block; the collector may clear some.
pub(crate) struct DocumentSet<'a> {
    pub(crate) segment: &'a Segment,
    /// The segment's index in the snapshot.
    pub(crate) segment_index: u32,
    blocks: &'a mut [u64],
}

impl DocumentSet<'_> {
    pub(crate) fn remove(&mut self, document: DocId) {
        self.blocks[document as usize / 64] &= !(1 << (document % 64));
    }

    /// Returns the number of documents.
    pub(crate) fn count(&self) -> u64 {
        self.blocks.iter().map(|block| u64::from(block.count_ones())).sum()
    }

    /// Returns the documents, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        self.blocks.iter().enumerate().flat_map(|(at, block)| {
            let mut rest = *block;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at as DocId * 64 + bit)
            })
        })
    }

    /// Removes the documents that do not pass the filter.
    fn retain(&mut self, filter: Filter<'_>) {
        if filter.passes_all() {
            return;
        }
        for (at, block) in self.blocks.iter_mut().enumerate() {
            let mut rest = *block;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                if !filter.passes(at as DocId * 64 + bit) {
                    *block &= !(1 << bit);
                }
                rest &= rest - 1;
            }
        }
    }
}

/// Documents of one segment that match, ascending, with their scores.
pub(crate) struct MatchBatch<'a> {
    pub(crate) segment: &'a Segment,
    /// The segment's index in the snapshot.
    pub(crate) segment_index: u32,
    pub(crate) documents: &'a [DocId],
    /// The score of each document; the collector may change them.
    pub(crate) scores: &'a mut [f32],
}

/// What was typed as one, and what it may stand for.
#[derive(Debug)]
pub(crate) struct Clause<'a> {
    /// The index of the typed word in the query; of several, that of the first.
    pub(crate) word: usize,
    pub(crate) variants: Vec<Variant<'a>>,
    /// Further variants: words that follow each other.
    pub(crate) phrases: Vec<PhraseVariant<'a>>,
    /// Further variants: the words that begin with the typed one.
    pub(crate) completion: Option<Completion<'a>>,
    /// The inverse document frequency of all variants together.
    pub(crate) idf: f32,
    pub(crate) role: ClauseRole,
}

/// A word that may match in place of a typed one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant<'a> {
    pub(crate) word: &'a str,
    /// The factor of its score, above 0 and at most 1.
    pub(crate) weight: f32,
}

/// Words that follow each other and may match in place of what was typed.
#[derive(Clone, Debug)]
pub(crate) struct PhraseVariant<'a> {
    /// The words, each with the distance of its position from the first.
    pub(crate) words: Vec<(&'a str, u32)>,
    /// The factor of its score, above 0 and at most 1.
    pub(crate) weight: f32,
}

/// The words that begin with a typed word, all of them: a typed letter or two may have thousands.
#[derive(Debug)]
pub(crate) struct Completion<'a> {
    pub(crate) prefix: &'a str,
    /// Whether the typed word itself is one of them.
    pub(crate) includes_prefix: bool,
    /// Words that are left out.
    pub(crate) except: Vec<&'a str>,
    /// The factor of the score of a word.
    pub(crate) weight: CompletionWeight,
}

/// How much the completions of a word count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CompletionWeight {
    /// The fewer letters a completion adds, the more.
    ByLength,
    /// All alike, above 0 and at most 1.
    Fixed(f32),
}

impl Completion<'_> {
    /// Returns whether a word that begins with the prefix is a variant.
    pub(crate) fn includes(&self, word: &str) -> bool {
        (self.includes_prefix || word.len() > self.prefix.len()) && !self.except.contains(&word)
    }

    fn weight_of(&self, word: &str) -> f32 {
        match self.weight {
            CompletionWeight::ByLength => 0.5 + 0.5 * self.prefix.len() as f32 / word.len() as f32,
            CompletionWeight::Fixed(weight) => weight,
        }
    }
}

impl<'a> Clause<'a> {
    /// Returns a clause without variants for the word of this index, which every result must match in some form.
    pub(crate) fn new(word: usize, idf: f32) -> Clause<'a> {
        let role = ClauseRole { is_significant: true, is_required: false };
        Clause { word, variants: Vec::new(), phrases: Vec::new(), completion: None, idf, role }
    }

    /// Returns whether the word is one of the variants, or in one of them.
    fn matches(&self, word: &[u8]) -> bool {
        let completes = |completion: &Completion<'_>| {
            word.starts_with(completion.prefix.as_bytes())
                && std::str::from_utf8(word).is_ok_and(|word| completion.includes(word))
        };
        self.variants.iter().any(|variant| variant.word.as_bytes() == word)
            || self.phrases.iter().flat_map(|phrase| &phrase.words).any(|(other, _)| other.as_bytes() == word)
            || self.completion.as_ref().is_some_and(completes)
    }
}

/// What a clause contributes to a match of some of the clauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClauseRole {
    /// Whether the clause counts: its word is neither short, nor frequent, nor a stop word.
    pub(crate) is_significant: bool,
    /// Whether every result must match it: its word is a character of a script without spaces.
    pub(crate) is_required: bool,
}

/// A clause with the posting lists of one segment.
struct SegmentClause<'s> {
    /// The index of the clause in the query.
    index: usize,
    idf: f32,
    role: ClauseRole,
    /// The variants that the segment contains.
    variants: Vec<SegmentVariant<'s>>,
}

impl SegmentClause<'_> {
    /// Returns the number of documents of all variants.
    fn documents(&self) -> usize {
        self.variants.iter().map(|variant| variant.list.documents.len()).sum()
    }
}

/// A variant with its posting list in one segment.
struct SegmentVariant<'s> {
    list: PostingList<'s>,
    weight: f32,
}

/// Which projects can be results: all, those of one category, those of a set, or those of both.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) category: Option<&'a str>,
    pub(crate) allowed: Option<&'a OrdinalSet>,
}

/// Which documents of a segment can be results: the live ones in a scope.
#[derive(Clone, Copy)]
struct Filter<'a> {
    segment: &'a Segment,
    has_deletions: bool,
    /// The code of the category in the segment.
    category: Option<u16>,
    allowed: Option<&'a OrdinalSet>,
}

impl<'a> Filter<'a> {
    /// Creates the filter of a segment; `None` if it has no document of the category.
    fn new(segment: &'a Segment, scope: Scope<'a>) -> Option<Filter<'a>> {
        let code = match scope.category {
            None => None,
            Some(category) => Some(segment.rows.category_code(category)?),
        };
        Some(Filter {
            segment,
            has_deletions: segment.has_deletions(),
            category: code,
            allowed: scope.allowed,
        })
    }

    fn passes_all(&self) -> bool {
        !self.has_deletions && self.category.is_none() && self.allowed.is_none()
    }

    #[inline]
    fn passes(&self, document: DocId) -> bool {
        (!self.has_deletions || self.segment.is_live(document))
            && self.category.is_none_or(|code| self.segment.rows.has_category(document, code))
            && self.allowed.is_none_or(|allowed| allowed.contains(self.segment.ordinal(document)))
    }
}

/// Collects matches one by one and passes them on in batches.
pub(crate) struct MatchBuffer<'a, C> {
    segment: &'a Segment,
    segment_index: u32,
    collector: &'a mut C,
    documents: [DocId; BATCH],
    scores: [f32; BATCH],
    len: usize,
}

impl<'a, C: Collector> MatchBuffer<'a, C> {
    pub(crate) fn new(
        segment: &'a Segment,
        segment_index: usize,
        collector: &'a mut C,
    ) -> MatchBuffer<'a, C> {
        MatchBuffer {
            segment,
            segment_index: segment_index as u32,
            collector,
            documents: [0; BATCH],
            scores: [0.0; BATCH],
            len: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, document: DocId, score: f32) {
        self.documents[self.len] = document;
        self.scores[self.len] = score;
        self.len += 1;
        if self.len == BATCH {
            self.flush();
        }
    }

    /// Passes on what was collected so far, then a batch of matches that follow.
    pub(crate) fn push_all(&mut self, documents: &[DocId], scores: &mut [f32]) {
        self.flush();
        let (segment, segment_index) = (self.segment, self.segment_index);
        self.collector.collect(MatchBatch { segment, segment_index, documents, scores });
    }

    /// Returns the score below which a document does not matter.
    pub(crate) fn threshold(&self) -> f32 {
        self.collector.threshold()
    }

    /// Passes the rest on; to be called after the last match.
    pub(crate) fn flush(&mut self) {
        if self.len == 0 {
            return;
        }
        self.collector.collect(MatchBatch {
            segment: self.segment,
            segment_index: self.segment_index,
            documents: &self.documents[..self.len],
            scores: &mut self.scores[..self.len],
        });
        self.len = 0;
    }
}

/// Calls `visit` with batches of the documents of a posting list, deleted ones included, and the saturated frequency in each of them,
/// multiplied by `weight`.
fn for_each_scored_batch(
    length_norms: &LengthNorms,
    segment: &Segment,
    list: PostingList<'_>,
    weight: f32,
    mut visit: impl FnMut(&[DocId], &mut [f32]),
) {
    let mut scores = [0.0; BATCH];
    for (documents, frequencies) in list.documents.chunks(BATCH).zip(list.frequencies.chunks(BATCH)) {
        let scores = &mut scores[..documents.len()];
        // Two loops: the look-ups cannot be vectorised, the arithmetic on their results can.
        for (&document, score) in documents.iter().zip(scores.iter_mut()) {
            *score = length_norms[segment.length_id(document)];
        }
        for (&frequency, score) in frequencies.iter().zip(scores.iter_mut()) {
            *score = weight * tf_saturation(f32::from(frequency), *score);
        }
        visit(documents, scores);
    }
}
