//! The arguments of `loggia keys`, `loggia payments` and `loggia audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use schemas::month::Month;

use super::{ActFlags, ActorFlag};

/// The commands of `loggia keys`. Addresses are kept in the vault of the write side only.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Issue a key for an email address and print it; it is never shown again.
    #[command(after_help = "Example:\n  loggia keys issue --email ada@example.org --name laptop")]
    Issue {
        /// The email address; up to three keys per address.
        #[arg(long)]
        email: String,
        /// A name for the key, such as a machine or a project. It is stored encrypted and erased with the address.
        #[arg(long)]
        name: Option<String>,
        /// The tier; by default the first.
        #[arg(long)]
        tier: Option<String>,
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// List all keys, or those of an address.
    #[command(after_help = "Example:\n  loggia keys list --email ada@example.org")]
    List {
        /// Only the keys of this address.
        #[arg(long)]
        email: Option<String>,
    },
    /// Revoke a key; every node refuses it within a second, or once NATS has elected a leader after a crash, up to 9 s later.
    #[command(after_help = "Example:\n  loggia keys revoke Ab3dEf9h")]
    Revoke {
        /// The key's id: the 8 characters after log_live_.
        key_id: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Move the keys of an address to another tier, at once.
    #[command(after_help = "Example:\n  loggia keys tier --email ada@example.org studio")]
    Tier {
        /// The email address.
        #[arg(long)]
        email: String,
        /// Only this key.
        #[arg(long, value_name = "KEY_ID")]
        key: Option<String>,
        /// The tier.
        tier: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Print a link that lets the holder of an address manage its keys; it works once, within 30 minutes.
    #[command(after_help = "Example:\n  loggia keys link --email ada@example.org")]
    Link {
        /// The email address.
        #[arg(long)]
        email: String,
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// Erase an address permanently and revoke its keys; counted calls stay.
    #[command(after_help = "Example:\n  loggia keys erase --email ada@example.org")]
    Erase {
        /// The email address.
        #[arg(long)]
        email: String,
        #[command(flatten)]
        act: ActFlags,
    },
}

/// The commands of `loggia payments`.
#[derive(Debug, Subcommand)]
pub enum PaymentsCommand {
    /// Record Stripe's events from a file, each once, as if the webhook had received them.
    #[command(
        after_help = "Examples:\n  stripe events list --limit 100 > events.json && loggia payments replay events.json\n  loggia payments replay - < events.ndjson"
    )]
    Replay {
        /// One event per line, a JSON array of them, or Stripe's list; - for standard input.
        file: PathBuf,
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// List recorded payments, those without a known address yet, and those without effect.
    #[command(after_help = "Example:\n  loggia payments list --email ada@example.org")]
    List {
        /// Only payments of this email address.
        #[arg(long)]
        email: Option<String>,
    },
    /// Move a subscription and its payments to the account of another address. The keys of both accounts change tier at once, and
    /// later payments follow.
    #[command(after_help = "Example:\n  loggia payments move cus_NffrFeUfNV2Hib --to grace@example.org")]
    Move {
        /// Stripe's id of the customer, or of one of their subscriptions, invoices or payments.
        #[arg(value_name = "STRIPE_ID")]
        payer: String,
        /// The email address of the receiving account, which has been issued a key before.
        #[arg(long, value_name = "EMAIL")]
        to: String,
        #[command(flatten)]
        act: ActFlags,
    },
}

/// The arguments of `loggia audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A key's id; or `verify`, to recount all calls and compare them with the counters and NATS.
    #[arg(value_name = "KEY_ID|verify")]
    pub subject: String,
    /// Only this month.
    #[arg(long, value_name = "YYYY-MM")]
    pub month: Option<Month>,
    /// Print comma-separated values.
    #[arg(long)]
    pub csv: bool,
}
