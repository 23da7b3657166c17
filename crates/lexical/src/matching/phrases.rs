//! Whether the words of a phrase follow each other in a document, by their positions.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet};

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
        let mut opened = Vec::with_capacity(phrases.len());
        for phrase in phrases {
            let mut phrase_words = Vec::with_capacity(phrase.len());
            for &(word, offset) in phrase {
                let postings = match segment.term_info(&words[word]) {
                    Some(info) => segment
                        .positions
                        .read_postings_from_terminfo(info, IndexRecordOption::WithFreqsAndPositions)?,
                    None => SegmentPostings::empty(),
                };
                phrase_words.push(PhraseWord { postings, offset });
            }
            opened.push(phrase_words);
        }
        Ok(Phrases { phrases: opened, starts: Vec::new(), positions: Vec::new() })
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
