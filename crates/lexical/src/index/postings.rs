//! The posting lists of a segment: for each word the documents that contain it, ascending, and how often. They are decoded once,
//! when the segment is opened: decoding them for every query was the largest part of a search in a large catalog.

use tantivy::DocId;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;

/// A word has a bitmap too if more than one in this many documents contains it.
const DENSE: usize = 48;
/// The bits of one block of a bitmap.
const BLOCK_BITS: usize = u64::BITS as usize;
/// The number of documents that are compared at once where the sought one is likely to be near.
const STRIDE: usize = 16;

/// The posting lists of all words of a segment, one after the other.
pub(crate) struct PostingLists {
    /// One more than the highest document number.
    max_doc: usize,
    documents: Vec<DocId>,
    frequencies: Vec<u16>,
    /// Where the list of each word ends, and its bitmap if it has one.
    words: Vec<(usize, Option<Box<Bitmap>>)>,
    /// For each of the letters a to z the documents with a word that begins with it, one bit each; empty if there are none.
    letters: [Vec<u64>; 26],
}

/// The documents with a word that begins with some letter.
#[derive(Clone, Copy)]
pub(crate) struct LetterDocuments<'s>(&'s [u64]);

impl LetterDocuments<'_> {
    #[inline]
    pub(crate) fn contains(self, document: DocId) -> bool {
        let block = self.0.get(document as usize / BLOCK_BITS);
        block.is_some_and(|block| block >> (document as usize % BLOCK_BITS) & 1 == 1)
    }

    /// Calls `visit` with every document, ascending.
    pub(crate) fn for_each(self, mut visit: impl FnMut(DocId)) {
        for (at, block) in self.0.iter().enumerate() {
            let mut block = *block;
            while block != 0 {
                visit((at * BLOCK_BITS) as DocId + block.trailing_zeros());
                block &= block - 1;
            }
        }
    }
}

/// Returns the index of the letter that a word begins with; `None` if it is none of a to z.
fn letter_index(word: &str) -> Option<usize> {
    word.bytes().next().filter(u8::is_ascii_lowercase).map(|letter| usize::from(letter - b'a'))
}

/// The documents of a frequent word, one bit each, with constant-time rank.
struct Bitmap {
    blocks: Vec<u64>,
    /// The number of documents of the word before each block.
    ranks: Vec<u32>,
}

/// The documents that contain a word, ascending, deleted ones included.
#[derive(Clone, Copy)]
pub(crate) struct PostingList<'s> {
    pub(crate) documents: &'s [DocId],
    /// The word's frequency in each of them, weighted by field; at most 65,535.
    pub(crate) frequencies: &'s [u16],
    bitmap: Option<&'s Bitmap>,
}

/// A position in a posting list that only moves forward.
pub(crate) struct PostingCursor<'s> {
    list: PostingList<'s>,
    /// Every document before this index was passed. Unused where there is a bitmap.
    at: usize,
}

impl PostingLists {
    /// Creates the lists of a segment whose document numbers are below `max_doc`.
    pub(crate) fn new(max_doc: DocId) -> PostingLists {
        PostingLists {
            max_doc: max_doc as usize,
            documents: Vec::new(),
            frequencies: Vec::new(),
            words: Vec::new(),
            letters: Default::default(),
        }
    }

    /// Appends the posting list of the next word.
    pub(crate) fn push(
        &mut self,
        reader: &InvertedIndexReader,
        word: &str,
        info: &TermInfo,
    ) -> tantivy::Result<()> {
        let start = self.documents.len();
        let mut block = reader.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
        while !block.docs().is_empty() {
            self.documents.extend_from_slice(block.docs());
            let frequency = |frequency: &u32| u16::try_from(*frequency).unwrap_or(u16::MAX);
            self.frequencies.extend(block.freqs().iter().map(frequency));
            block.advance();
        }
        let list = &self.documents[start..];
        if let Some(index) = letter_index(word) {
            let blocks = &mut self.letters[index];
            blocks.resize(self.max_doc.div_ceil(BLOCK_BITS), 0);
            for document in list {
                blocks[*document as usize / BLOCK_BITS] |= 1 << (*document as usize % BLOCK_BITS);
            }
        }
        let bitmap = (list.len() * DENSE > self.max_doc).then(|| Box::new(Bitmap::new(list, self.max_doc)));
        self.words.push((self.documents.len(), bitmap));
        Ok(())
    }

