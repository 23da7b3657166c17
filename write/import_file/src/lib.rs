//! The file of an import as batches of lines for the write side: records of any format that `record_files` reads, by a mapping, by the
//! headings of a table, or as import records.
//!
//! 1. [`ImportFile`] says which file it is, and how it is read.
//! 2. [`Batches`] opens it, and returns a few thousand lines at a time, with the picture files that they name and with what is rejected
//!    already: lines that have not the file's format, and records of which the mapping makes none.
//! 3. [`Findings`] is what is said about all of them at the end. [`check`] reads the whole file for its faults, and sends nothing.
//!
//! [`ExportTable`] is what an export writes for spreadsheet programs, as CSV or an [`ExportWorkbook`], so that it is read here as it was. [`Reject`] is a line of the file
//! of rejected lines, which is read here again, corrected or not.

mod batches;
mod check;
mod columns;
mod content;
mod export_table;
mod export_workbook;
mod files_beside;
mod findings;
mod import_file;
mod lacking;
mod lacks;
mod lines;
mod mapped;
mod numbers;
mod picture_path;
mod preview;
mod read_error;
mod record_ids;
mod refusals;
mod rejects;
mod spreadsheet_cell;
mod unusable_pictures;

pub use batches::{Batch, Batches, Places, RejectedLine};
pub use check::check;
pub use export_table::{ExportTable, FilledColumns, TableError};
pub use export_workbook::ExportWorkbook;
pub use findings::Findings;
pub use import_file::ImportFile;
pub use lacking::Lacking;
pub use lacks::Lacks;
pub use picture_path::find;
pub use preview::record_lines;
pub use read_error::ReadError;
pub use record_ids::RecordIds;
pub use refusals::Refusals;
pub use rejects::Reject;
pub use unusable_pictures::RefusedPicture;
