//! Which records of a source a file has, so that it can be told which are gone.

use std::collections::BTreeSet;

use schemas::text::normalised;

/// The maximum length of an external id, in characters.
const MAX_ID: usize = 100;

/// The ids of the records of a file, also of those of which the mapping made no record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordIds {
    /// The ids, as the catalog records them.
    pub known: BTreeSet<String>,
    /// The number of records that have no id or cannot be read.
    pub unknown: u64,
}

impl RecordIds {
    /// Adds the id of a record.
    pub(crate) fn add(&mut self, id: Option<&str>) {
        match id.and_then(|id| normalised(id, MAX_ID).ok().flatten()) {
            Some(id) => drop(self.known.insert(id)),
            None => self.unknown += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_that_the_catalog_records() {
        let mut ids = RecordIds::default();
        let long = "x".repeat(101);
        for id in [Some(" \u{c4} 7 "), Some("A\u{308}7"), Some("\u{c4}7"), Some(" "), Some(&*long), None] {
            ids.add(id);
        }
        let known = ["\u{c4} 7", "\u{c4}7"].map(str::to_owned).into();
        assert_eq!(ids, RecordIds { known, unknown: 3 });
    }
}