    /// Frees the memory that was reserved for further lists.
    pub(crate) fn finish(mut self) -> PostingLists {
        self.documents.shrink_to_fit();
        self.frequencies.shrink_to_fit();
        self.words.shrink_to_fit();
        self
    }

    /// Returns the documents with a word that begins with this letter; `None` if it is none of a to z.
    pub(crate) fn letter(&self, letter: &str) -> Option<LetterDocuments<'_>> {
        letter_index(letter).map(|index| LetterDocuments(&self.letters[index]))
    }

    /// Returns the posting list of a word by the number of words appended before it.
    pub(crate) fn list(&self, word: usize) -> PostingList<'_> {
        let start = if word == 0 { 0 } else { self.words[word - 1].0 };
        let (end, bitmap) = &self.words[word];
        PostingList {
            documents: &self.documents[start..*end],
            frequencies: &self.frequencies[start..*end],
            bitmap: bitmap.as_deref(),
        }
    }
}

impl Bitmap {
    fn new(documents: &[DocId], max_doc: usize) -> Bitmap {
        let mut blocks = vec![0_u64; max_doc.div_ceil(BLOCK_BITS)];
        for document in documents {
            blocks[*document as usize / BLOCK_BITS] |= 1 << (*document as usize % BLOCK_BITS);
        }
        let mut sum = 0;
        let ranks = blocks.iter().map(|block| {
            let rank = sum;
            sum += block.count_ones();
            rank
        });
        Bitmap { ranks: ranks.collect(), blocks }
    }

    #[inline]
    fn contains(&self, document: DocId) -> bool {
        let block = self.blocks.get(document as usize / BLOCK_BITS);
        block.is_some_and(|block| block >> (document as usize % BLOCK_BITS) & 1 == 1)
    }

    /// Returns the index of a document in the posting list; `None` if it does not contain the word.
    #[inline]
    fn index_of(&self, document: DocId) -> Option<usize> {
        let (at, bit) = (document as usize / BLOCK_BITS, document as usize % BLOCK_BITS);
        let block = *self.blocks.get(at)?;
        let before = block & ((1 << bit) - 1);
        (block >> bit & 1 == 1).then(|| (self.ranks[at] + before.count_ones()) as usize)
    }
}

impl<'s> PostingList<'s> {
    /// Creates a list of ascending documents that has no bitmap.
    pub(crate) fn without_bitmap(documents: &'s [DocId], frequencies: &'s [u16]) -> PostingList<'s> {
        PostingList { documents, frequencies, bitmap: None }
    }

    /// Returns a cursor before the first document.
    pub(crate) fn cursor(self) -> PostingCursor<'s> {
        PostingCursor { list: self, at: 0 }
    }

    /// Returns whether a document contains the word.
    pub(crate) fn contains(&self, document: DocId) -> bool {
        match self.bitmap {
            Some(bitmap) => bitmap.contains(document),
            None => self.documents.binary_search(&document).is_ok(),
        }
    }

    /// Returns whether the list has a bitmap: its cursor takes documents in any order then.
    pub(crate) fn has_bitmap(&self) -> bool {
        self.bitmap.is_some()
    }

    /// Sets the bit of every document; `blocks` has a bit for each of the segment.
    pub(crate) fn add_to(&self, blocks: &mut [u64]) {
        match self.bitmap {
            Some(bitmap) => blocks.iter_mut().zip(&bitmap.blocks).for_each(|(block, other)| *block |= other),
            None => self.documents.iter().for_each(|document| {
                blocks[*document as usize / BLOCK_BITS] |= 1 << (*document as usize % BLOCK_BITS)
            }),
        }
    }

    /// Returns `false` if a bitmap excludes the document; without a bitmap always `true`.
    #[inline]
    pub(crate) fn may_contain(&self, document: DocId) -> bool {
        self.bitmap.is_none_or(|bitmap| bitmap.contains(document))
    }
}

