//! The arguments of `loggia init`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `loggia init`. What is given as the flag of a setting is written into the file and not asked for.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder of the catalog, which is created when needed; loggia.toml is written into it.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Ask nothing, and use the default of everything that is not given as a flag.
    #[arg(long)]
    pub yes: bool,
}
