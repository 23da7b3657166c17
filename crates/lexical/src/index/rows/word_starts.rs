//! Where words begin in the names of a segment, but for their first, in the order of the text from there on: so the names in which some
//! text begins at a later word are one range.
//!
//! Part of the row file, after the names: eight bytes for each word, the rank of its name (`u32`), the offset in it and the length of
//! the name (`u16` each, in bytes). Equal texts are in the order of the ranks. The length is there so that all entries of a range can be
//! compared in one pass over them, without a look at the names.

use super::names::{NameRange, Names};

/// The length of an entry in bytes.
pub(super) const ENTRY: usize = 8;

/// The beginning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordStart {
    /// The rank of the name.
    pub(crate) rank: u32,
    /// The offset of the word in the name.
    pub(super) offset: u16,
    /// The length of the name; that of longer ones is [`u16::MAX`].
    pub(crate) name_length: u16,
}

/// The beginnings of words in the names of a segment.
#[derive(Clone, Copy)]
pub(crate) struct WordStarts<'r> {
    pub(super) names: Names<'r>,
    pub(super) entries: &'r [[u8; ENTRY]],
}

/// Returns the offsets of the words after the first. Those that do not fit into an entry are left out: of names that are 65,536 bytes
/// long.
#[cfg(feature = "writer")]
pub(super) fn offsets(name: &[u8]) -> impl Iterator<Item = u16> {
    let blanks = name.iter().enumerate().filter(|(_, byte)| **byte == b' ');
    blanks.map_while(|(at, _)| u16::try_from(at + 1).ok())
}

impl WordStart {
    #[cfg(feature = "writer")]
    pub(super) fn encode(self) -> [u8; ENTRY] {
        let entry = u64::from(self.rank) | u64::from(self.offset) << 32 | u64::from(self.name_length) << 48;
        entry.to_le_bytes()
    }

    fn decode(entry: [u8; ENTRY]) -> WordStart {
        let entry = u64::from_le_bytes(entry);
        WordStart { rank: entry as u32, offset: (entry >> 32) as u16, name_length: (entry >> 48) as u16 }
    }
}

impl<'r> WordStarts<'r> {
    /// Returns all beginnings in order.
    #[cfg(feature = "writer")]
    pub(super) fn all(self) -> impl Iterator<Item = WordStart> + 'r {
        self.entries.iter().map(|entry| WordStart::decode(*entry))
    }

    /// Returns the beginnings in a range of indexes.
    pub(crate) fn within(self, range: std::ops::Range<u32>) -> impl Iterator<Item = WordStart> + 'r {
        let entries = self.entries.get(range.start as usize..range.end as usize).unwrap_or_default();
        entries.iter().map(|entry| WordStart::decode(*entry))
    }

    /// Returns the indexes of the words from which on the names begin with `words`, which are in the form in which names are compared and
    /// not empty.
    pub(crate) fn beginning_with(self, words: &[u8]) -> NameRange {
        NameRange::of(self.entries.len() as u32, |index| self.text(index), words)
    }

    /// Returns a name from the word on.
    fn text(self, index: u32) -> &'r [u8] {
        let start = self.entries.get(index as usize).map(|entry| WordStart::decode(*entry));
        start
            .and_then(|start| self.names.name(start.rank).get(usize::from(start.offset)..))
            .unwrap_or_default()
    }
}

#[cfg(all(test, feature = "writer"))]
mod tests {
    use super::super::names::tests::table_of;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_ranges_of_words_are_those_of_a_scan(
            names in proptest::collection::vec("[ab]{1,3}( [ab]{1,2}){0,4}|b aaaa aaa[ab]{1,4}", 0..80),
            words in "[ab]{1,3}( [ab]{1,2})?|aaaa aaa[ab]{0,2}",
        ) {
            let (file, table, sorted) = table_of(&names);
            let mut starts: Vec<(&str, WordStart)> = Vec::new();
            for (rank, (_, name)) in (0..).zip(&sorted) {
                let start = |offset| WordStart { rank, offset, name_length: name.len() as u16 };
                let rest = |offset| (&name[usize::from(offset)..], start(offset));
                starts.extend(offsets(name.as_bytes()).map(rest));
            }
            let all: usize = names.iter().map(|name| name.split(' ').count() - 1).sum();
            prop_assert_eq!(starts.len(), all, "every word but the first");
            starts.sort_by_key(|(rest, start)| (*rest, start.rank));
            let entries: Vec<[u8; ENTRY]> = starts.iter().map(|(_, start)| start.encode()).collect();
            let read = WordStarts { names: table.read(&file), entries: &entries };
            prop_assert_eq!(read.all().collect::<Vec<_>>(), starts.iter().map(|(_, start)| *start).collect::<Vec<_>>());
            let found = read.beginning_with(words.as_bytes());
            let expected = |is_whole: bool| -> Vec<WordStart> {
                let fits = |rest: &str| rest.starts_with(&words) && (rest == words || rest[words.len()..].starts_with(' ')) == is_whole;
                starts.iter().filter(|(rest, _)| fits(rest)).map(|(_, start)| *start).collect()
            };
            prop_assert_eq!(read.within(found.whole).collect::<Vec<_>>(), expected(true));
            prop_assert_eq!(read.within(found.unfinished).collect::<Vec<_>>(), expected(false));
        }
    }

    #[test]
    fn words_beyond_the_bound_of_an_entry_are_left_out() {
        let name = [vec![b'a'; 9], vec![b' '], vec![b'b'; 65_524], b" c d".to_vec()].concat();
        assert_eq!(offsets(&name).collect::<Vec<_>>(), [10, 65_535], "d begins at 65,537");
        let start = WordStart { rank: u32::MAX - 1, offset: u16::MAX, name_length: u16::MAX };
        assert_eq!(WordStart::decode(start.encode()), start);
    }
}
