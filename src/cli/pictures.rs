//! The arguments of `loggia pictures`.

use clap::Subcommand;

use super::{ActFlags, ActorFlag};

/// The commands of `loggia pictures`.
#[derive(Debug, Subcommand)]
pub enum PicturesCommand {
    /// List the pictures that records name, with their status.
    #[command(
        after_help = "Examples:\n  loggia pictures list --refused\n  loggia --json pictures list --unused\n  loggia pictures list \
                      stair-house"
    )]
    List {
        /// Only those of this project, by any slug it ever had, withdrawn projects and former revisions included.
        #[arg(conflicts_with = "unused")]
        slug: Option<String>,
        /// Only those that could not be fetched or kept, with the reason.
        #[arg(long, conflicts_with = "unused")]
        refused: bool,
        /// Instead, stored pictures that no listed project shows.
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
    /// Recompute smaller forms, palettes and visual vectors from the originals.
    #[command(after_help = "Example:\n  loggia pictures remake")]
    Remake {
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// Erase a picture everywhere and permanently, in every revision. This cannot be undone.
    #[command(
        after_help = "Example:\n  loggia pictures erase 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    Erase {
        /// The 64 digits that `loggia pictures list` prints; with a slug it lists former revisions and withdrawn projects too.
        #[arg(value_name = "ID")]
        picture: String,
        #[command(flatten)]
        act: ActFlags,
    },
}
