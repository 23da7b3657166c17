//! The order for browsing: by day, the newest first, and within a day by ordinal, the last selected first.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;
use schemas::record::Category;

use super::order::Day;

/// A listed project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// The day of publication, or else of selection by its curator, or else of its first event.
    pub(super) day: Day,
    /// The position of the event that selected it.
    pub(super) ordinal: u64,
    pub(super) category: Category,
}

type Key = (Reverse<Day>, Reverse<u64>);

/// The entries in order, in chunks that are not empty. Two orders share the chunks that are equal in both.
#[derive(Debug)]
pub(super) struct NewestOrder {
    chunks: Vec<Arc<[Entry]>>,
    /// The maximum number of entries in a chunk.
    max_entries: usize,
}

impl Entry {
    fn key(&self) -> Key {
        key(self.day, self.ordinal)
    }
}

fn key(day: Day, ordinal: u64) -> Key {
    (Reverse(day), Reverse(ordinal))
}

impl NewestOrder {
    pub(super) fn new(max_entries: usize) -> NewestOrder {
        NewestOrder { chunks: Vec::new(), max_entries }
    }

    /// Returns the order without the projects with these ordinals, and with the added ones, which may be in any order.
    pub(super) fn updated(&self, removed: &HashSet<u64, RandomState>, mut added: Vec<Entry>) -> NewestOrder {
        added.sort_unstable_by_key(Entry::key);
        let mut added = added.as_slice();
        let mut chunks = Vec::with_capacity(self.chunks.len() + 1);
        for (index, chunk) in self.chunks.iter().enumerate() {
            let next = self.chunks.get(index + 1).map(|next| next[0].key());
            let end = next.map_or(added.len(), |next| added.partition_point(|entry| entry.key() < next));
            let (own, others) = added.split_at(end);
            added = others;
            if own.is_empty() && !chunk.iter().any(|entry| removed.contains(&entry.ordinal)) {
                chunks.push(chunk.clone());
                continue;
            }
            let remaining = chunk.iter().filter(|entry| !removed.contains(&entry.ordinal)).copied();
            let mut entries: Vec<Entry> = remaining.chain(own.iter().copied()).collect();
            // Two sorted runs: the stable sort merges them.
            entries.sort_by_key(Entry::key);
            self.push_chunks(&entries, &mut chunks);
        }
        // Entries remain only if there was no chunk.
        self.push_chunks(added, &mut chunks);
        NewestOrder { chunks, max_entries: self.max_entries }
    }

    /// Appends entries as one chunk, or as several that are three quarters full if they are too many for one.
    fn push_chunks(&self, entries: &[Entry], chunks: &mut Vec<Arc<[Entry]>>) {
        let max = self.max_entries;
        let size = if entries.len() > max { max.div_ceil(4) * 3 } else { max };
        chunks.extend(entries.chunks(size).map(Arc::from));
    }

    /// Iterates over the entries after the one with this day and ordinal, or over all.
    pub(super) fn after(&self, last: Option<(Day, u64)>) -> impl Iterator<Item = &Entry> {
        let last = last.map(|(day, ordinal)| key(day, ordinal));
        let is_before = |entry: &Entry| last.is_some_and(|last| entry.key() <= last);
        let first = self.chunks.partition_point(|chunk| chunk.last().is_some_and(is_before));
        let start = self.chunks.get(first).map_or(0, |chunk| chunk.partition_point(is_before));
        self.chunks[first..].iter().flat_map(|chunk| chunk.iter()).skip(start)
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| size_of_val(&**chunk)).sum()
    }
}