/// Calls `visit` with the documents that all these lists contain, ascending, by intersecting 64 documents at once. Returns `false`
/// without a visit if one of the lists has no bitmap.
pub(crate) fn for_each_in_all(lists: &[PostingList<'_>], mut visit: impl FnMut(DocId)) -> bool {
    let bitmaps: Option<Vec<&[u64]>> =
        lists.iter().map(|list| Some(list.bitmap?.blocks.as_slice())).collect();
    let Some((first, others)) = bitmaps.as_deref().and_then(<[_]>::split_first) else { return false };
    for (at, block) in first.iter().enumerate() {
        let mut block = others.iter().fold(*block, |block, other| block & other[at]);
        while block != 0 {
            visit((at * BLOCK_BITS) as DocId + block.trailing_zeros());
            block &= block - 1;
        }
    }
    true
}

impl PostingCursor<'_> {
    /// Returns the word's frequency in a document; `None` if it does not contain the word. Documents must be passed in ascending
    /// order.
    #[inline]
    pub(crate) fn frequency(&mut self, document: DocId) -> Option<u32> {
        let index = match self.list.bitmap {
            Some(bitmap) => bitmap.index_of(document)?,
            None => {
                self.at = seek(self.list.documents, self.at, document);
                if self.list.documents.get(self.at) != Some(&document) {
                    return None;
                }
                self.at
            }
        };
        self.list.frequencies.get(index).copied().map(u32::from)
    }
}

/// Returns the first index from `at` on whose document is not below `document`; `documents` are ascending. Galloping search:
/// steps that double, then bisection.
#[inline]
pub(crate) fn seek(documents: &[DocId], at: usize, document: DocId) -> usize {
    let rest = documents.get(at..).unwrap_or_default();
    let near = &rest[..rest.len().min(STRIDE)];
    if near.last().is_none_or(|last| *last >= document) {
        return at + near.iter().filter(|near| **near < document).count();
    }
    let mut step = STRIDE;
    while step < rest.len() && rest[step] < document {
        step *= 2;
    }
    let to = rest.len().min(step + 1);
    let from = to.min(step / 2);
    at + from + rest[from..to].partition_point(|other| *other < document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bitmaps_intersect_like_sets(
            words in proptest::collection::vec(proptest::collection::btree_set(0..500u32, 0..300), 1..4),
        ) {
            let documents: Vec<Vec<DocId>> = words.iter().map(|word| word.iter().copied().collect()).collect();
            let bitmaps: Vec<Bitmap> = documents.iter().map(|documents| Bitmap::new(documents, 500)).collect();
            let list = |(documents, bitmap)| PostingList { documents, frequencies: &[], bitmap: Some(bitmap) };
            let lists: Vec<PostingList<'_>> = documents.iter().map(Vec::as_slice).zip(&bitmaps).map(list).collect();
            let mut found = Vec::new();
            prop_assert!(for_each_in_all(&lists, |document| found.push(document)));
            let in_all = |document: &DocId| words.iter().all(|word| word.contains(document));
            prop_assert_eq!(found, (0..500).filter(in_all).collect::<Vec<_>>());
            let sparse = PostingList { bitmap: None, ..lists[0] };
            prop_assert!(!for_each_in_all(&[lists[0], sparse], |_| unreachable!()));
            for document in 0..501 {
                prop_assert_eq!(lists[0].may_contain(document), words[0].contains(&document));
                prop_assert!(sparse.may_contain(document));
            }
        }

        #[test]
        fn a_cursor_finds_what_a_binary_search_finds(
            documents in proptest::collection::btree_set(0..2_000u32, 0..300),
            sought in proptest::collection::btree_set(0..2_100u32, 1..200),
            dense: bool,
        ) {
            let documents: Vec<DocId> = documents.into_iter().collect();
            let frequencies: Vec<u16> = (1..).take(documents.len()).collect();
            let bitmap = Bitmap::new(&documents, 2_000);
            let bitmap = dense.then_some(&bitmap);
            let mut cursor = PostingList { documents: &documents, frequencies: &frequencies, bitmap }.cursor();
            for sought in sought {
                let expected = documents.binary_search(&sought).ok().map(|index| u32::from(frequencies[index]));
                prop_assert_eq!(cursor.frequency(sought), expected);
            }
        }
    }
}
