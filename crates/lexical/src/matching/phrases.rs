//! Whether words follow each other in a document.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet};

use super::super::query::Phrase;
use super::super::segment::Segment;

/// The phrases of a query in one segment, asked document by document in ascending order.
pub(super) struct Phrases {
    phrases: Vec<Vec<Member>>,
    /// The places of the phrase at which the words before the current one fit.
    fitting: Vec<u32>,
    places: Vec<u32>,
}

struct Member {
    postings: SegmentPostings,
    offset: u32,
}

impl Phrases {
    pub(super) fn open(segment: &Segment, words: &[String], phrases: &[Phrase]) -> tantivy::Result<Phrases> {
        let mut opened = Vec::with_capacity(phrases.len());
        for phrase in phrases {
            let mut members = Vec::with_capacity(phrase.len());
            for &(word, offset) in phrase {
                let postings = match segment.info(&words[word]) {
                    Some(info) => segment
                        .positions
                        .read_postings_from_terminfo(info, IndexRecordOption::WithFreqsAndPositions)?,
                    None => SegmentPostings::empty(),
                };
                members.push(Member { postings, offset });
            }
            opened.push(members);
        }
        Ok(Phrases { phrases: opened, fitting: Vec::new(), places: Vec::new() })
    }

    /// Whether every phrase stands in the document. Documents must be asked for in ascending order.
    pub(super) fn hold_in(&mut self, document: DocId) -> bool {
        let Phrases { phrases, fitting, places } = self;
        phrases.iter_mut().all(|members| {
            for (place, member) in members.iter_mut().enumerate() {
                if member.postings.doc() < document {
                    member.postings.seek(document);
                }
                if member.postings.doc() != document {
                    return false;
                }
                member.postings.positions(places);
                if place == 0 {
                    std::mem::swap(fitting, places);
                } else {
                    fitting.retain(|first| places.binary_search(&(first + member.offset)).is_ok());
                }
                if fitting.is_empty() {
                    return false;
                }
            }
            true
        })
    }
}
