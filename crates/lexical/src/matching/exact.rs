//! The exact tier: all words as they were typed, and the phrases that they form.

use std::ops::Range;

use tantivy::DocId;

use super::accumulator::with_union;
use super::names::{Beginnings, NameSet, band_in_name, band_of_whole_words};
use super::phrases::Phrases;
use super::{Collector, Filter, MatchBuffer, Scope, for_each_scored_batch};
use crate::MAX_PAGE_SIZE;
use crate::index::postings::{PostingCursor, PostingList, for_each_in_all};
use crate::index::schema::NAME_WEIGHT;
use crate::index::segment::Segment;
use crate::index::snapshot::Snapshot;
use crate::query::{MAX_QUERY_WORDS, Query};
use crate::ranking::band::MatchBand;
use crate::ranking::bm25::{LengthNorms, tf_saturation};

/// Collects every document that contains all words and phrases of the query, with its final score. `idfs` are those of its words.
pub(crate) fn match_exact(
    snapshot: &Snapshot,
    query: &Query,
    (scope, beginnings): (Scope<'_>, Option<&Beginnings<'_>>),
    (length_norms, idfs): (&LengthNorms, &[f32]),
    collector: &mut impl Collector,
) -> tantivy::Result<()> {
    for (segment_index, segment) in snapshot.segments.iter().enumerate() {
        let Some(filter) = Filter::new(segment, scope) else { continue };
        let Some(lists) = posting_lists(segment, &query.words) else { continue };
        match lists.as_slice() {
            [] => {}
            [only] if query.phrases().is_empty() => {
                let whole = beginnings.map(|beginnings| beginnings.whole(segment_index)).unwrap_or_default();
                let (word, scope) = ((*only, idfs[0]), (length_norms, filter));
                match_word(scope, segment_index, word, (query, whole), collector);
            }
            several => {
                let mut matches = MatchBuffer::new(segment, segment_index, collector);
                let whole = beginnings.map(|beginnings| beginnings.whole(segment_index)).unwrap_or_default();
                match_words((length_norms, idfs), filter, several, (query, whole), &mut matches)?;
                matches.flush();
            }
        }
    }
    Ok(())
}

/// Tells which documents of a segment contain what was typed: all words, and all phrases.
pub(super) struct ExactTest<'s> {
    cursors: Vec<PostingCursor<'s>>,
    phrases: Phrases,
}

impl<'s> ExactTest<'s> {
    /// Creates the test for a segment; `None` if no document passes.
    pub(super) fn open(segment: &'s Segment, query: &Query) -> tantivy::Result<Option<ExactTest<'s>>> {
        let Some(lists) = posting_lists(segment, &query.words) else { return Ok(None) };
        let cursors = lists.iter().map(|list| list.cursor()).collect();
        let phrases = Phrases::open(segment, &query.words, query.phrases())?;
        Ok(Some(ExactTest { cursors, phrases }))
    }

    /// Returns whether a document passes. Documents must be passed in ascending order.
    pub(super) fn passes(&mut self, document: DocId) -> bool {
        self.cursors.iter_mut().all(|cursor| cursor.frequency(document).is_some())
            && self.phrases.match_in(document)
    }
}

/// Returns the posting list of each word; `None` if the segment lacks one of them.
fn posting_lists<'s>(segment: &'s Segment, words: &[String]) -> Option<Vec<PostingList<'s>>> {
    words.iter().map(|word| segment.posting_list(word)).collect()
}

