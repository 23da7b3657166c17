//! The command line as it is typed.

mod accounts;
mod curation;
mod import;
mod nats;
mod pictures;
mod setting_flags;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use write::event_store::Until;

use crate::build_info;

pub use accounts::{AuditArgs, KeysCommand, PaymentsCommand};
pub use curation::{ActFlags, ActorFlag, CurateCommand, IdFlag};
pub use import::{Encoding, ImportArgs, ImportFormat, MaxRejected};
pub use nats::{NatsCommand, NatsConfigArgs};
pub use pictures::PicturesCommand;
pub use setting_flags::SettingFlags;

use crate::signals::Ends;

/// A self-hosted service for a curated catalog: search, provenance and replay.
#[derive(Debug, Parser)]
#[command(name = "loggia", version = build_info::long_version(), propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub settings: SettingFlags,
    /// Print one JSON object (or one a line) on standard output, and nothing else there.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run everything in one process, for one machine.
    #[command(after_help = "Example:\n  loggia up --data /var/lib/loggia --listen 127.0.0.1:8080")]
    Up(UpArgs),
    /// Run the write side: commands, event store and relay.
    #[command(after_help = "Example:\n  loggia write --nats-url nats://10.0.0.5:4222")]
    Write,
    /// Run the projection workers of a read node.
    #[command(after_help = "Example:\n  loggia project --nats-url nats://10.0.0.5:4222")]
    Project,
    /// Run the API of a read node.
    #[command(after_help = "Example:\n  loggia serve --nats-url nats://10.0.0.5:4222")]
    Serve,
    /// Run a read node: the projection workers and the API in one process.
    #[command(
        after_help = "Example:\n  loggia read --nats-url nats://10.0.0.5:4222 --snapshot http://TOKEN@10.0.0.7:9090"
    )]
    Read,
    /// Make the catalog say what a file says, slug by slug.
    #[command(
        after_help = "Examples:\n  loggia import records.ndjson --dry-run\n  loggia import - < records.ndjson"
    )]
    Import(ImportArgs),
    /// Write the catalog as import records.
    #[command(
        after_help = "Examples:\n  loggia export > catalog.ndjson\n  loggia export --pictures copy > copy/catalog.ndjson"
    )]
    Export {
        /// Write the computed vectors too; an import computes them again without.
        #[arg(long)]
        with_vectors: bool,
        /// A folder for the pictures that records name as files, so that an import of the records from there finds them.
        #[arg(long, value_name = "DIR")]
        pictures: Option<PathBuf>,
    },
    /// One editor's act, or a project's history.
    #[command(subcommand)]
    Curate(CurateCommand),
    /// Replay the events into a new generation beside the live one, and swap.
    #[command(after_help = "Example:\n  loggia rebuild all")]
    Rebuild {
        /// Which read models.
        #[arg(required = true, value_enum)]
        models: Vec<ModelName>,
    },
    /// Replay the events aside and compare with the live read models, or check the pictures; exit status 3 on a
    /// difference.
    #[command(after_help = "Examples:\n  loggia verify\n  loggia verify media --repair")]
    Verify {
        /// What to check; all read models when nothing is named.
        #[arg(value_enum)]
        parts: Vec<VerifiedPart>,
        /// Make damaged smaller forms of pictures again from their originals.
        #[arg(long)]
        repair: bool,
    },
    /// Look at the log of events.
    #[command(subcommand)]
    Events(EventsCommand),
    /// Hand out keys, and look after them.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Take in what payment providers told, and look at it.
    #[command(subcommand)]
    Payments(PaymentsCommand),
    /// Look at the pictures that records name, fetch refused ones again, and make smaller forms again.
    #[command(subcommand)]
    Pictures(PicturesCommand),
    /// Show every counted call of a key, or recount all of them.
    #[command(
        after_help = "Examples:\n  loggia audit Ab3dEf9h --month 2026-11\n  loggia audit verify; exit status 3 on a difference"
    )]
    Audit(AuditArgs),
    /// Show roles, positions, lag, parked events, sizes and health on one screen.
    #[command(after_help = "Examples:\n  loggia status --json\n  loggia status --check")]
    Status {
        /// Answer a monitor: exit status 0 where all is well, 1 where something should be looked at, 2 where something
        /// does not work, and the verdict in the first line. What lags is looked at twice within 3 seconds.
        #[arg(long)]
        check: bool,
    },
    /// Show every setting with its source and default, secrets hidden.
    #[command(after_help = "Examples:\n  LOGGIA_LISTEN=0.0.0.0:80 loggia config\n  loggia config --check")]
    Config {
        /// Look for all that a start would refuse, and start nothing; exit status 1 where there is something.
        #[arg(long)]
        check: bool,
    },
    /// Look for what an operator should mend: settings, owner and modes, disk, descriptors, the log and its way to readers, the
    /// clock, certificates and the age of the last backup. Exit status 0 where all is well, 1 where something should be looked
    /// at, 2 where something does not work or would not start.
    #[command(after_help = "Examples:\n  loggia doctor\n  loggia doctor --json")]
    Doctor,
    /// Make what a NATS cluster of one's own needs.
    #[command(subcommand)]
    Nats(NatsCommand),
    /// Copy the event store into a folder, consistent, while it runs.
    #[command(
        after_help = "Examples:\n  loggia backup /backups/2026-11-20\n  loggia backup /backups --keep 7\n  loggia backup /backups \
                      --keep 7 --since last\n  loggia backup verify /backups/2026-11-20",
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true
    )]
    Backup {
        /// An empty folder, or one that does not exist yet; with --keep, or --since last, the folder of all backups.
        #[arg(required = true)]
        folder: Option<PathBuf>,
        /// Make the backup in a folder of its own below FOLDER, named by the time, and remove all but the newest N and those
        /// that they continue.
        #[arg(long, value_name = "N")]
        keep: Option<NonZeroUsize>,
        /// Copy only what another backup does not have: the folder of that one, or `last` for the newest below FOLDER. The two
        /// are restored together. A folder of this name is given as ./last.
        #[arg(long, value_name = "LAST")]
        since: Option<PathBuf>,
        #[command(subcommand)]
        command: Option<BackupCommand>,
    },
    /// Copy the read models into a folder while they are written, for a new read node to begin with.
    #[command(after_help = "Example:\n  loggia snapshot /srv/snapshots/2026-11-20")]
    Snapshot {
        /// An empty folder, or one that does not exist yet.
        folder: PathBuf,
    },
    /// Put a backup into an empty data folder.
    #[command(
        after_help = "Examples:\n  loggia restore /backups/2026-11-20 --data /var/lib/loggia\n  loggia restore \
                      /backups/2026-11-20 --data /srv/new --erasures /var/lib/loggia/store/erasures.ndjson \
                      --erasures /var/lib/loggia/media/pictures-erased.ndjson\n  loggia restore /backups/2026-11-20 --data \
                      /srv/new --until 2026-11-19T17:55:00Z"
    )]
    Restore {
        /// The folder that `loggia backup` wrote.
        folder: PathBuf,
        /// Restore the log up to this event only: a position, or a time with its zone, for the last event recorded until
        /// then. The ledger of counted calls and the vault are restored whole, and what was erased later stays erased.
        #[arg(long, value_name = "POSITION|TIME")]
        until: Option<Until>,
        /// A journal of what was erased since: erasures.ndjson of the former folder's store, pictures-erased.ndjson of its
        /// media folder, or either of a newer backup. These accounts are erased again, and the pictures left out.
        #[arg(long, value_name = "FILE")]
        erasures: Vec<PathBuf>,
    },
    /// Look after the place where the log of events is.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Measure this machine and this build, each figure against its limit in the same run.
    #[command(after_help = "Example:\n  loggia bench search --size 2600")]
    Bench(BenchArgs),
    /// Serve the bare route that `loggia bench` compares with.
    #[command(hide = true, after_help = "Example:\n  loggia bench-bare body.json")]
    BenchBare {
        /// The file whose bytes are returned.
        body: PathBuf,
    },
}

