//! Whether the words of a phrase follow each other in a document, by their positions.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet};

use super::{Clause, PhraseVariant};
use crate::index::postings::PostingList;
use crate::index::segment::Segment;
use crate::query::Phrase;

/// The phrases of a query in one segment.
pub(super) struct Phrases {
    phrases: Vec<Vec<PhraseWord>>,
    /// The positions of the phrase's first word that fit all words so far.
    starts: Vec<u32>,
    /// The positions of the current word.
    positions: Vec<u32>,
}

struct PhraseWord {
    postings: SegmentPostings,
    /// The distance from the first word of the phrase.
    offset: u32,
}

impl Phrases {
    pub(super) fn open(segment: &Segment, words: &[String], phrases: &[Phrase]) -> tantivy::Result<Phrases> {
        let mut opened = Phrases { phrases: Vec::new(), starts: Vec::new(), positions: Vec::new() };
        for phrase in phrases {
            opened.add(segment, phrase.iter().map(|&(word, offset)| (words[word].as_str(), offset)))?;
        }
        Ok(opened)
    }

    fn add<'w>(
        &mut self,
        segment: &Segment,
        phrase: impl Iterator<Item = (&'w str, u32)>,
    ) -> tantivy::Result<()> {
        let mut words = Vec::new();
        for (word, offset) in phrase {
            let postings = match segment.term_info(word) {
                Some(info) => segment
                    .positions
                    .read_postings_from_terminfo(info, IndexRecordOption::WithFreqsAndPositions)?,
                None => SegmentPostings::empty(),
            };
            words.push(PhraseWord { postings, offset });
        }
        self.phrases.push(words);
        Ok(())
    }

    /// Returns whether a document contains every phrase. Documents must be passed in ascending order.
    pub(super) fn match_in(&mut self, document: DocId) -> bool {
        let Phrases { phrases, starts, positions } = self;
        phrases.iter_mut().all(|words| {
            for (index, word) in words.iter_mut().enumerate() {
                if word.postings.doc() < document {
                    word.postings.seek(document);
                }
                if word.postings.doc() != document {
                    return false;
                }
                word.postings.positions(positions);
                if index == 0 {
                    std::mem::swap(starts, positions);
                } else {
                    starts.retain(|start| positions.binary_search(&(start + word.offset)).is_ok());
                }
                if starts.is_empty() {
                    return false;
                }
            }
            true
        })
    }
}

/// The documents of a segment that contain a phrase variant, ascending, deleted ones included, and the frequency of its rarest word in
/// each.
#[derive(Default)]
pub(super) struct PhraseDocuments {
    documents: Vec<DocId>,
    frequencies: Vec<u16>,
}

impl PhraseDocuments {
    pub(super) fn of(segment: &Segment, phrase: &PhraseVariant<'_>) -> tantivy::Result<PhraseDocuments> {
        let mut found = PhraseDocuments::default();
        let lists: Option<Vec<PostingList<'_>>> =
            phrase.words.iter().map(|(word, _)| segment.posting_list(word)).collect();
        let Some(lists) = lists else { return Ok(found) };
        let Some(rarest) = lists.iter().min_by_key(|list| list.documents.len()) else { return Ok(found) };
        let mut cursors: Vec<_> = lists.iter().map(|list| list.cursor()).collect();
        let mut phrases = Phrases { phrases: Vec::new(), starts: Vec::new(), positions: Vec::new() };
        phrases.add(segment, phrase.words.iter().copied())?;
        for &document in rarest.documents {
            let mut frequency = Some(u32::from(u16::MAX));
            for cursor in &mut cursors {
                frequency = frequency.and_then(|rarest| Some(cursor.frequency(document)?.min(rarest)));
            }
            if let Some(frequency) = frequency
                && phrases.match_in(document)
            {
                found.documents.push(document);
                found.frequencies.push(frequency as u16);
            }
        }
        Ok(found)
    }

    pub(super) fn list(&self) -> PostingList<'_> {
        PostingList::without_bitmap(&self.documents, &self.frequencies)
    }
}

/// Returns whether a document contains a phrase variant.
pub(crate) fn contains_phrase(
    segment: &Segment,
    phrase: &PhraseVariant<'_>,
    document: DocId,
) -> tantivy::Result<bool> {
    let mut phrases = Phrases { phrases: Vec::new(), starts: Vec::new(), positions: Vec::new() };
    phrases.add(segment, phrase.words.iter().copied())?;
    Ok(phrases.match_in(document))
}

/// Returns the documents of the phrase variants of each clause in a segment.
pub(super) fn phrase_documents(
    segment: &Segment,
    clauses: &[Clause<'_>],
) -> tantivy::Result<Vec<Vec<PhraseDocuments>>> {
    let of_clause = |clause: &Clause<'_>| {
        clause.phrases.iter().map(|phrase| PhraseDocuments::of(segment, phrase)).collect()
    };
    clauses.iter().map(of_clause).collect()
}
