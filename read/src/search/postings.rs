//! Which documents of a segment hold a word, and how often: decoded once when the segment is opened. Decoding them for
//! every query was the largest part of a search in a large catalog.

use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, TERMINATED};

/// The postings of all words of a segment, one word after the other.
#[derive(Default)]
pub(super) struct Postings {
    documents: Vec<DocId>,
    frequencies: Vec<u16>,
    /// Where the postings of each word end.
    ends: Vec<usize>,
}

/// The documents that hold a word, ascending, deleted ones included.
#[derive(Clone, Copy)]
pub(super) struct Holders<'s> {
    pub(super) documents: &'s [DocId],
    /// How often each of them holds it, weighed by field.
    pub(super) frequencies: &'s [u16],
}

/// A place among the holders of a word.
pub(super) struct Cursor<'s> {
    holders: Holders<'s>,
    at: usize,
}

impl Postings {
    /// Adds the postings of a further word.
    pub(super) fn push(&mut self, reader: &InvertedIndexReader, word: &TermInfo) -> tantivy::Result<()> {
        let mut block = reader.read_block_postings_from_terminfo(word, IndexRecordOption::WithFreqs)?;
        while !block.docs().is_empty() {
            self.documents.extend_from_slice(block.docs());
            let frequency = |frequency: &u32| u16::try_from(*frequency).unwrap_or(u16::MAX);
            self.frequencies.extend(block.freqs().iter().map(frequency));
            block.advance();
        }
        self.ends.push(self.documents.len());
        Ok(())
    }

    /// Gives back what was reserved in vain.
    pub(super) fn finish(mut self) -> Postings {
        self.documents.shrink_to_fit();
        self.frequencies.shrink_to_fit();
        self.ends.shrink_to_fit();
        self
    }

    /// The holders of the word that was added at this place.
    pub(super) fn holders(&self, word: usize) -> Holders<'_> {
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        let range = start..self.ends[word];
        Holders { documents: &self.documents[range.clone()], frequencies: &self.frequencies[range] }
    }
}

impl<'s> Holders<'s> {
    /// Stands at the first of them.
    pub(super) fn cursor(self) -> Cursor<'s> {
        Cursor { holders: self, at: 0 }
    }
}

impl Cursor<'_> {
    /// The document it stands at; [`TERMINATED`] behind the last.
    #[inline]
    pub(super) fn document(&self) -> DocId {
        self.holders.documents.get(self.at).copied().unwrap_or(TERMINATED)
    }

    /// How often that document holds the word; 0 behind the last.
    #[inline]
    pub(super) fn frequency(&self) -> u32 {
        self.holders.frequencies.get(self.at).copied().map_or(0, u32::from)
    }

    /// Goes on by one.
    #[inline]
    pub(super) fn advance(&mut self) -> DocId {
        self.at += 1;
        self.document()
    }

    /// Goes on to the first document that is not before this one: by steps that double, then by halves.
    #[inline]
    pub(super) fn seek(&mut self, document: DocId) -> DocId {
        let rest = self.holders.documents.get(self.at..).unwrap_or_default();
        let mut step = 1;
        while step < rest.len() && rest[step] < document {
            step *= 2;
        }
        let (from, to) = (step / 2, rest.len().min(step + 1));
        self.at += from + rest[from..to].partition_point(|candidate| *candidate < document);
        self.document()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cursor_goes_where_a_plain_search_would(
            documents in proptest::collection::btree_set(0..500u32, 0..80),
            sought in proptest::collection::vec(0..520u32, 1..20),
        ) {
            let documents: Vec<DocId> = documents.into_iter().collect();
            let frequencies: Vec<u16> = (1..).take(documents.len()).collect();
            let mut cursor = Holders { documents: &documents, frequencies: &frequencies }.cursor();
            let mut before = 0;
            for sought in sought {
                let sought = before.max(sought);
                let place = documents.partition_point(|document| *document < sought);
                prop_assert_eq!(cursor.seek(sought), documents.get(place).copied().unwrap_or(TERMINATED));
                prop_assert_eq!(cursor.frequency(), frequencies.get(place).map_or(0, |f| u32::from(*f)));
                before = sought;
            }
        }
    }
}
