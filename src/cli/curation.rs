//! The arguments of `loggia curate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use schemas::ids::CommandId;

/// The commands of `loggia curate`.
#[derive(Debug, Subcommand)]
pub enum CurateCommand {
    /// Add a project from an import record.
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
        /// The project's slug.
        slug: String,
        /// A member and its new value, for example provenance.note="Seen in winter".
        #[arg(long, value_name = "MEMBER=VALUE")]
        set: Vec<String>,
        /// A member to remove. `vectors` makes the service compute the vectors of a project that was imported with some.
        #[arg(long, value_name = "MEMBER")]
        unset: Vec<String>,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Attach a picture to a project: a file, or an https URL, which is fetched now.
    #[command(
        after_help = "Example:\n  loggia curate attach stair-house photos/front.jpg --alt 'The front at dusk' --credit 'Photo: Ann B.' --rights 'CC BY 4.0'"
    )]
    Attach {
        /// The project's slug.
        slug: String,
        /// A JPEG, PNG or WebP file of at most 10 MB, or its https URL.
        picture: String,
        /// Alternative text: what the picture shows, for those who cannot see it.
        #[arg(long)]
        alt: Option<String>,
        /// Whom to name with the picture.
        #[arg(long)]
        credit: Option<String>,
        /// What others may do with the picture: a text, or the URL of a licence.
        #[arg(long)]
        rights: Option<String>,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Move a project to another slug; the old one redirects to it permanently.
    #[command(after_help = "Example:\n  loggia curate rename stair-house house-on-a-stair")]
    Rename {
        /// The present slug.
        slug: String,
        /// The new slug.
        to: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Withdraw a project from the catalog. Its citations stay, with their pictures; `loggia pictures erase` removes those.
    #[command(
        after_help = "Example:\n  loggia curate withdraw stair-house --reason 'The owners asked for it.'"
    )]
    Withdraw {
        /// The project's slug.
        slug: String,
        /// The reason that readers are shown.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Restore a withdrawn project.
    #[command(after_help = "Example:\n  loggia curate restore stair-house")]
    Restore {
        /// The project's slug.
        slug: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// List every event of a project, with actor and time.
    #[command(after_help = "Example:\n  loggia curate history stair-house")]
    History {
        /// The project, by any slug it ever had.
        slug: String,
    },
}

/// The actor and the id of a command.
#[derive(Debug, Clone, Args)]
pub struct ActFlags {
    #[command(flatten)]
    pub actor: ActorFlag,
    #[command(flatten)]
    pub id: IdFlag,
}

/// The actor of a command.
#[derive(Debug, Clone, Args)]
pub struct ActorFlag {
    /// The name recorded as the editor; by default $USER.
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
}

/// The id of a command.
#[derive(Debug, Clone, Args)]
pub struct IdFlag {
    /// Repeat a command under the id that it printed when its outcome was unknown; it takes effect once.
    #[arg(long, value_name = "ID")]
    pub id: Option<CommandId>,
}
