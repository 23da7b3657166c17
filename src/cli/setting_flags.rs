//! The settings as flags.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;

/// Settings that are given as flags; `loggia config` explains them.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct SettingFlags {
    /// A settings file other than ./loggia.toml.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data folder.
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<String>,
    /// Where the API listens.
    #[arg(long, global = true, value_name = "ADDR:PORT", hide_short_help = true)]
    listen: Option<String>,
    /// The site's own address in answers.
    #[arg(long, global = true, value_name = "URL", hide_short_help = true)]
    public_url: Option<String>,
    /// The name of the catalog in titles, citations and feeds.
    #[arg(long, global = true, value_name = "TEXT", hide_short_help = true)]
    site_name: Option<String>,
    /// One line that says what the catalog is.
    #[arg(long, global = true, value_name = "TEXT", hide_short_help = true)]
    site_tagline: Option<String>,
    /// A sentence or two about the catalog.
    #[arg(long, global = true, value_name = "TEXT", hide_short_help = true)]
    site_about: Option<String>,
    /// Where metrics and health are served for operators.
    #[arg(long, global = true, value_name = "ADDR:PORT", hide_short_help = true)]
    admin_listen: Option<String>,
    /// Names by which metrics and health may be asked for.
    #[arg(long, global = true, value_name = "HOST,…", hide_short_help = true)]
    admin_hosts: Option<String>,
    /// The NATS server, or those of a cluster, instead of a private one.
    #[arg(long, global = true, value_name = "URL", hide_short_help = true)]
    nats_url: Option<String>,
    /// The file with the login for the NATS server.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    nats_creds: Option<String>,
    /// The certificates that those of the NATS servers are signed by.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    nats_ca: Option<String>,
    /// On how many servers of a NATS cluster every stream is kept.
    #[arg(long, global = true, value_name = "1|3|5", hide_short_help = true)]
    nats_replicas: Option<String>,
    /// The event store, sqlite:DIR or esdb://HOST:PORT.
    #[arg(long, global = true, value_name = "STORE", hide_short_help = true)]
    store: Option<String>,
    /// Who may call.
    #[arg(long, global = true, value_name = "keys|off", hide_short_help = true)]
    auth: Option<String>,
    /// What keys may call in a month.
    #[arg(long, global = true, value_name = "TIER=CALLS,…", hide_short_help = true)]
    tiers: Option<String>,
    /// What the tiers cost, for the pricing page.
    #[arg(long, global = true, value_name = "TIER=PRICE: TERMS;…", hide_short_help = true)]
    prices: Option<String>,
    /// Where they are paid.
    #[arg(long, global = true, value_name = "TIER=URL,…", hide_short_help = true)]
    checkout: Option<String>,
    /// Which of Stripe's prices is which tier.
    #[arg(long, global = true, value_name = "PRICE=TIER,…", hide_short_help = true)]
    stripe_prices: Option<String>,
    /// Which of Stripe's events have an effect.
    #[arg(long, global = true, value_name = "live|test", hide_short_help = true)]
    stripe_mode: Option<String>,
    /// What becomes of calls while NATS is away.
    #[arg(long, global = true, value_name = "spool|refuse", hide_short_help = true)]
    metering: Option<String>,
    /// How large the spool may grow.
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true)]
    spool_limit: Option<String>,
    /// Calls of one key in a second.
    #[arg(long, global = true, value_name = "CALLS", hide_short_help = true)]
    burst_per_key: Option<String>,
    /// Calls without a valid key of one address in a second.
    #[arg(long, global = true, value_name = "CALLS", hide_short_help = true)]
    burst_per_address: Option<String>,
    /// Keys that one address may ask for in an hour.
    #[arg(long, global = true, value_name = "KEYS", hide_short_help = true)]
    keys_per_address: Option<String>,
    /// Web pages that may speak to the MCP endpoint.
    #[arg(long, global = true, value_name = "own|any|ORIGIN,…", hide_short_help = true)]
    mcp_origins: Option<String>,
    /// Proxies whose X-Forwarded-For is believed.
    #[arg(long, global = true, value_name = "NET,…", hide_short_help = true)]
    trusted_proxies: Option<String>,
    /// The file with the secret of the vault.
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    secret_file: Option<String>,
    /// How mails leave.
    #[arg(long, global = true, value_name = "log:|print:|smtp://…", hide_short_help = true)]
    mail: Option<String>,
    /// Whom mails are from.
    #[arg(long, global = true, value_name = "SENDER", hide_short_help = true)]
    mail_from: Option<String>,
    /// How people reach the operator.
    #[arg(long, global = true, value_name = "EMAIL|URL", hide_short_help = true)]
    contact: Option<String>,
    /// The hosts that pictures may be fetched from.
    #[arg(long, global = true, value_name = "HOST,…", hide_short_help = true)]
    picture_hosts: Option<String>,
    /// The addresses that pictures may be fetched from.
    #[arg(long, global = true, value_name = "public|any", hide_short_help = true)]
    picture_addresses: Option<String>,
    /// What makes the vectors of projects that bring none.
    #[arg(long, global = true, value_name = "builtin|off|DIR", hide_short_help = true)]
    vectors: Option<String>,
    /// What an empty read node begins with.
    #[arg(long, global = true, value_name = "DIR|URL", hide_short_help = true)]
    snapshot: Option<String>,
    /// How long a node that was told to stop still serves.
    #[arg(long, global = true, value_name = "SECONDS", hide_short_help = true)]
    drain: Option<String>,
    /// How far the clock is set ahead or back, for rehearsals.
    #[arg(long, global = true, value_name = "TIME", hide_short_help = true, allow_hyphen_values = true)]
    clock_offset: Option<String>,
    /// What is logged.
    #[arg(long, global = true, value_name = "FILTER", hide_short_help = true)]
    log: Option<String>,
}

impl SettingFlags {
    /// The flags that were given, by the settings' names.
    pub fn given(&self) -> BTreeMap<String, String> {
        let flags = [
            ("data", &self.data),
            ("listen", &self.listen),
            ("public_url", &self.public_url),
            ("site_name", &self.site_name),
            ("site_tagline", &self.site_tagline),
            ("site_about", &self.site_about),
            ("admin_listen", &self.admin_listen),
            ("admin_hosts", &self.admin_hosts),
            ("nats_url", &self.nats_url),
            ("nats_creds", &self.nats_creds),
            ("nats_ca", &self.nats_ca),
            ("nats_replicas", &self.nats_replicas),
            ("store", &self.store),
            ("auth", &self.auth),
            ("tiers", &self.tiers),
            ("prices", &self.prices),
            ("checkout", &self.checkout),
            ("stripe_prices", &self.stripe_prices),
            ("stripe_mode", &self.stripe_mode),
            ("metering", &self.metering),
            ("spool_limit", &self.spool_limit),
            ("burst_per_key", &self.burst_per_key),
            ("burst_per_address", &self.burst_per_address),
            ("keys_per_address", &self.keys_per_address),
            ("mcp_origins", &self.mcp_origins),
            ("trusted_proxies", &self.trusted_proxies),
            ("secret_file", &self.secret_file),
            ("mail", &self.mail),
            ("mail_from", &self.mail_from),
            ("contact", &self.contact),
            ("picture_hosts", &self.picture_hosts),
            ("picture_addresses", &self.picture_addresses),
            ("vectors", &self.vectors),
            ("snapshot", &self.snapshot),
            ("drain", &self.drain),
            ("clock_offset", &self.clock_offset),
            ("log", &self.log),
        ];
        flags.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?))).collect()
    }
}
