//! The names of a segment's documents in the order of their bytes, so that those which begin with some text are one range.
//!
//! Part of the row file, and mapped into memory with it: a column of ranks (`u32`: of each document the position of its name in the
//! order, [`NO_NAME`] for a document without one); a column of documents (`u32`, in the order of their names, equal names by
//! tie-breaker); a column of ends (`u64`); and the names, one after the other.

use std::ops::Range;

use tantivy::DocId;

use super::{u32_at, u64_at};
use crate::index::partition_point;

/// The rank of a document without a name.
pub(super) const NO_NAME: u32 = u32::MAX;

/// Where the columns are in the row file.
pub(super) struct NameTable {
    /// The offsets of the columns and of the names, in bytes.
    ranks: usize,
    documents: usize,
    ends: usize,
    names: usize,
    /// The number of documents with a name.
    count: u32,
    /// The offset after the names.
    end: usize,
}

/// The names of a segment.
#[derive(Clone, Copy)]
pub(crate) struct Names<'r> {
    file: &'r [u8],
    table: &'r NameTable,
}

/// The texts of a sorted table that begin with some words: the ranks of names, or the indexes of
/// [word starts](super::word_starts::WordStarts).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameRange {
    /// Those in which a word ends with the text.
    pub(crate) whole: Range<u32>,
    /// Those in which the last word goes on: they follow directly.
    pub(crate) unfinished: Range<u32>,
}

impl NameRange {
    /// Finds the range in a table of `count` texts, which are sorted. `words` are in the form in which names are compared and not empty.
    pub(super) fn of<'r>(count: u32, text: impl Fn(u32) -> &'r [u8], words: &[u8]) -> NameRange {
        let first = first_not(0..count, |index| text(index) < words);
        if first == count || !text(first).starts_with(words) {
            return NameRange::default();
        }
        // Blanks are below all letters and digits.
        let is_whole = |index| {
            let text = text(index);
            text.starts_with(words) && text.get(words.len()).is_none_or(|next| *next == b' ')
        };
        let middle = gallop(first..count, is_whole);
        let end = gallop(middle..count, |index| text(index).starts_with(words));
        NameRange { whole: first..middle, unfinished: middle..end }
    }
}

impl NameTable {
    /// Creates the table that begins at this offset; `None` if it would be longer than memory.
    pub(super) fn new(at: usize, documents: u32, count: u32, length: u64) -> Option<NameTable> {
        let by_rank = at.checked_add(4 * documents as usize)?;
        let ends = by_rank.checked_add(4 * count as usize)?;
        let names = ends.checked_add(8 * count as usize)?;
        let end = names.checked_add(usize::try_from(length).ok()?)?;
        Some(NameTable { ranks: at, documents: by_rank, ends, names, count, end })
    }

    /// Returns the offset of the table.
    pub(super) fn start(&self) -> usize {
        self.ranks
    }

    pub(super) fn end(&self) -> usize {
        self.end
    }

    pub(super) fn read<'r>(&'r self, file: &'r [u8]) -> Names<'r> {
        Names { file, table: self }
    }
}

impl<'r> Names<'r> {
    /// Returns the rank of a document's name; `None` if it has none.
    #[inline]
    pub(crate) fn rank(self, document: DocId) -> Option<u32> {
        u32_at(self.file, self.table.ranks + 4 * document as usize).filter(|rank| *rank != NO_NAME)
    }

    /// Returns the document whose name has this rank.
    pub(crate) fn document(self, rank: u32) -> DocId {
        u32_at(self.file, self.table.documents + 4 * rank as usize).unwrap_or_default()
    }

