//! Records of a file that a mapping is suggested for.

use record_files::SourceOptions;
use serde_json::{Map, Value};

use crate::cell::{Lines, clean};

use super::files_beside::FilesBeside;

/// The longest value that is shown, in characters.
const MAX_SHOWN: usize = 40;

/// Records of a file.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The headings of a table, as [`column_name`](crate::column_name) returns them; none for nested JSON.
    pub headings: &'a [String],
    /// Records, spread over the file.
    pub records: &'a [Map<String, Value>],
    /// The number of records of the file.
    pub read: u64,
    /// How the file was read where it does not show it itself; the mapping says it too.
    pub options: &'a SourceOptions,
    /// Sentences about how the file was read.
    pub notes: &'a [String],
    /// The files among which the pictures may be; `None` where nothing is beside the records, as in a stream.
    pub files: Option<&'a FilesBeside>,
}

/// Returns a value on one line, cut where it is long.
pub(crate) fn short(text: &str) -> String {
    let text = clean(text, Lines::Joined, &[]).unwrap_or_default();
    if text.chars().count() <= MAX_SHOWN {
        text
    } else {
        text.chars().take(MAX_SHOWN - 1).chain(['…']).collect()
    }
}
