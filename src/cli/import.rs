//! The arguments of `loggia import`.

use std::fmt::{Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::ActFlags;

/// The arguments of `loggia import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    /// An NDJSON or CSV file, or - for standard input. A file written by --rejects works too, corrected or not.
    pub file: PathBuf,
    /// The format; by default from the file's extension.
    #[arg(long, value_enum)]
    pub format: Option<ImportFormat>,
    /// The encoding of the file.
    #[arg(long, value_enum, default_value = "utf-8")]
    pub encoding: Encoding,
    /// Treat every line as the whole record: members without a CSV column are removed.
    #[arg(long, conflicts_with = "patch")]
    pub replace: bool,
    /// Treat every line as a merge patch (RFC 7396): absent members stay, null clears them.
    #[arg(long)]
    pub patch: bool,
    /// A JSON object that maps CSV headings to members, for example {"Ort": "city", "Nr.": "id"}. An empty
    /// member leaves the column out; an empty heading is that of the columns without one.
    #[arg(long, value_name = "FILE")]
    pub columns: Option<PathBuf>,
    /// Show the difference and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Stop at the first rejected line: only the lines before it are written.
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
    /// One JSON object per line, or an array of them.
    Ndjson,
    /// Values with headings, separated by commas, semicolons, tabs or bars.
    Csv,
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
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_rejected_lines_is_a_number_or_a_percentage() {
        let exceeded = |most: &str, rejected, lines| -> bool {
            most.parse::<MaxRejected>().unwrap().is_exceeded(rejected, lines)
        };
        assert_eq!((exceeded("0", 0, 9), exceeded("0", 1, 9)), (false, true));
        assert_eq!((exceeded("20", 20, 21), exceeded("20", 21, 21)), (false, true));
        assert_eq!((exceeded("2.5%", 5, 200), exceeded("2.5 %", 6, 200)), (false, true));
        for wrong in ["", "-1", "2.5", "101%", "%", "NaN%", "many"] {
            assert!(wrong.parse::<MaxRejected>().is_err(), "{wrong}");
        }
    }
}
