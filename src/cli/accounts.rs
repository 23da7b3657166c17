//! What is typed about keys and their use.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use schemas::month::Month;

use super::{ActFlags, ActorFlag};

/// An act on keys. Addresses are kept in the vault of the write side only.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key for an address and print it, once.
    #[command(after_help = "Example:\n  loggia keys issue --email ada@example.org --name laptop")]
    Issue {
        /// Whose it shall be; at most three keys an address.
        #[arg(long)]
        email: String,
        /// What its holder calls it, such as a machine or a project. It is kept encrypted, and erased with the address.
        #[arg(long)]
        name: Option<String>,
        /// Its tier, if it is not the first.
        #[arg(long)]
        tier: Option<String>,
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// Show keys: all, or those of an address.
    #[command(after_help = "Example:\n  loggia keys list --email ada@example.org")]
    List {
        /// Only the keys of this address.
        #[arg(long)]
        email: Option<String>,
    },
    /// Take a key back; it ends on every node within a second.
    #[command(after_help = "Example:\n  loggia keys revoke Ab3dEf9h")]
    Revoke {
        /// Its id: the 8 characters behind log_live_.
        key_id: String,
        #[command(flatten)]
        act: ActFlags,
    },
    /// Bring the keys of an address into another tier, at once.
    #[command(after_help = "Example:\n  loggia keys tier --email ada@example.org studio")]
    Tier {
        /// Whose keys.
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
    /// Print a link with which the holder of an address looks after its keys; it is used once, within 30 minutes.
    #[command(after_help = "Example:\n  loggia keys link --email ada@example.org")]
    Link {
        /// The address.
        #[arg(long)]
        email: String,
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// Erase an address for ever and end its keys; what was counted stays.
    #[command(after_help = "Example:\n  loggia keys erase --email ada@example.org")]
    Erase {
        /// The address.
        #[arg(long)]
        email: String,
        #[command(flatten)]
        act: ActFlags,
    },
}

/// A look at payments, or what did not arrive by itself.
#[derive(Debug, Subcommand)]
pub enum PaymentsCommand {
    /// Take in Stripe's events from a file, each once, as if its webhook had brought them.
    #[command(
        after_help = "Examples:\n  stripe events list --limit 100 > events.json && loggia payments replay events.json\n  loggia payments replay - < events.ndjson"
    )]
    Replay {
        /// One event a line, a JSON array of them, or Stripe's list; - for standard input.
        file: PathBuf,
        #[command(flatten)]
        actor: ActorFlag,
    },
    /// Show what was recorded, what waits until somebody's address is known for it, and what has no effect.
    #[command(after_help = "Example:\n  loggia payments list --email ada@example.org")]
    List {
        /// Only what was paid under this address.
        #[arg(long)]
        email: Option<String>,
    },
    /// Give a subscription, with all payments that are connected with it, to the account of another address. The keys of
    /// both accounts follow at once, and later payments go there too.
    #[command(after_help = "Example:\n  loggia payments move cus_NffrFeUfNV2Hib --to grace@example.org")]
    Move {
        /// An id that Stripe gave to the customer, or to one of their subscriptions, invoices or payments.
        #[arg(value_name = "STRIPE_ID")]
        payer: String,
        /// The address of the account that gets it; it has been issued a key before.
        #[arg(long, value_name = "EMAIL")]
        to: String,
        #[command(flatten)]
        act: ActFlags,
    },
}

/// What to look at.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// A key's id; or the word verify: recount everything, and compare with the counters and with NATS.
    #[arg(value_name = "KEY_ID|verify")]
    pub subject: String,
    /// Only this month.
    #[arg(long, value_name = "YYYY-MM")]
    pub month: Option<Month>,
    /// Print comma-separated values.
    #[arg(long)]
    pub csv: bool,
}
