//! Which documents of a segment hold a word, and how often: decoded once when the segment is opened. Decoding them for
//! every query was the largest part of a search in a large catalog.

use tantivy::DocId;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;

/// A word that so large a part of the documents holds has a bit for each document besides.
const DENSE: usize = 48;
/// Bits in one word of memory.
const WIDTH: usize = u64::BITS as usize;
/// So many documents are compared at once where the next one is likely to be near.
const STRIDE: usize = 16;

/// The postings of all words of a segment, one word after the other.
pub(super) struct Postings {
    /// One more than the highest document number.
    bound: usize,
    documents: Vec<DocId>,
    frequencies: Vec<u16>,
    /// Where the postings of each word end, and its bits if it has some.
    words: Vec<(usize, Option<Box<Bits>>)>,
}

/// Which documents hold a frequent word.
struct Bits {
    marks: Vec<u64>,
    /// How many holders stand before each word of marks.
    before: Vec<u32>,
}

/// The documents that hold a word, ascending, deleted ones included.
#[derive(Clone, Copy)]
pub(super) struct Holders<'s> {
    pub(super) documents: &'s [DocId],
    /// How often each of them holds it, weighed by field.
    pub(super) frequencies: &'s [u16],
    bits: Option<&'s Bits>,
}

/// Looks documents up among the holders of a word, in ascending order.
pub(super) struct Probe<'s> {
    holders: Holders<'s>,
    /// Everything before this place is behind; not kept where there are bits.
    at: usize,
}

impl Postings {
    /// Of a segment whose document numbers lie below `bound`.
    pub(super) fn new(bound: DocId) -> Postings {
        Postings { bound: bound as usize, documents: Vec::new(), frequencies: Vec::new(), words: Vec::new() }
    }

    /// Adds the postings of a further word.
    pub(super) fn push(&mut self, reader: &InvertedIndexReader, word: &TermInfo) -> tantivy::Result<()> {
        let start = self.documents.len();
        let mut block = reader.read_block_postings_from_terminfo(word, IndexRecordOption::WithFreqs)?;
        while !block.docs().is_empty() {
            self.documents.extend_from_slice(block.docs());
            let frequency = |frequency: &u32| u16::try_from(*frequency).unwrap_or(u16::MAX);
            self.frequencies.extend(block.freqs().iter().map(frequency));
            block.advance();
        }
        let holders = &self.documents[start..];
        let bits = (holders.len() * DENSE > self.bound).then(|| Box::new(Bits::of(holders, self.bound)));
        self.words.push((self.documents.len(), bits));
        Ok(())
    }

    /// Gives back what was reserved in vain.
    pub(super) fn finish(mut self) -> Postings {
        self.documents.shrink_to_fit();
        self.frequencies.shrink_to_fit();
        self.words.shrink_to_fit();
        self
    }

    /// The holders of the word that was added at this place.
    pub(super) fn holders(&self, word: usize) -> Holders<'_> {
        let start = if word == 0 { 0 } else { self.words[word - 1].0 };
        let (end, bits) = &self.words[word];
        Holders {
            documents: &self.documents[start..*end],
            frequencies: &self.frequencies[start..*end],
            bits: bits.as_deref(),
        }
    }
}

impl Bits {
    fn of(holders: &[DocId], bound: usize) -> Bits {
        let mut marks = vec![0_u64; bound.div_ceil(WIDTH)];
        for holder in holders {
            marks[*holder as usize / WIDTH] |= 1 << (*holder as usize % WIDTH);
        }
        let mut sum = 0;
        let before = marks.iter().map(|marks| {
            let before = sum;
            sum += marks.count_ones();
            before
        });
        Bits { before: before.collect(), marks }
    }

    #[inline]
    fn hold(&self, document: DocId) -> bool {
        let marks = self.marks.get(document as usize / WIDTH);
        marks.is_some_and(|marks| marks >> (document as usize % WIDTH) & 1 == 1)
    }

    /// The place of a document among the holders, if it is one.
    #[inline]
    fn place(&self, document: DocId) -> Option<usize> {
        let (word, bit) = (document as usize / WIDTH, document as usize % WIDTH);
        let marks = *self.marks.get(word)?;
        let before = marks & ((1 << bit) - 1);
        (marks >> bit & 1 == 1).then(|| (self.before[word] + before.count_ones()) as usize)
    }
}

