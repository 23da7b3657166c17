//! The order in which the catalog grew: the newest first, of several of one day the one that was selected last.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;
use schemas::record::Category;

use super::order::Day;

/// A listed project in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// Publication, or else selection by its curator, or else the day of its first event.
    pub(super) day: Day,
    /// The position of the event that selected it.
    pub(super) ordinal: u64,
    pub(super) category: Category,
}

/// What an entry is ordered by.
type Key = (Reverse<Day>, Reverse<u64>);

/// The entries in order, in chunks that are not empty. Orders share the chunks that did not change between them.
#[derive(Debug)]
pub(super) struct Newest {
    chunks: Vec<Arc<[Entry]>>,
    /// The most entries of a chunk.
    largest: usize,
}

impl Entry {
    fn key(&self) -> Key {
        key(self.day, self.ordinal)
    }
}

fn key(day: Day, ordinal: u64) -> Key {
    (Reverse(day), Reverse(ordinal))
}

impl Newest {
    pub(super) fn new(largest: usize) -> Newest {
        Newest { chunks: Vec::new(), largest }
    }

    /// The order without the projects of these ordinals, and with those that come, in any order.
    pub(super) fn changed(&self, leaving: &HashSet<u64, RandomState>, mut coming: Vec<Entry>) -> Newest {
        coming.sort_unstable_by_key(Entry::key);
        let mut coming = coming.as_slice();
        let mut chunks = Vec::with_capacity(self.chunks.len() + 1);
        for (index, chunk) in self.chunks.iter().enumerate() {
            let next = self.chunks.get(index + 1).map(|next| next[0].key());
            let end = next.map_or(coming.len(), |next| coming.partition_point(|entry| entry.key() < next));
            let (own, others) = coming.split_at(end);
            coming = others;
            if own.is_empty() && !chunk.iter().any(|entry| leaving.contains(&entry.ordinal)) {
                chunks.push(chunk.clone());
                continue;
            }
            let staying = chunk.iter().filter(|entry| !leaving.contains(&entry.ordinal)).copied();
            let mut entries: Vec<Entry> = staying.chain(own.iter().copied()).collect();
            // Two runs in order: this is a merge.
            entries.sort_by_key(Entry::key);
            self.cut(&entries, &mut chunks);
        }
        // There is no chunk that could take them: the order was empty.
        self.cut(coming, &mut chunks);
        Newest { chunks, largest: self.largest }
    }

    /// Adds entries as one chunk, or as several with room in each where they are too many for one.
    fn cut(&self, entries: &[Entry], chunks: &mut Vec<Arc<[Entry]>>) {
        let size = if entries.len() > self.largest { self.largest.div_ceil(4) * 3 } else { self.largest };
        chunks.extend(entries.chunks(size).map(Arc::from));
    }

    /// The entries after a place; all of them without one.
    pub(super) fn after(&self, place: Option<(Day, u64)>) -> impl Iterator<Item = &Entry> {
        let place = place.map(|(day, ordinal)| key(day, ordinal));
        let is_before = |entry: &Entry| place.is_some_and(|place| entry.key() <= place);
        let first = self.chunks.partition_point(|chunk| chunk.last().is_some_and(is_before));
        let start = self.chunks.get(first).map_or(0, |chunk| chunk.partition_point(is_before));
        self.chunks[first..].iter().flat_map(|chunk| chunk.iter()).skip(start)
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| size_of_val(&**chunk)).sum()
    }
}
