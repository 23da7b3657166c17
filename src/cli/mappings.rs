//! The arguments of `loggia mappings`.

use std::path::PathBuf;

use clap::Subcommand;

/// The commands of `loggia mappings`.
#[derive(Debug, Subcommand)]
pub enum MappingsCommand {
    /// Keep a mapping with the catalog under its name; one of the same name is replaced.
    #[command(after_help = "Example:\n  loggia mappings add tate.toml")]
    Add {
        /// The file of the mapping, with its name in the first line: name = "tate".
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List the kept mappings, with the file that was last imported with each.
    #[command(after_help = "Example:\n  loggia mappings list")]
    List,
    /// Print a kept mapping as TOML.
    #[command(after_help = "Example:\n  loggia mappings show tate > tate.toml")]
    Show {
        /// Its name.
        name: String,
    },
    /// Remove a kept mapping; what was imported with it stays.
    #[command(after_help = "Example:\n  loggia mappings remove tate")]
    Remove {
        /// Its name.
        name: String,
    },
}
