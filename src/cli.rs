//! The command line: commands, arguments and their help.

mod accounts;
mod curation;
mod export;
mod import;
mod init;
mod mappings;
mod models;
mod nats;
mod pictures;
mod setting_flags;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use backup::RestorePoint;
use clap::{Args, Parser, Subcommand, ValueEnum};
use daemon::signals::OnSignal;

use crate::process;

pub use accounts::{AuditArgs, KeysCommand, PaymentsCommand};
pub use curation::{ActFlags, ActorFlag, CurateCommand, IdFlag};
pub use export::{ExportArgs, ExportFormat};
pub use import::{ImportArgs, MaxRejected};
pub use init::InitArgs;
pub use mappings::MappingsCommand;
pub use models::ModelsCommand;
pub use nats::{NatsCommand, NatsConfigArgs};
pub use pictures::PicturesCommand;
pub use setting_flags::SettingFlags;

/// A self-hosted service for a curated catalog: search, provenance and replay.
#[derive(Debug, Parser)]
#[command(name = "loggia", version = process::long_version(), propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub settings: SettingFlags,
    /// Print one JSON object (or one per line) on standard output, and nothing else.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Set up a catalog of your own: ask for its name, contact, tiers, address, mail and data folder, and write a settings file.
    #[command(
        after_help = "Examples:\n  loggia init shop\n  loggia init shop --yes --site-name 'Casa & Co' --contact hello@example.org"
    )]
    Init(InitArgs),
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
    /// Import records from a file, creating or updating projects by slug.
    #[command(
        after_help = "Examples:\n  loggia import works.xlsx --mapping works.toml --dry-run\n  loggia import records.ndjson --dry-run\n  loggia import - < records.ndjson"
    )]
    Import(ImportArgs),
    /// Keep mappings from the columns of others' files with the catalog.
    #[command(subcommand)]
    Mappings(MappingsCommand),
    /// Write the catalog as import records, or as a table.
    #[command(
        after_help = "Examples:\n  loggia export > catalog.ndjson\n  loggia export --pictures copy > copy/catalog.ndjson\n  loggia export --format csv --columns name,city,year > sheet.csv"
    )]
    Export(ExportArgs),
    /// Edit one project, or show its history.
    #[command(subcommand)]
    Curate(CurateCommand),
    /// Rebuild read models from the events, then swap; readers notice nothing.
    #[command(after_help = "Example:\n  loggia rebuild all")]
    Rebuild {
        /// The read models to rebuild.
        #[arg(required = true, value_enum)]
        models: Vec<ModelName>,
    },
    /// Compare the live read models with a fresh replay, or check the pictures; exit status 3 on a difference.
    #[command(after_help = "Examples:\n  loggia verify\n  loggia verify media --repair")]
    Verify {
        /// What to check; by default all read models.
        #[arg(value_enum)]
        parts: Vec<VerifiedPart>,
        /// Make damaged smaller forms of pictures again from their originals.
        #[arg(long)]
        repair: bool,
    },
    /// Show or check the event log.
    #[command(subcommand)]
    Events(EventsCommand),
    /// Issue and manage API keys.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Replay payment notices, list payments, or move them to another account.
    #[command(subcommand)]
    Payments(PaymentsCommand),
    /// List, fetch again, remake or erase pictures.
    #[command(subcommand)]
    Pictures(PicturesCommand),
    /// Show the weights of the encoders, whether they are intact, and which encoder made how many vectors; or install weights. Exit
    /// status 3 if a file is damaged.
    #[command(after_help = "Examples:\n  loggia models\n  loggia models fetch ~/Downloads")]
    Models {
        #[command(subcommand)]
        command: Option<ModelsCommand>,
    },
    /// List the counted calls of a key, or recount all calls.
    #[command(
        after_help = "Examples:\n  loggia audit Ab3dEf9h --month 2026-11\n  loggia audit verify; exit status 3 on a difference"
    )]
    Audit(AuditArgs),
    /// Show roles, positions, lag, parked events, sizes and problems.
    #[command(after_help = "Examples:\n  loggia status --json\n  loggia status --check")]
    Status {
        /// For monitors: exit status 0 if all is well, 1 for warnings, 2 for problems, with the verdict in the first line. Lag
        /// counts as a problem only if it does not shrink within 3 seconds.
        #[arg(long)]
        check: bool,
    },
    /// Show every setting with its source and default; secrets are hidden.
    #[command(after_help = "Examples:\n  LOGGIA_LISTEN=0.0.0.0:80 loggia config\n  loggia config --check")]
    Config {
        /// Check everything that would prevent a start, without starting; exit status 1 if there is something.
        #[arg(long)]
        check: bool,
    },
    /// Check the installation: settings, file owners and modes, disk, open files, event log, clock, certificates and the age of
    /// the last backup. Exit status 0 if all is well, 1 for warnings, 2 for problems.
    #[command(after_help = "Examples:\n  loggia doctor\n  loggia doctor --json")]
    Doctor,
    /// Generate the configuration of a NATS cluster.
    #[command(subcommand)]
    Nats(NatsCommand),
    /// Back up event store, ledger, vault and pictures while the service runs.
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
        /// Create the backup in a subfolder named by the time, and remove all but the newest N and those they build on.
        #[arg(long, value_name = "N")]
        keep: Option<NonZeroUsize>,
        /// Create an incremental backup that builds on another: its folder, or `last` for the newest below FOLDER. Both are needed
        /// to restore. A folder named last is written ./last.
        #[arg(long, value_name = "LAST")]
        since: Option<PathBuf>,
        #[command(subcommand)]
        command: Option<BackupCommand>,
    },
    /// Copy the read models while they are in use, to start a new read node from.
    #[command(after_help = "Example:\n  loggia snapshot /srv/snapshots/2026-11-20")]
    Snapshot {
        /// An empty folder, or one that does not exist yet.
        folder: PathBuf,
    },
    /// Restore a backup into an empty data folder.
    #[command(
        after_help = "Examples:\n  loggia restore /backups/2026-11-20 --data /var/lib/loggia\n  loggia restore \
                      /backups/2026-11-20 --data /srv/new --erasures /var/lib/loggia/store/erasures.ndjson \
                      --erasures /var/lib/loggia/media/pictures-erased.ndjson\n  loggia restore /backups/2026-11-20 --data \
                      /srv/new --until 2026-11-19T17:55:00Z"
    )]
    Restore {
        /// The folder that `loggia backup` wrote.
        folder: PathBuf,
        /// Restore events only up to this position, or up to this time (with time zone). The ledger of counted calls and the
        /// vault are restored whole, and later erasures stay in effect.
        #[arg(long, value_name = "POSITION|TIME")]
        until: Option<RestorePoint>,
        /// A journal of later erasures, which are applied again: erasures.ndjson in the former data folder's store,
        /// pictures-erased.ndjson in its media folder, or either from a newer backup.
        #[arg(long, value_name = "FILE")]
        erasures: Vec<PathBuf>,
    },
    /// Copy the event log to another store, or show its keeper.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Measure this build on this machine, each figure against its limit.
    #[command(
        after_help = "Examples:\n  loggia bench search --size 2600\n  loggia bench relevance meaning --records records.ndjson"
    )]
    Bench(BenchArgs),
    /// Serve the bare route that `loggia bench` compares with.
    #[command(hide = true, after_help = "Example:\n  loggia bench-bare body.json")]
    BenchBare {
        /// The file whose bytes are returned.
        body: PathBuf,
    },
    /// Write the manual pages and the completions of shells, for packages.
    #[command(hide = true, after_help = "Example:\n  loggia manual target/manual")]
    Manual {
        /// The folder, which gets man/man1 and completions.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
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
    pub fn on_signal(&self) -> OnSignal {
        match self {
            Command::Up(_) | Command::Write | Command::Project | Command::Read | Command::Serve => {
                OnSignal::ShutDown
            }
            Command::Import(_) | Command::Rebuild { .. } | Command::Verify { .. } | Command::Bench(_) => {
                OnSignal::CleanUp
            }
            Command::Backup { command: None, .. } => OnSignal::CleanUp,
            _ => OnSignal::Exit,
        }
    }
}

