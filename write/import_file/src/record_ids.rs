//! Which records of a source a file has, so that it can be told which are gone.

use std::hash::{BuildHasher, RandomState};

use schemas::text::normalised;

/// The maximum length of an external id, in characters.
const MAX_ID: usize = 100;

/// The ids of the records of a file so far, also of those of which the mapping made no record: 8 bytes each, since a file may have
/// millions.
#[derive(Debug, Default)]
pub(crate) struct IdsSoFar {
    hashes: RandomState,
    /// The hashes of the ids, as the catalog records them, in the order of the file.
    known: Vec<u64>,
    unknown: u64,
}

/// The ids of the records of a file, as hashes with a seed of their own. Of a million ids and a million that are asked for, the chance
/// that any is taken for another one is about 1 in 18 million, and then a record that is gone counts as there, until the next import.
#[derive(Debug, Default)]
pub struct RecordIds {
    hashes: RandomState,
    /// In ascending order.
    known: Vec<u64>,
    unknown: u64,
}

impl IdsSoFar {
    /// Adds the id of a record.
    pub(crate) fn add(&mut self, id: Option<&str>) {
        match id.and_then(|id| normalised(id, MAX_ID).ok().flatten()) {
            Some(id) => self.known.push(self.hashes.hash_one(id.as_str())),
            None => self.unknown += 1,
        }
    }

    /// Returns the ids, of which there are no more.
    pub(crate) fn complete(self) -> RecordIds {
        let IdsSoFar { hashes, mut known, unknown } = self;
        known.sort_unstable();
        RecordIds { hashes, known, unknown }
    }
}

impl RecordIds {
    /// Returns whether a record has this id, written as the catalog records it.
    pub fn has(&self, id: &str) -> bool {
        self.known.binary_search(&self.hashes.hash_one(id)).is_ok()
    }

    /// Returns the number of records that have no id or cannot be read.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_that_the_catalog_records() {
        let mut ids = IdsSoFar::default();
        let long = "x".repeat(101);
        for id in [Some(" \u{c4} 7 "), Some("A\u{308}7"), Some("\u{c4}7"), Some(" "), Some(&*long), None] {
            ids.add(id);
        }
        let ids = ids.complete();
        let asked = ["\u{c4} 7", "\u{c4}7", " \u{c4} 7 ", "A\u{308}7", " ", "", &*long];
        assert_eq!(asked.map(|id| ids.has(id)), [true, true, false, false, false, false, false]);
        assert_eq!(ids.unknown(), 3);
    }

    #[test]
    fn every_id_of_a_large_file_is_found_and_takes_at_most_16_bytes() {
        let mut ids = IdsSoFar::default();
        let number = 100_000;
        for id in 0..number {
            ids.add(Some(&format!("object/{id:020}")));
        }
        let ids = ids.complete();
        assert!((0..number).all(|id| ids.has(&format!("object/{id:020}"))));
        assert!((number..2 * number).all(|id| !ids.has(&format!("object/{id:020}"))));
        let bytes = ids.known.capacity() * size_of::<u64>();
        assert!(bytes <= 16 * number, "{bytes} bytes of {number} ids");
    }
}
