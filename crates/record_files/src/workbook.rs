//! Workbooks of Excel (.xlsx): the sheet with the records, its headings, and its rows as texts.
//!
//! A thread reads the workbook and sends row after row, so that a sheet is never in memory as a whole. What is, are the texts that cells
//! share; `archive` bounds them before the workbook is opened.

mod archive;
mod cell;
mod sheet;

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, BufReader};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use calamine::{Reader, Xlsx, XlsxError};

use crate::record::Refusal;

use archive::Limits;
pub use archive::{MAX_PARTS, MAX_SHARED_BYTES, MAX_SHEET_BYTES};
use sheet::{Headings, Workbook};

/// The number of rows that are read before they are needed.
const ROWS_AHEAD: usize = 64;

/// What is known about a workbook before it is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkbookOptions {
    /// The name of the sheet.
    pub(crate) sheet: Option<String>,
    /// The row of the headings, from 1.
    pub(crate) headings: Option<u64>,
}

/// Why a workbook cannot be read. `Display` completes a sentence that begins with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkbookFault {
    /// It is encrypted.
    Password,
    /// It is of Excel 97 to 2003.
    OldFormat,
    /// It is no workbook, or a damaged one: why.
    NotAWorkbook(String),
    /// It unpacks to more than [`MAX_SHEET_BYTES`] or [`MAX_SHARED_BYTES`].
    TooLarge,
    /// It has more than [`MAX_PARTS`] parts.
    ManyParts,
    /// It has no visible sheet of this name.
    NoSheet {
        /// The name.
        sheet: String,
        /// A name that differs in case or blanks only.
        nearest: Option<String>,
        /// The names of its visible sheets.
        names: Vec<String>,
    },
    /// There are no headings.
    NoHeadings {
        /// The sheet in which they were looked for.
        sheet: String,
    },
    /// A sheet has formulas and none of their values.
    NoStoredValues {
        /// One of the cells.
        cell: String,
    },
    /// A sheet is damaged.
    Damaged {
        /// Its name.
        sheet: String,
        /// The last row that was read, from 1; 0 for none.
        row: u64,
        /// What is wrong.
        reason: String,
    },
    /// The reading of it ended without a reason: a fault of the reader.
    Stopped,
}

impl Display for WorkbookFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const SAVE: &str = "open it in Excel or LibreOffice, and save it as .xlsx or CSV";
        match self {
            WorkbookFault::Password => f.write_str(
                "is protected by a password; open it in Excel, remove the password (File, Info, Protect Workbook), and save it",
            ),
            WorkbookFault::OldFormat => write!(f, "is a workbook of Excel 97 to 2003; {SAVE}"),
            WorkbookFault::NotAWorkbook(why) => write!(f, "is not a workbook of Excel, or damaged ({why}); {SAVE}"),
            WorkbookFault::TooLarge => write!(
                f,
                "unpacks to more than is read ({} MiB of sheets and pictures, {} MiB of the rest), as ZIP bombs do; if you trust it, save its \
                 sheet as CSV, and import that",
                MAX_SHEET_BYTES >> 20,
                MAX_SHARED_BYTES >> 20
            ),
            WorkbookFault::ManyParts => {
                write!(f, "has more than {MAX_PARTS} parts; save its sheet as CSV, and import that")
            }
            WorkbookFault::NoSheet { sheet, nearest: Some(nearest), .. } => {
                write!(f, "has no sheet “{sheet}”; the nearest is “{nearest}”")
            }
            WorkbookFault::NoSheet { sheet, nearest: None, names } => {
                write!(f, "has no sheet “{sheet}”; it has {}", listed(names))
            }
            WorkbookFault::NoHeadings { sheet } => write!(
                f,
                "has no headings in the sheet “{sheet}”: no row of texts above others; name the sheet and the row of the headings"
            ),
            WorkbookFault::NoStoredValues { cell } => write!(
                f,
                "stores no values of its formulas, for example in {cell}; open and save it in Excel once"
            ),
            WorkbookFault::Damaged { sheet, row: 0, reason } => {
                write!(f, "is damaged in the sheet “{sheet}” ({reason}); {SAVE}")
            }
            WorkbookFault::Damaged { sheet, row, reason } => {
                write!(f, "is damaged in the sheet “{sheet}” after row {row} ({reason}); {SAVE}")
            }
            WorkbookFault::Stopped => write!(f, "cannot be read, because it is damaged in a way not foreseen; {SAVE}"),
        }
    }
}