impl<'s> Holders<'s> {
    /// Looks documents up among them.
    pub(super) fn probe(self) -> Probe<'s> {
        Probe { holders: self, at: 0 }
    }

    /// Whether a document may be one of them. Where that takes a search, it may.
    #[inline]
    pub(super) fn may_hold(&self, document: DocId) -> bool {
        self.bits.is_none_or(|bits| bits.hold(document))
    }
}

/// Calls `visit` with the documents that hold all of these words, ascending, 64 of them compared at once; does nothing and
/// says so where one of the words has no bits.
pub(super) fn each_held_by_all(words: &[Holders<'_>], mut visit: impl FnMut(DocId)) -> bool {
    let marks: Option<Vec<&[u64]>> = words.iter().map(|word| Some(word.bits?.marks.as_slice())).collect();
    let Some((first, others)) = marks.as_deref().and_then(<[_]>::split_first) else { return false };
    for (place, marks) in first.iter().enumerate() {
        let mut marks = others.iter().fold(*marks, |marks, other| marks & other[place]);
        while marks != 0 {
            visit((place * WIDTH) as DocId + marks.trailing_zeros());
            marks &= marks - 1;
        }
    }
    true
}

impl Probe<'_> {
    /// How often a document holds the word, if it does. Documents must be asked for in ascending order.
    #[inline]
    pub(super) fn frequency(&mut self, document: DocId) -> Option<u32> {
        let place = match self.holders.bits {
            Some(bits) => bits.place(document)?,
            None => {
                self.at = seek(self.holders.documents, self.at, document);
                if self.holders.documents.get(self.at) != Some(&document) {
                    return None;
                }
                self.at
            }
        };
        self.holders.frequencies.get(place).copied().map(u32::from)
    }
}

/// The first place from `at` on whose document is not before this one; the documents are ascending.
#[inline]
pub(super) fn seek(documents: &[DocId], at: usize, document: DocId) -> usize {
    let rest = documents.get(at..).unwrap_or_default();
    let near = &rest[..rest.len().min(STRIDE)];
    if near.last().is_none_or(|last| *last >= document) {
        return at + near.iter().filter(|holder| **holder < document).count();
    }
    // By steps that double, then by halves.
    let mut step = STRIDE;
    while step < rest.len() && rest[step] < document {
        step *= 2;
    }
    let to = rest.len().min(step + 1);
    let from = to.min(step / 2);
    at + from + rest[from..to].partition_point(|holder| *holder < document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_all_hold_is_found_by_their_bits(
            words in proptest::collection::vec(proptest::collection::btree_set(0..500u32, 0..300), 1..4),
        ) {
            let documents: Vec<Vec<DocId>> = words.iter().map(|word| word.iter().copied().collect()).collect();
            let bits: Vec<Bits> = documents.iter().map(|documents| Bits::of(documents, 500)).collect();
            let of = |(documents, bits)| Holders { documents, frequencies: &[], bits: Some(bits) };
            let holders: Vec<Holders<'_>> = documents.iter().map(Vec::as_slice).zip(&bits).map(of).collect();
            let mut found = Vec::new();
            prop_assert!(each_held_by_all(&holders, |document| found.push(document)));
            let in_all = |document: &DocId| words.iter().all(|word| word.contains(document));
            prop_assert_eq!(found, (0..500).filter(in_all).collect::<Vec<_>>());
            let rare = Holders { bits: None, ..holders[0] };
            prop_assert!(!each_held_by_all(&[holders[0], rare], |_| unreachable!()));
            for document in 0..501 {
                prop_assert_eq!(holders[0].may_hold(document), words[0].contains(&document));
                prop_assert!(rare.may_hold(document));
            }
        }

        #[test]
        fn a_probe_finds_what_a_plain_search_finds(
            documents in proptest::collection::btree_set(0..2_000u32, 0..300),
            sought in proptest::collection::btree_set(0..2_100u32, 1..200),
            dense: bool,
        ) {
            let documents: Vec<DocId> = documents.into_iter().collect();
            let frequencies: Vec<u16> = (1..).take(documents.len()).collect();
            let bits = Bits::of(&documents, 2_000);
            let bits = dense.then_some(&bits);
            let mut probe = Holders { documents: &documents, frequencies: &frequencies, bits }.probe();
            for sought in sought {
                let expected = documents.binary_search(&sought).ok().map(|place| u32::from(frequencies[place]));
                prop_assert_eq!(probe.frequency(sought), expected);
            }
        }
    }
}