/// The arguments of `loggia up`.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// Load the demo catalog of 2,600 invented projects; the default for an empty catalog, unless start_with is nothing.
    #[arg(long, conflicts_with = "no_demo")]
    pub demo: bool,
    /// Leave an empty catalog empty, whatever start_with is.
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
    /// The similar projects of each project.
    Neighbours,
    /// All listed projects, newest first, with their taste.
    Archive,
    /// The keys that may call.
    Keys,
    /// The counted calls of each key.
    Counters,
    /// All read models.
    All,
}

/// What `loggia verify` checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifiedPart {
    /// Records, revisions and slugs.
    Catalog,
    /// The search index.
    Search,
    /// The similar projects of each project.
    Neighbours,
    /// All listed projects, newest first, with their taste.
    Archive,
    /// The keys that may call.
    Keys,
    /// The counted calls of each key.
    Counters,
    /// Every read model.
    All,
    /// The stored pictures: their bytes, and that none is missing.
    Media,
}

impl VerifiedPart {
    /// Returns the read model, if it is one.
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

/// Other actions on backups. A folder named verify is written ./verify.
#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Check a backup without restoring it: log, ledger, vault and pictures.
    #[command(after_help = "Example:\n  loggia backup verify /backups/2026-11-20")]
    Verify {
        /// The folder that `loggia backup` wrote.
        folder: PathBuf,
    },
}