impl Command {
    /// Returns the name under which a trace shows the command, if it sends commands to the write side.
    pub fn traced(&self) -> Option<&'static str> {
        match self {
            Command::Import(_) => Some("import"),
            Command::Curate(CurateCommand::History { .. }) => None,
            Command::Curate(_) => Some("curate"),
            Command::Keys(_) => Some("keys"),
            Command::Payments(_) => Some("payments"),
            Command::Pictures(_) => Some("pictures"),
            _ => None,
        }
    }

    /// Returns what a signal does to it.
    pub fn ends(&self) -> Ends {
        match self {
            Command::Up(_) | Command::Write | Command::Project | Command::Read | Command::Serve => {
                Ends::AsRole
            }
            Command::Import(_) | Command::Rebuild { .. } | Command::Verify { .. } | Command::Bench(_) => {
                Ends::InOrder
            }
            Command::Backup { command: None, .. } => Ends::InOrder,
            _ => Ends::AtOnce,
        }
    }
}

/// How to come up.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// Fill in the demo catalog of 2,600 invented projects; the default when the catalog is empty.
    #[arg(long, conflicts_with = "no_demo")]
    pub demo: bool,
    /// Leave an empty catalog empty.
    #[arg(long)]
    pub no_demo: bool,
}

/// A read model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelName {
    /// Records, revisions and slugs.
    Catalog,
    /// The search index.
    Search,
    /// The nearest of each project.
    Neighbours,
    /// All listed projects, newest first, with the words of their taste.
    Archive,
    /// The keys that may call.
    Keys,
    /// What each key has called.
    Counters,
    /// Every one.
    All,
}