impl From<io::Error> for WorkbookFault {
    fn from(error: io::Error) -> WorkbookFault {
        WorkbookFault::NotAWorkbook(error.to_string())
    }
}

/// Returns names in quotes, with commas and an “and”.
fn listed(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("“{name}”")).collect();
    match quoted.split_last() {
        None => "no visible sheet".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// A sheet whose rows are read as they are needed.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) headings: Vec<String>,
    /// The row of the headings, from 1.
    pub(crate) headings_row: u64,
    /// The names of all visible sheets.
    pub(crate) names: Vec<String>,
    messages: Receiver<Message>,
    at_end: bool,
}

/// What the thread that reads a workbook sends: the headings, then rows, then the end; or a fault, which ends it too.
enum Message {
    Headings(Headings, Vec<String>),
    Row(u64, Result<Vec<String>, Refusal>),
    End,
    Fault(WorkbookFault),
}

impl Sheet {
    /// Opens a workbook, and finds the sheet and its headings.
    ///
    /// # Errors
    ///
    /// Fails if the file is not a workbook that is read, or has no such sheet or headings.
    pub(crate) fn open(file: File, options: WorkbookOptions) -> Result<Sheet, WorkbookFault> {
        let (sender, messages) = sync_channel(ROWS_AHEAD);
        let reading = std::thread::Builder::new().name("workbook".to_owned());
        reading.spawn(move || {
            let last = match read(file, &options, &sender) {
                Ok(()) => Message::End,
                Err(fault) => Message::Fault(fault),
            };
            // Nobody listens any more if the import stopped.
            let _ = sender.send(last);
        })?;
        match messages.recv() {
            Ok(Message::Headings(Headings { sheet, row, texts }, names)) => {
                Ok(Sheet { name: sheet, headings: texts, headings_row: row, names, messages, at_end: false })
            }
            Ok(Message::Fault(fault)) => Err(fault),
            Ok(Message::Row(..) | Message::End) | Err(_) => Err(WorkbookFault::Stopped),
        }
    }

    /// Returns a sentence about which of several sheets is read, and from which row on.
    pub(crate) fn note(&self, file: &str) -> Option<String> {
        let Sheet { name, headings_row, names, .. } = self;
        let choice = match names.len() {
            0 | 1 if *headings_row == 1 => return None,
            0 | 1 => String::new(),
            _ => format!("{file} has the sheets {}; ", listed(names)),
        };
        let subject = if choice.is_empty() { format!("In {file}, the") } else { format!("{choice}the") };
        Some(format!("{subject} headings were found on “{name}”, row {headings_row}."))
    }
}

/// The number of a row, from 1, and a text for each heading.
pub(crate) type NumberedRow = (u64, Result<Vec<String>, Refusal>);

impl Iterator for Sheet {
    type Item = Result<NumberedRow, WorkbookFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at_end {
            return None;
        }
        let fault = match self.messages.recv() {
            Ok(Message::Row(row, cells)) => return Some(Ok((row, cells))),
            Ok(Message::End) => None,
            Ok(Message::Fault(fault)) => Some(fault),
            Ok(Message::Headings(..)) | Err(_) => Some(WorkbookFault::Stopped),
        };
        self.at_end = true;
        fault.map(Err)
    }
}

fn read(
    mut file: File,
    options: &WorkbookOptions,
    sender: &SyncSender<Message>,
) -> Result<(), WorkbookFault> {
    archive::check(&mut file, Limits::default())?;
    let mut workbook: Workbook = Xlsx::new(BufReader::new(file)).map_err(|error| match error {
        XlsxError::Password => WorkbookFault::Password,
        error => WorkbookFault::NotAWorkbook(error.to_string()),
    })?;
    let headings = sheet::find_headings(&mut workbook, options)?;
    let names = sheet::sheet_names(&workbook);
    if sender.send(Message::Headings(headings.clone(), names)).is_err() {
        return Ok(());
    }
    sheet::for_each_row(&mut workbook, &headings, |row, cells| sender.send(Message::Row(row, cells)).is_ok())
}

#[cfg(test)]
pub(crate) mod tests;
