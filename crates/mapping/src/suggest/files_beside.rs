//! The files among which the pictures of records may be.

use std::collections::BTreeSet;

/// The files beside the file of records, and in the folders below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilesBeside {
    /// Their paths from there, in NFC, with slashes between folders.
    pub paths: BTreeSet<String>,
    /// Whether these are all. Folders are not looked through without end.
    pub are_all: bool,
}
