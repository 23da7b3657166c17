//! What operators type about pictures.

use clap::Subcommand;

use super::{ActFlags, ActorFlag};

/// A look at pictures, or another try.
#[derive(Debug, Subcommand)]
pub enum PicturesCommand {
    /// Show every picture that a record names, and what became of it.
    #[command(
        after_help = "Examples:\n  loggia pictures list --refused\n  loggia --json pictures list --unused\n  loggia pictures list \
                      stair-house"
    )]
    List {
        /// Only those of this project, by any slug it ever had: also where it is withdrawn, and with those that only former
        /// revisions show.
        #[arg(conflicts_with = "unused")]
        slug: Option<String>,
        /// Only those that could not be fetched or kept, with the reason.
        #[arg(long, conflicts_with = "unused")]
        refused: bool,
        /// The kept pictures instead that no listed project shows.
        #[arg(long)]
        unused: bool,
    },
    /// Fetch refused pictures again, now.
    #[command(after_help = "Example:\n  loggia pictures retry stair-house")]
    Retry {
        /// Only those of this project.
        slug: Option<String>,
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// Make smaller forms, palettes and visual vectors again from the originals, as this version makes them.
    #[command(after_help = "Example:\n  loggia pictures remake")]
    Remake {
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// Take a picture down for good: everywhere, in every revision, never to be kept again. It cannot be undone.
    #[command(
        after_help = "Example:\n  loggia pictures erase 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    Erase {
        /// Its name: the 64 digits that `loggia pictures list` prints, with a project's slug also for those of a withdrawn
        /// project and of former revisions.
        #[arg(value_name = "ID")]
        picture: String,
        #[command(flatten)]
        act: ActFlags,
    },
}
