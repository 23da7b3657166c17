//! Why a source cannot be read: sentences that name the file and say what to do.

use std::io;

use crate::workbook::WorkbookFault;
use crate::{Error, Reason};

/// Why a source cannot be read, or not any further.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The operating system cannot read it.
    #[error("{file} cannot be read: {source}")]
    Unreadable {
        /// The file or folder.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// Neither its name nor its beginning shows its format.
    #[error(
        "the format of {file} is shown neither by its name nor by its beginning; name it: csv, json, ndjson, xlsx or folder"
    )]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// Its format is of another program.
    #[error("{file} is {kind}, which is not read; open it where it was made, and save it as .xlsx or CSV")]
    OtherFormat {
        /// The file.
        file: String,
        /// The format.
        kind: &'static str,
    },
    /// Something is said about it that its format does not have.
    #[error("{option} is said of {file}, but only {formats} have it; take it out")]
    UnusedOption {
        /// The file.
        file: String,
        /// The option.
        option: &'static str,
        /// The formats that have it.
        formats: &'static str,
    },
    /// A workbook or folder is given as a stream.
    #[error("a workbook or folder cannot be read from {file}; save it, and give its path")]
    Stream {
        /// The name of the stream.
        file: String,
    },
    /// A text cannot be read any further.
    #[error("{file}: {error}{}", hint(error))]
    Text {
        /// The file.
        file: String,
        /// Why, with the line.
        error: Error,
    },
    /// Its path of records leads nowhere.
    #[error("{file} has nothing at the path {path}: {found}; correct the path of the records")]
    NoRecords {
        /// The file.
        file: String,
        /// The path.
        path: String,
        /// What there is instead.
        found: String,
    },
    /// A folder without records.
    #[error(
        "{file} has no file whose name ends in .json; name the folder with the records, one JSON file each"
    )]
    EmptyFolder {
        /// The folder.
        file: String,
    },
    /// A folder with too many files.
    #[error(
        "{file} has more than {most} JSON files, the most that are read; write their records into one NDJSON file"
    )]
    ManyFiles {
        /// The folder.
        file: String,
        /// The most that are read.
        most: usize,
    },
    /// A workbook cannot be read.
    #[error("{file} {fault}")]
    Workbook {
        /// The file.
        file: String,
        /// Why.
        fault: WorkbookFault,
    },
}

/// Returns what to do about a text, where its error does not say.
fn hint(error: &Error) -> &'static str {
    match error {
        Error::IsUtf16 => "; name the encoding utf-16, or save it as UTF-8",
        Error::Headings { reason: Reason::NotUtf8 { .. }, .. } => {
            "; save the file as UTF-8, or name its encoding"
        }
        Error::Unreadable(_) | Error::Headings { .. } | Error::Json { .. } => "",
    }
}
