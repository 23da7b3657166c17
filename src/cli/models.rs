//! The arguments of `loggia models`.

use std::path::PathBuf;

use clap::Subcommand;

/// The commands of `loggia models`.
#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Install weights from files that were copied by hand, as docs/models.md lists them; a running service uses them from its next
    /// start on.
    #[command(after_help = "Example:\n  loggia models fetch ~/Downloads")]
    Fetch {
        /// The folder with the files, at most eight folders deep. They are recognised by what they hold.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}