/// The commands of `loggia events`.
#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// Print events as they are recorded.
    #[command(after_help = "Example:\n  loggia events tail --from 1 --no-follow")]
    Tail {
        /// The first position to print; by default the next one.
        #[arg(long, value_name = "POSITION")]
        from: Option<u64>,
        /// Stop at the end of the log instead of waiting for more.
        #[arg(long)]
        no_follow: bool,
    },
    /// Print one event in full.
    #[command(after_help = "Example:\n  loggia events show 41")]
    Show {
        /// Its position.
        position: u64,
    },
    /// Print position, hash and time of the last event. Kept elsewhere, the line proves later that the log up to there has
    /// not changed.
    #[command(after_help = "Example:\n  loggia events head --json > /media/safe/head-2026-11-20.json")]
    Head,
    /// Check the hash chain of the whole log and its unique claims; exit status 3 on a difference.
    #[command(
        after_help = "Examples:\n  loggia events verify\n  loggia events verify --against /media/safe/head-2026-11-20.json"
    )]
    Verify {
        /// Compare with a backup, a snapshot, or a line printed by `loggia events head`.
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
    },
}

/// The commands of `loggia store`.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Copy the log into another store, which is empty or has its beginning; exit status 3 on a difference.
    #[command(
        after_help = "Example:\n  loggia store copy sqlite:data/store 'esdb://ann:secret@db.example.org:2113?tls=true'"
    )]
    Copy {
        /// The store to read, sqlite:DIR or esdb://…, which nothing may write to meanwhile. If DIR holds the replica of a
        /// remote log, the replica is read.
        from: String,
        /// The store to fill.
        to: String,
        /// List the events that the second store lacks, and write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Show which data folder keeps addresses, ledger and pictures of a log in EventStoreDB, or move them here.
    #[command(
        after_help = "Examples:\n  loggia store keeper --json\n  loggia store keeper --move --data /var/lib/loggia"
    )]
    Keeper {
        /// Make this data folder the keeper. Stop whatever runs on it, and the former keeper, first.
        #[arg(long)]
        r#move: bool,
        /// Proceed without the addresses that only the former keeper has.
        #[arg(long, requires = "move")]
        leave_behind: bool,
    },
}

/// The arguments of `loggia bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// The parts to measure; those that need a catalog share one.
    #[arg(value_enum, default_value = "all")]
    pub suites: Vec<BenchSuite>,
    /// The number of projects.
    #[arg(long, default_value_t = 2_600)]
    pub size: usize,
    /// Also write the figures as JSON.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Measure the relevance, and what is found by meaning, also on a catalog of these records alone, in NDJSON or CSV as
    /// `loggia import` takes them.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Measure also how often similar pictures have the same label: a folder of pictures with labels.tsv, a file, a tab and a label a line.
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// The seed with which the relevance draws names and makes typing errors.
    #[arg(long, value_name = "N", default_value_t = ::bench::relevance::SEED)]
    pub seed: u64,
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchSuite {
    /// Records imported per second, and when all are found.
    Import,
    /// CPU per search request against a bare route, and latency.
    Search,
    /// CPU per search with filters and facets against the same without.
    Filters,
    /// Whether judged queries and names of the catalog find what they want, in ten results and first.
    Relevance,
    /// The neighbour table: building it, its recall, adding a project; CPU per request against a search; how soon an edit has vectors;
    /// and pictures with labels.
    Similar,
    /// Search by meaning: what it finds that words do not, whether matches of words are kept, CPU per request and latency. It
    /// needs weights.
    Meaning,
    /// A query against all meanings in one process, up to millions, and how many of the nearest are found.
    Comparison,
    /// CPU per call of a tool against the same answer over REST, and latency.
    Mcp,
    /// The time from the reply to an edit until it is found, and what an edit costs.
    Visibility,
    /// What metering adds to a call, and calls per second.
    Metering,
    /// Events per second that the relay publishes to three NATS servers on this machine.
    Cluster,
    /// Events per second of a rebuild under load.
    Rebuild,
    /// From the start to ready on an existing catalog.
    Start,
    /// CPU of a server without requests.
    Idle,
    /// All parts.
    All,
}

#[cfg(test)]
mod tests;