fn match_word(
    (length_norms, filter): (&LengthNorms, Filter<'_>),
    segment_index: usize,
    (list, idf): (PostingList<'_>, f32),
    (query, whole): (&Query, Range<u32>),
    collector: &mut impl Collector,
) {
    let (segment, names) = (filter.segment, filter.segment.rows.names());
    if whole.len() >= MAX_PAGE_SIZE && list.has_bitmap() && collector.counts_a_full_page() {
        let begun: Vec<u32> = whole.clone().filter(|rank| filter.passes(names.document(*rank))).collect();
        if begun.len() >= MAX_PAGE_SIZE {
            // These fill the page, and of the others only the number matters.
            let mut matches = MatchBuffer::new(segment, segment_index, collector);
            let mut cursor = list.cursor();
            for &rank in &begun {
                let document = names.document(rank);
                let frequency = cursor.frequency(document).unwrap_or_default();
                let length_norm = length_norms[segment.length_id(document)];
                let score = idf * tf_saturation(frequency as f32, length_norm);
                matches.push(document, band_of_whole_words(query, names.name(rank)).score(score));
            }
            matches.flush();
            return with_union(filter, segment_index, [list].into_iter(), |mut documents| {
                begun.iter().for_each(|rank| documents.remove(names.document(*rank)));
                collector.count(documents);
            });
        }
    }
    let passes_all = filter.passes_all();
    let mut matches = MatchBuffer::new(segment, segment_index, collector);
    let whole = NameSet::new(whole);
    let mut begun = Vec::new();
    for_each_scored_batch(length_norms, segment, list, idf, |documents, scores| {
        if passes_all && let Some(with_name) = whole.within(names, documents) {
            let score_of = |document: &DocId| {
                let (at, rank) = (documents.binary_search(document).ok()?, names.rank(*document)?);
                Some((at, band_of_whole_words(query, names.name(rank)).score(scores[at])))
            };
            begun.clear();
            begun.extend(with_name.iter().filter_map(score_of));
            scores.iter_mut().for_each(|score| *score = MatchBand::Words.score(*score));
            begun.iter().for_each(|(at, score)| scores[*at] = *score);
            return matches.push_all(documents, scores);
        }
        for (&document, &score) in documents.iter().zip(scores.iter()) {
            if filter.passes(document) {
                let rank = whole.rank(names, document);
                let band = rank.map_or(MatchBand::Words, |rank| band_of_whole_words(query, names.name(rank)));
                matches.push(document, band.score(score));
            }
        }
    });
    matches.flush();
}

fn match_words(
    (length_norms, idfs): (&LengthNorms, &[f32]),
    filter: Filter<'_>,
    lists: &[PostingList<'_>],
    (query, whole): (&Query, Range<u32>),
    matches: &mut MatchBuffer<'_, impl Collector>,
) -> tantivy::Result<()> {
    let (segment, names) = (filter.segment, filter.segment.rows.names());
    // The rarest word leads; the others are only looked up in its documents.
    let mut order: Vec<usize> = (0..lists.len()).collect();
    order.sort_by_key(|&word| lists[word].documents.len());
    let Some((&first, others)) = order.split_first() else { return Ok(()) };
    let mut phrases = Phrases::open(segment, &query.words, query.phrases())?;
    let mut score_document = |document, frequencies: &[u32; MAX_QUERY_WORDS]| {
        if filter.passes(document) && phrases.match_in(document) {
            let length_norm = length_norms[segment.length_id(document)];
            let words = frequencies.iter().zip(idfs).take(lists.len());
            let score = words.fold(0.0, |score, (&frequency, idf)| {
                score + idf * tf_saturation(frequency as f32, length_norm)
            });
            let in_name = |frequency: &u32| *frequency >= NAME_WEIGHT;
            let mut band = MatchBand::Words;
            if frequencies[..lists.len()].iter().all(in_name)
                && let Some(rank) = names.rank(document)
            {
                if whole.contains(&rank) {
                    band = band_of_whole_words(query, names.name(rank));
                } else if matches.threshold() <= MatchBand::InName.score(score) {
                    // No other band of this tier is above that.
                    band = band_in_name(query, names.name(rank)).unwrap_or(band);
                }
            }
            matches.push(document, band.score(score));
        }
    };
    let mut frequencies = [0; MAX_QUERY_WORDS];
    let mut cursors: Vec<PostingCursor<'_>> = lists.iter().map(|list| list.cursor()).collect();
    let all_have_bitmaps = for_each_in_all(lists, |document| {
        for (frequency, cursor) in frequencies.iter_mut().zip(&mut cursors) {
            *frequency = cursor.frequency(document).unwrap_or_default();
        }
        score_document(document, &frequencies);
    });
    if all_have_bitmaps {
        return Ok(());
    }
    'documents: for (&document, &frequency) in lists[first].documents.iter().zip(lists[first].frequencies) {
        if !others.iter().all(|&word| lists[word].may_contain(document)) {
            continue;
        }
        frequencies[first] = u32::from(frequency);
        for &word in others {
            match cursors[word].frequency(document) {
                Some(frequency) => frequencies[word] = frequency,
                None => continue 'documents,
            }
        }
        score_document(document, &frequencies);
    }
    Ok(())
}