/// What `loggia verify` checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifiedPart {
    /// Records, revisions and slugs.
    Catalog,
    /// The search index.
    Search,
    /// The nearest of each project.
    Neighbours,
    /// All listed projects, newest first, with the words of their taste.
    Archive,
    /// The keys that may call.
    Keys,
    /// What each key has called.
    Counters,
    /// Every read model.
    All,
    /// The kept pictures: their bytes, and that none is missing that the log names.
    Media,
}

impl VerifiedPart {
    /// The read model, if it is one.
    pub fn model(self) -> Option<ModelName> {
        match self {
            VerifiedPart::Catalog => Some(ModelName::Catalog),
            VerifiedPart::Search => Some(ModelName::Search),
            VerifiedPart::Neighbours => Some(ModelName::Neighbours),
            VerifiedPart::Archive => Some(ModelName::Archive),
            VerifiedPart::Keys => Some(ModelName::Keys),
            VerifiedPart::Counters => Some(ModelName::Counters),
            VerifiedPart::All => Some(ModelName::All),
            VerifiedPart::Media => None,
        }
    }
}

/// What else is done with a backup. A folder of this name is given as ./verify.
#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Prove a backup without restoring it: log, ledger, vault and pictures.
    #[command(after_help = "Example:\n  loggia backup verify /backups/2026-11-20")]
    Verify {
        /// The folder that `loggia backup` wrote.
        folder: PathBuf,
    },
}

/// A look at the log.
#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// Print events as they come.
    #[command(after_help = "Example:\n  loggia events tail --from 1 --no-follow")]
    Tail {
        /// The first position to print; the next one when it is not given.
        #[arg(long, value_name = "POSITION")]
        from: Option<u64>,
        /// End at the log's end instead of waiting for more.
        #[arg(long)]
        no_follow: bool,
    },
    /// Print one event, whole.
    #[command(after_help = "Example:\n  loggia events show 41")]
    Show {
        /// Its position.
        position: u64,
    },
    /// Print where the log ends: position, hash and time of its last event. Kept elsewhere, it shows later whether the
    /// log up to there is still the same.
    #[command(after_help = "Example:\n  loggia events head --json > /media/safe/head-2026-11-20.json")]
    Head,
    /// Check the hash chain over the whole log and the names that its events claim; exit status 3 on a difference.
    #[command(
        after_help = "Examples:\n  loggia events verify\n  loggia events verify --against /media/safe/head-2026-11-20.json"
    )]
    Verify {
        /// What another place knows of the log: a backup, a snapshot, or what `loggia events head` printed.
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
    },
}

/// An act on stores.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Bring the log from one store into another, which is empty or has its beginning; exit status 3 on a difference.
    #[command(
        after_help = "Example:\n  loggia store copy sqlite:data/store 'esdb://ann:secret@db.example.org:2113?tls=true'"
    )]
    Copy {
        /// The store to read, sqlite:DIR or esdb://…; nothing may write to it meanwhile. Where DIR holds only the
        /// replica of a log elsewhere, that is read.
        from: String,
        /// The store to fill.
        to: String,
        /// Show each event that the second lacks, and write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Show which data folder keeps the addresses, the ledger and the pictures of a log in EventStoreDB, or move that here.
    #[command(
        after_help = "Examples:\n  loggia store keeper --json\n  loggia store keeper --move --data /var/lib/loggia"
    )]
    Keeper {
        /// Make this data folder the keeper; nothing may run on it meanwhile, and the keeper before must be stopped.
        #[arg(long)]
        r#move: bool,
        /// Go on without the addresses that only the keeper before has.
        #[arg(long, requires = "move")]
        leave_behind: bool,
    },
}

/// What to measure.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Which parts; those that need a catalog share one.
    #[arg(value_enum, default_value = "all")]
    pub suites: Vec<BenchSuite>,
    /// How many projects.
    #[arg(long, default_value_t = 2_600)]
    pub size: usize,
    /// Also write the figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchSuite {
    /// Records a second into the event store, and when all are found.
    Import,
    /// CPU per search request against a bare route, and latency.
    Search,
    /// The neighbour table: its making, its truth, one more project; and CPU per request against a search.
    Similar,
    /// CPU per call of a tool against the same answer over REST, and latency.
    Mcp,
    /// From an edit's answer to its being found.
    Visibility,
    /// What counting adds to a call, and calls a second.
    Metering,
    /// Events a second that the relay carries to three NATS servers of this machine.
    Cluster,
    /// Events a second of a rebuild under load.
    Rebuild,
    /// From the start to ready on an existing catalog.
    Start,
    /// All of them.
    All,
}

#[cfg(test)]
mod tests;