    /// Returns the documents in the order of their names.
    #[cfg(feature = "writer")]
    pub(crate) fn documents(self) -> impl Iterator<Item = DocId> + 'r {
        (0..self.table.count).map(move |rank| self.document(rank))
    }

    /// Returns the name of this rank.
    #[inline]
    pub(crate) fn name(self, rank: u32) -> &'r [u8] {
        let end =
            |rank: u32| u64_at(self.file, self.table.ends + 8 * rank as usize).map_or(0, |end| end as usize);
        let start = if rank == 0 { 0 } else { end(rank - 1) };
        let names = self.table.names;
        self.file.get(names + start..names + end(rank)).unwrap_or_default()
    }

    /// Returns the name of a document, empty if it has none.
    pub(crate) fn of(self, document: DocId) -> &'r [u8] {
        self.rank(document).map_or(&[], |rank| self.name(rank))
    }

    /// Returns the ranks of the names that begin with `words`, which are in the form in which names are compared and not empty.
    pub(crate) fn beginning_with(self, words: &[u8]) -> NameRange {
        NameRange::of(self.table.count, |rank| self.name(rank), words)
    }
}

/// Returns what [`partition_point`] returns, for ranks.
fn first_not(range: Range<u32>, before: impl Fn(u32) -> bool) -> u32 {
    partition_point(range.start as usize..range.end as usize, |rank| before(rank as u32)) as u32
}

/// Returns what [`first_not`] returns, in steps that double from the start: most ranges of names are short.
fn gallop(range: Range<u32>, before: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut step) = (range.start, 1);
    loop {
        let next = low.saturating_add(step);
        if next >= range.end || !before(next) {
            return first_not(low..next.min(range.end), before);
        }
        (low, step) = (next + 1, step * 2);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the bytes of a table, the table, and the names in its order with their documents.
    pub(in crate::index::rows) fn table_of(names: &[String]) -> (Vec<u8>, NameTable, Vec<(usize, &str)>) {
        let mut sorted: Vec<(usize, &str)> = names.iter().map(String::as_str).enumerate().collect();
        sorted.sort_by_key(|(document, name)| (*name, *document));
        let mut ranks = vec![0; names.len()];
        (0..).zip(&sorted).for_each(|(rank, (document, _))| ranks[*document] = rank);
        let mut ends = Vec::new();
        let mut file: Vec<u8> = ranks.iter().flat_map(|rank: &u32| rank.to_le_bytes()).collect();
        sorted.iter().for_each(|(document, _)| file.extend((*document as u32).to_le_bytes()));
        sorted.iter().fold(0, |end, (_, name)| {
            ends.push(end + name.len());
            end + name.len()
        });
        ends.iter().for_each(|end| file.extend((*end as u64).to_le_bytes()));
        sorted.iter().for_each(|(_, name)| file.extend(name.bytes()));
        let count = names.len() as u32;
        let table = NameTable::new(0, count, count, ends.last().copied().unwrap_or(0) as u64).unwrap();
        assert_eq!(table.end(), file.len());
        (file, table, sorted)
    }

    proptest! {
        #[test]
        fn the_range_of_a_beginning_is_that_of_a_scan(
            names in proptest::collection::vec("[ab]{1,3}( [ab]{1,2}){0,2}|aaaa aaa[ab]{1,4}", 0..120),
            words in "[ab]{1,3}( [ab]{1,2})?|aaaa aaa[ab]{0,2}",
        ) {
            let (file, table, sorted) = table_of(&names);
            let read = table.read(&file);
            let range = read.beginning_with(words.as_bytes());
            let of = |ranks: Range<u32>| -> Vec<usize> { ranks.map(|rank| read.document(rank) as usize).collect() };
            let expected = |is_whole: bool| -> Vec<usize> {
                let fits = |name: &str| {
                    name == words || name.starts_with(&format!("{words} "))
                };
                let found = sorted.iter().filter(|(_, name)| name.starts_with(&words) && fits(name) == is_whole);
                found.map(|(document, _)| *document).collect()
            };
            prop_assert_eq!(of(range.whole.clone()), expected(true));
            prop_assert_eq!(of(range.unfinished.clone()), expected(false));
            for (document, name) in names.iter().enumerate() {
                prop_assert_eq!(read.of(document as DocId), name.as_bytes());
                let rank = read.rank(document as DocId).unwrap();
                prop_assert_eq!((range.whole.start..range.unfinished.end).contains(&rank), name.starts_with(&words));
            }
        }
    }
}
