//! The lines of an import, and their outcomes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::import::Fault;
use crate::record::PictureSource;
use crate::slug::Slug;

/// The most lines of one import command, so that their outcomes fit into one message.
pub const MAX_IMPORT_LINES: usize = 2_000;

/// One line of an import file, as JSON text. The write side checks the text itself, such as for duplicate
/// members, so it is not sent as parsed members.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImportLine {
    /// The line number in the file, from 1.
    pub number: u64,
    /// The line as JSON text.
    pub text: String,
    /// The pictures that the line would name if their files were there: a project keeps those of them that it has, with the texts that
    /// are given here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent_pictures: Vec<PictureSource>,
}

impl ImportLine {
    /// Returns a line that names all its pictures.
    pub fn new(number: u64, text: String) -> ImportLine {
        ImportLine { number, text, absent_pictures: Vec::new() }
    }
}

/// Options of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportOptions {
    /// Report what would change without writing.
    pub dry_run: bool,
    /// Ignore unknown fields instead of rejecting the line.
    pub ignore_unknown: bool,
    /// Whether lines are whole records or patches.
    #[serde(default)]
    pub lines: LineForm,
}

/// How a line of an import describes a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineForm {
    /// The whole record: an absent field becomes unrecorded.
    #[default]
    Record,
    /// A JSON merge patch: an absent field stays as it is.
    Patch,
    /// The whole record in the form of a patch, one field per cell of a row.
    Cells,
}

/// The outcome of one line of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineOutcome {
    /// The line number in the file, from 1.
    pub number: u64,
    /// What was done with the line.
    #[serde(flatten)]
    pub result: LineResult,
}

/// What was done with a line of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum LineResult {
    /// The project was added.
    New {
        /// The project's slug.
        slug: Slug,
    },
    /// The project was changed.
    Changed {
        /// The project's slug.
        slug: Slug,
        /// The names of the changed fields.
        members: Vec<String>,
        /// The names of those fields that had a value before and have none now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
        /// The sources of the pictures that were removed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed_pictures: Vec<String>,
        /// Whether every picture that the record names as a file is stored.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pictures_kept: bool,
        /// If only some of them are: the sources of these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept_pictures: Vec<String>,
    },
    /// The project was already as the line says.
    Same {
        /// The project's slug.
        slug: Slug,
        /// Whether every picture that the record names as a file is stored.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pictures_kept: bool,
        /// If only some of them are: the sources of these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept_pictures: Vec<String>,
    },
    /// The line was rejected.
    Rejected {
        /// All faults of the line.
        faults: Vec<Fault>,
    },
}
