//! What editors type.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use schemas::ids::CommandId;

/// An editor's act.
#[derive(Debug, Subcommand)]
pub enum CurateCommand {
    /// Take a project into the catalog, from an import record.
    #[command(
        after_help = "Example:\n  echo '{\"name\":\"Stair House\",\"category\":\"architecture\"}' | loggia curate select -"
    )]
    Select {
        /// A file with one import record as JSON, or - for standard input.
        file: PathBuf,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Change members of a project's record.
    #[command(
        after_help = "Example:\n  loggia curate revise stair-house --set city=Zürich --set taste.material=oak --unset intro"
    )]
    Revise {
        /// Which project.
        slug: String,
        /// A member and its new value, for example provenance.note="Seen in winter".
        #[arg(long, value_name = "MEMBER=VALUE")]
        set: Vec<String>,
        /// A member to take away. `vectors` alone gives a project whose vectors were brought back to the encoder.
        #[arg(long, value_name = "MEMBER")]
        unset: Vec<String>,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Attach a picture to a project: a file, or an https URL that the write side fetches now.
    #[command(
        after_help = "Example:\n  loggia curate attach stair-house photos/front.jpg --alt 'The front at dusk'"
    )]
    Attach {
        /// Which project.
        slug: String,
        /// A JPEG, PNG or WebP file of at most 10 MB, or its https URL.
        picture: String,
        /// What it shows, for those who cannot see it.
        #[arg(long)]
        alt: Option<String>,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Move a project to another slug; the old one leads to it for ever.
    #[command(after_help = "Example:\n  loggia curate rename stair-house house-on-a-stair")]
    Rename {
        /// Where it is.
        slug: String,
        /// Where it shall be.
        to: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Take a project out of the catalog; its citations stay, with the pictures that they show: `loggia pictures erase` takes
    /// those down.
    #[command(
        after_help = "Example:\n  loggia curate withdraw stair-house --reason 'The owners asked for it.'"
    )]
    Withdraw {
        /// Which project.
        slug: String,
        /// Why, in words for readers.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Bring a withdrawn project back.
    #[command(after_help = "Example:\n  loggia curate restore stair-house")]
    Restore {
        /// Which project.
        slug: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Print every event of a project, with who and when.
    #[command(after_help = "Example:\n  loggia curate history stair-house")]
    History {
        /// Which project, by any slug it ever had.
        slug: String,
    },
}

/// Who acts, and under which id.
#[derive(Debug, Clone, Args)]
pub struct ActFlags {
    #[command(flatten)]
    pub actor: ActorFlag,
    #[command(flatten)]
    pub id: IdFlag,
}

/// Who sends a command.
#[derive(Debug, Clone, Args)]
pub struct ActorFlag {
    /// Who acts; $USER when it is not given.
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
}

/// The id of a command.
#[derive(Debug, Clone, Args)]
pub struct IdFlag {
    /// Send it under this id: a command that was not answered names its own. What it did already is not done twice.
    #[arg(long, value_name = "ID")]
    pub id: Option<CommandId>,
}
