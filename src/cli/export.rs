//! The arguments of `loggia export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The arguments of `loggia export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Include computed vectors, which an import would compute again.
    #[arg(long)]
    pub with_vectors: bool,
    /// A folder to write the pictures to that came as files; import the records from there.
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// How records are written.
    #[arg(long, value_enum, default_value = "ndjson")]
    pub format: ExportFormat,
    /// The columns of the table, besides slug, which is the first; by default all that any record fills.
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub columns: Vec<String>,
}

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Import records, one per line.
    Ndjson,
    /// A table for spreadsheet programs, which an import reads back as it was.
    Csv,
    /// The same table as a workbook of Excel; send it to a file.
    Xlsx,
}
