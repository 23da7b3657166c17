//! A record of a source, or why there is none.

use std::fmt::{self, Display, Formatter};

use crate::{Invalid, Place, Reason};

/// A record of a source, or why there is none at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRecord {
    /// Where it is.
    pub place: Place,
    /// The record.
    pub content: Result<Content, Refusal>,
}

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A cell for each heading, without white space around it; empty where there is none.
    Cells(Vec<String>),
    /// A JSON value, at most [`MAX_RECORD_BYTES`](crate::MAX_RECORD_BYTES) of text. Whether it is JSON is left to the caller.
    Json(String),
}

/// A record that cannot be read, though those after it can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its text, or the beginning of it.
    pub text: String,
    /// What is wrong with it.
    pub reason: SourceReason,
}

/// Why a record cannot be read. `Display` completes a sentence that begins with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceReason {
    /// Its lines are not a record of the file's format.
    Lines(Reason),
    /// It is longer than [`MAX_RECORD_BYTES`](crate::MAX_RECORD_BYTES).
    TooLong,
    /// An element has nothing at the rest of the path.
    NoMember {
        /// The rest of the path.
        path: String,
    },
    /// It is not a file.
    Special {
        /// What it is.
        kind: &'static str,
    },
    /// Its file cannot be read: what the operating system says.
    Unreadable(String),
    /// Its file has nothing but white space.
    Blank,
    /// A formula whose value is not stored in the workbook.
    FormulaWithoutValue {
        /// The cell, such as `Works!I12`.
        cell: String,
    },
    /// An error instead of a value, such as `#REF!`.
    ErrorValue {
        /// The cell.
        cell: String,
        /// The error.
        value: String,
    },
    /// A text in a column without a heading.
    BeyondHeadings {
        /// The cell.
        cell: String,
    },
}

impl Display for SourceReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SourceReason::Lines(reason @ Reason::NotUtf8 { .. }) => write!(f, "{reason}; save it as UTF-8"),
            SourceReason::Lines(reason) => write!(f, "{reason}"),
            SourceReason::TooLong => f.write_str(
                "is longer than 1 MiB, the maximum of a record; take out of it what is no text of the record",
            ),
            SourceReason::NoMember { path } => {
                write!(f, "has nothing at {path}; add it, or take the element out of the file")
            }
            SourceReason::Special { kind } => {
                write!(f, "is a {kind}, which is not read; move it out of the folder")
            }
            SourceReason::Unreadable(error) => write!(f, "cannot be read: {error}"),
            SourceReason::Blank => {
                f.write_str("is blank; write the record in it, or take it out of the folder")
            }
            SourceReason::FormulaWithoutValue { cell } => write!(
                f,
                "has a formula without a stored value in {cell}; open and save the file in Excel once"
            ),
            SourceReason::ErrorValue { cell, value } => {
                write!(f, "has the error {value} in {cell}; correct the formula, and save the file again")
            }
            SourceReason::BeyondHeadings { cell } => {
                write!(f, "has a text in {cell}, a column without a heading; give it one, or clear the cell")
            }
        }
    }
}

impl From<Invalid> for Refusal {
    fn from(Invalid { text, reason }: Invalid) -> Refusal {
        Refusal { text, reason: SourceReason::Lines(reason) }
    }
}
