//! Reads files of records: CSV and JSON in UTF-8, UTF-16, Latin-1 or Windows-1252, folders of JSON files, and workbooks of Excel, in
//! memory that does not grow with the records; what a workbook or folder keeps besides is bounded. `loggia import` reads its files with
//! it.
//!
//! Each record has the number of the line in which it begins. Lines that are not a record are returned as [`Invalid`] with
//! the reason, and reading continues at the next line: one broken line costs no other.
//!
//! 1. [`decode`] turns the bytes of a file into UTF-8.
//! 2. [`JsonReader`] reads the texts of JSON values, one per line or over several lines; [`Table`] reads the headings of a CSV file and
//!    then one row of cells per record, from the rows of [`CsvReader`].
//! 3. [`Source`] opens a file or folder of any format, finds what is not said about it ([`SourceOptions`]), and returns records with
//!    their [`Place`]. [`RecordPath`] is where the records of a JSON file are.
//!
//! ```
//! use record_files::{Encoding, Table, decode};
//!
//! let file = b"name;city\nCasa;Z\xfcrich\nStair House\n";
//! let mut table = Table::new(decode(Box::new(&file[..]), Encoding::Latin1)?)?;
//! assert_eq!(table.headings(), ["name", "city"]);
//! let row = table.next().transpose()?.expect("two rows follow the headings");
//! assert_eq!((row.line, row.record.unwrap()), (2, vec!["Casa".to_owned(), "Zürich".to_owned()]));
//! let invalid = table.next().transpose()?.expect("one row is left").record.unwrap_err();
//! assert_eq!(invalid.reason.to_string(), "is not a row of this file: it has 1 cells, and the headings have 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod detection;
mod encoding;
mod folder;
mod json;
mod json_path;
mod ndjson;
mod nested;
mod place;
mod record;
mod source;
mod source_error;
mod table;
mod workbook;

use std::fmt::{self, Display, Formatter};
use std::io;

pub use csv::CsvReader;
pub use encoding::{Encoding, decode, windows_1252};
pub use folder::MAX_FOLDER_FILES;
pub use json::{BrokenJson, JsonReader};
pub use json_path::{BadRecordPath, RecordPath};
pub use place::Place;
pub use record::{Content, Refusal, SourceReason, SourceRecord};
pub use source::{Source, SourceFormat, SourceOptions};
pub use source_error::SourceError;
pub use table::{Table, TableOptions};
pub use workbook::{MAX_PARTS, MAX_SHARED_BYTES, MAX_SHEET_BYTES, WorkbookFault};

/// The maximum length of a record, in bytes: 1 MiB.
pub const MAX_RECORD_BYTES: usize = 1 << 20;

/// A record, with the number of the line in which it begins, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered<T> {
    /// The number of its first line.
    pub line: u64,
    /// The record, or why there is none in this line.
    pub record: Result<T, Invalid>,
}

/// Lines that are not a record of the file's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// Their text, at most [`MAX_RECORD_BYTES`] of it.
    pub text: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// Why lines are not a record. `Display` completes a sentence that begins with the line, as in "line 3 is longer than 1 MiB".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A byte that is not UTF-8.
    NotUtf8 {
        /// The byte.
        byte: u8,
        /// Its position in the line or cell, from 1.
        at: usize,
        /// The heading of the column, in a table.
        column: Option<String>,
    },
    /// A quoted cell without a closing quote.
    OpenQuote {
        /// The line of the quote.
        line: u64,
        /// Whether only the first [`MAX_RECORD_BYTES`] were searched for the closing quote.
        is_too_long: bool,
    },
    /// A quoted cell with more text after its closing quote.
    TextAfterQuote {
        /// The line of the opening quote.
        opened: u64,
        /// The line of the closing quote.
        closed: u64,
    },
    /// A row of more than [`MAX_RECORD_BYTES`].
    TooLong,
    /// A row with another number of cells than the headings.
    CellCount {
        /// The number of its cells.
        cells: usize,
        /// The number of headings.
        headings: usize,
    },
}

impl Reason {
    fn not_utf8(bytes: &[u8], error: std::str::Utf8Error, column: Option<&str>) -> Reason {
        let at = error.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        Reason::NotUtf8 { byte, at: at + 1, column: column.map(str::to_owned) }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const DOUBLED: &str = "close it, and double a quote that is part of a cell (\"\")";
        match self {
            Reason::NotUtf8 { byte, at, column } => {
                write!(f, "has the byte 0x{byte:02X} at byte {at}")?;
                if let Some(column) = column {
                    write!(f, " of the column “{column}”")?;
                }
                f.write_str(", which is not UTF-8")
            }
            Reason::OpenQuote { line, is_too_long } => {
                let within = if *is_too_long { " within 1 MiB" } else { "" };
                let row = "is not a row of this file";
                write!(f, "{row}: the quote that opens in line {line} is not closed{within}; {DOUBLED}")
            }
            Reason::TextAfterQuote { opened, closed } => {
                write!(f, "is not a row of this file: the quote that opens in line {opened} is closed")?;
                if opened != closed {
                    write!(f, " in line {closed}")?;
                }
                write!(f, " before more text; {DOUBLED}")
            }
            Reason::TooLong => f.write_str("is longer than 1 MiB, the maximum of a row"),
            Reason::CellCount { cells, headings } => {
                write!(f, "is not a row of this file: it has {cells} cells, and the headings have {headings}")
            }
        }
    }
}

/// Why a file cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system cannot read it.
    #[error("the file cannot be read")]
    Unreadable(#[from] io::Error),
    /// Its byte order mark is that of UTF-16, and another encoding was named.
    #[error("the file is UTF-16")]
    IsUtf16,
    /// The first row of a table is not a row of headings.
    #[error("line {line}, the CSV headings, {reason}")]
    Headings {
        /// The number of the line.
        line: u64,
        /// What is wrong with it.
        reason: Reason,
    },
    /// The brackets of JSON values over several lines do not match.
    #[error(
        "line {line} {reason}, so the records after it cannot be told apart; correct the file, or write one JSON object a line"
    )]
    Json {
        /// The number of the line.
        line: u64,
        /// What is wrong with it.
        reason: BrokenJson,
    },
}
