//! The arguments of `loggia import`.

use std::fmt::{Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use record_files::SourceFormat;

use super::ActFlags;

/// The arguments of `loggia import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    /// A CSV, JSON, NDJSON or XLSX file, a folder of JSON files, or - for standard input. A file written by --rejects works too,
    /// corrected or not.
    pub file: PathBuf,
    /// With --suggest: the file to write the mapping to, which must not exist; by default standard output.
    #[arg(requires = "suggest", value_name = "MAPPING.toml")]
    pub suggestion: Option<PathBuf>,
    /// Import nothing, and write a first mapping of the file: each line with its reason, the share of records that are filled and the
    /// most frequent values.
    #[arg(long, conflicts_with_all = ["mapping", "columns", "replace", "patch", "strict", "max_rejected", "rejects", "ignore_unknown", "repair_text", "no_wait"])]
    pub suggest: bool,
    /// The mapping from the file's columns to the members of a record: a TOML file, or the name of one that is kept with the catalog
    /// (loggia mappings). A file that has such a name is written ./NAME.
    #[arg(long, value_name = "FILE|NAME", conflicts_with_all = ["columns", "patch"])]
    pub mapping: Option<PathBuf>,
    /// The format; by default it is found by the file's extension or its beginning.
    #[arg(long, value_enum)]
    pub format: Option<ImportFormat>,
    /// The encoding of a CSV or JSON file; by default it is found by its bytes.
    #[arg(long, value_enum)]
    pub encoding: Option<Encoding>,
    /// The sheet of a workbook that has the records; by default the first with headings.
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// Treat every line as the whole record: members without a CSV column are removed.
    #[arg(long, conflicts_with = "patch")]
    pub replace: bool,
    /// Treat every line as a merge patch (RFC 7396): absent members stay, null clears them.
    #[arg(long)]
    pub patch: bool,
    /// A JSON object that maps headings to members, for example {"Ort": "city", "Nr.": "id"}, where texts are taken as they
    /// stand. An empty member leaves the column out; an empty heading is that of the columns without one.
    #[arg(long, value_name = "FILE")]
    pub columns: Option<PathBuf>,
    /// Show the difference and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Stop at the first rejected line: only the lines before it are written. With --mapping the whole file is checked first, and
    /// nothing is written if the mapping rejects a record, or leaves out a column that it does not name.
    #[arg(long)]
    pub strict: bool,
    /// Stop with status 1 once more lines are rejected: a number, or a percentage of the lines so far, checked after every
    /// 2,000 lines and at the end.
    #[arg(long, value_name = "N|P%", conflicts_with = "strict")]
    pub max_rejected: Option<MaxRejected>,
    /// Write rejected lines and their faults to this file.
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Ignore unknown members instead of rejecting the line.
    #[arg(long)]
    pub ignore_unknown: bool,
    /// Replace the control characters U+0080 to U+009F as Windows-1252 (quotes, dashes, €), and count them.
    #[arg(long)]
    pub repair_text: bool,
    /// Do not wait until readers see the records.
    #[arg(long)]
    pub no_wait: bool,
    /// Withdraw the projects of the mapping's source that the file does not have any more; without it they are listed.
    #[arg(long, requires = "mapping", requires = "reason")]
    pub withdraw_missing: bool,
    /// Why they are withdrawn, in words for readers.
    #[arg(long, value_name = "TEXT", requires = "withdraw_missing")]
    pub reason: Option<String>,
    /// Withdraw them also if they are more than 5 % of the source's projects, or if records of the file have no id.
    #[arg(long, requires = "withdraw_missing")]
    pub yes: bool,
    #[command(flatten)]
    pub act: ActFlags,
}

/// The limit of rejected lines of an import.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxRejected {
    /// At most this number.
    Lines(u64),
    /// At most this percentage of the lines.
    Percent(f64),
}

impl MaxRejected {
    /// Returns whether more lines were rejected.
    pub fn is_exceeded(self, rejected: u64, lines: u64) -> bool {
        match self {
            MaxRejected::Lines(most) => rejected > most,
            MaxRejected::Percent(most) => rejected as f64 * 100.0 > most * lines as f64,
        }
    }
}

impl FromStr for MaxRejected {
    type Err = String;

    fn from_str(text: &str) -> Result<MaxRejected, String> {
        let number = match text.strip_suffix('%') {
            None => text.parse().ok().map(MaxRejected::Lines),
            Some(percent) => percent
                .trim()
                .parse()
                .ok()
                .filter(|percent| (0.0..=100.0).contains(percent))
                .map(MaxRejected::Percent),
        };
        number.ok_or_else(|| "give a number of lines such as 20, or a percentage such as 2%".to_owned())
    }
}

impl Display for MaxRejected {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            MaxRejected::Lines(most) => write!(f, "{most}"),
            MaxRejected::Percent(most) => write!(f, "{most}%"),
        }
    }
}

/// A file format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// One JSON object per line.
    Ndjson,
    /// An array of JSON objects, or a file with one at the path that the mapping names.
    Json,
    /// Values with headings, separated by commas, semicolons, tabs or bars.
    Csv,
    /// A workbook of Excel.
    Xlsx,
    /// A folder with one JSON file for each record.
    Folder,
}

impl From<ImportFormat> for SourceFormat {
    fn from(format: ImportFormat) -> SourceFormat {
        match format {
            ImportFormat::Ndjson | ImportFormat::Json => SourceFormat::Json,
            ImportFormat::Csv => SourceFormat::Csv,
            ImportFormat::Xlsx => SourceFormat::Xlsx,
            ImportFormat::Folder => SourceFormat::Folder,
        }
    }
}

/// An encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Encoding {
    /// With or without a byte order mark.
    #[value(name = "utf-8")]
    Utf8,
    /// ISO 8859-1.
    #[value(name = "latin1")]
    Latin1,
    /// As written by Windows programs in Western Europe.
    #[value(name = "windows-1252")]
    Windows1252,
    /// Either byte order.
    #[value(name = "utf-16")]
    Utf16,
}

impl From<Encoding> for record_files::Encoding {
    fn from(encoding: Encoding) -> record_files::Encoding {
        match encoding {
            Encoding::Utf8 => record_files::Encoding::Utf8,
            Encoding::Latin1 => record_files::Encoding::Latin1,
            Encoding::Windows1252 => record_files::Encoding::Windows1252,
            Encoding::Utf16 => record_files::Encoding::Utf16,
        }
    }
}

#[cfg(test)]
mod tests;
