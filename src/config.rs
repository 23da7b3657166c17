//! Settings: read once, from flags, then `LOGGIA_*` variables, then `loggia.toml`, and checked before anything opens.

mod choices;
mod offset;
mod scale;
mod sources;
mod table;
mod tracing;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Result, bail};
use api::payments::{self, Secrets, Terms};
use api::{Checkouts, Contact, Origins, Prices, SiteTexts, TrustedProxies};
use schemas::tier::Tiers;
use serde::Serialize;
use write::event_store::LogPlace;
use write::mail::{Route, Sender};

pub use choices::{Auth, Hosts, LogFilter, LogFormat, Metering, PictureAddresses, Replicas, Vectors};
use choices::{ListenAddress, SiteText, WholeNumber};
pub use offset::ClockOffset;
pub use scale::{Drain, Size, SnapshotSource};
use sources::Given;
pub use sources::Sources;
pub use table::SETTINGS;
pub use tracing::Tracing;

/// All settings, checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// `data`: the folder that holds everything.
    pub data: PathBuf,
    /// `listen`: where the API listens; port 0 takes any free one.
    pub listen: SocketAddr,
    /// `public_url`: the site's own address in answers, without a slash at its end; unset: `http://` and the real
    /// listening address.
    pub public_url: Option<String>,
    /// `site_name`, `site_tagline` and `site_about`: what the site says of itself.
    pub site: SiteTexts,
    /// `admin_listen`: where metrics and health are served for operators, if anywhere.
    pub admin_listen: Option<SocketAddr>,
    /// `admin_hosts`: names by which the operators' listener may be asked.
    pub admin_hosts: Option<Hosts>,
    /// `nats_url`: the NATS server, or those of a cluster with commas; unset: a private one.
    pub nats_url: Option<String>,
    /// `nats_creds`: the credentials file for it, or one with a user's seed.
    pub nats_creds: Option<PathBuf>,
    /// `nats_ca`: the certificates that those of its servers are signed by; unset: the system's.
    pub nats_ca: Option<PathBuf>,
    /// `nats_replicas`: on how many of its servers every stream is kept.
    pub nats_replicas: Replicas,
    /// `nats_server`: the program of the private server; unset: looked for.
    pub nats_server: Option<PathBuf>,
    /// `store`: where the event store is; unset: SQLite in the data folder.
    pub store: Option<LogPlace>,
    /// `log`: what is logged.
    pub log: LogFilter,
    /// `log_format`: how.
    pub log_format: LogFormat,
    /// `auth`: who may call.
    pub auth: Auth,
    /// `tiers`: what keys may call in a month.
    pub tiers: Tiers,
    /// `prices`: what they cost, for the pricing page.
    pub prices: Prices,
    /// `checkout`: where they are paid.
    pub checkout: Checkouts,
    /// `stripe_secret`: what Stripe signs its webhook with; unset: there is no webhook.
    pub stripe_secret: Option<Secrets>,
    /// `stripe_prices`, `stripe_mode` and `tiers`: what Stripe's events mean.
    pub stripe: Terms,
    /// `metering`: what becomes of calls while NATS is away.
    pub metering: Metering,
    /// `spool_limit`: how large the spool may grow.
    pub spool_limit: Size,
    /// `burst_per_key`: calls of one key in a second; 0 is no limit.
    pub burst_per_key: u32,
    /// `burst_per_address`: calls without a valid key of one address in a second; 0 is no limit.
    pub burst_per_address: u32,
    /// `keys_per_address`: keys that one address may ask for in an hour; 0 is no limit.
    pub keys_per_address: u32,
    /// `mcp_origins`: web pages that may speak to the MCP endpoint.
    pub mcp_origins: Origins,
    /// `trusted_proxies`: who is believed about where a call comes from.
    pub trusted_proxies: TrustedProxies,
    /// `secret_file`: the secret of the vault; unset: a file beside the event store.
    pub secret_file: Option<PathBuf>,
    /// `mail`: how mails leave.
    pub mail: Route,
    /// `mail_from`: whom they are from; set where they leave by a mail server.
    pub mail_from: Option<Sender>,
    /// `contact`: how people reach the operator.
    pub contact: Option<Contact>,
    /// `picture_hosts`: the hosts that pictures may be fetched from; unset: any.
    pub picture_hosts: Option<Hosts>,
    /// `picture_addresses`: the addresses that they may be fetched from.
    pub picture_addresses: PictureAddresses,
    /// `vectors`: what makes the vectors of projects that bring none.
    pub vectors: Vectors,
    /// `snapshot`: what an empty read node begins with; unset: the first event.
    pub snapshot: Option<SnapshotSource>,
    /// `drain`: how long a node that was told to stop still serves.
    pub drain: Drain,
    /// `LOGGIA_FAULT`: the task that panics soon after the start of a role, for tests; in debug builds only.
    pub fault: Option<String>,
    /// `clock_offset`: how far the clock is set off.
    pub clock_offset: ClockOffset,
    /// `TRACEPARENT` and some of `OTEL_…`: whether spans are sent, and the trace of a command.
    pub tracing: Tracing,
    /// A sentence for each variable that is none of a setting.
    pub unknown_variables: Vec<String>,
    /// Where each value comes from, for `loggia config`.
    pub resolved: Vec<Resolved>,
}

/// One setting as `loggia config` shows it.
#[derive(Debug, Clone, Serialize)]
pub struct Resolved {
    /// Its name in the file.
    pub name: &'static str,
    /// Its value, secrets hidden; null while unset.
    pub value: Option<String>,
    /// Where the value comes from: a flag, a variable, a file or the default.
    pub source: String,
    /// What it is when nobody sets it.
    pub default: Option<&'static str>,
    /// Its variable.
    pub variable: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// A setting that cannot be used.
#[derive(Debug)]
struct Fault {
    setting: &'static str,
    sentence: String,
}

/// The name of the person at the terminal, if the system tells it.
#[expect(clippy::disallowed_methods, reason = "the environment is read in this file only")]
pub fn user() -> Option<String> {
    std::env::var("USER").ok().filter(|name| !name.is_empty())
}

/// Where systemd listens for what the process says of itself, if it does.
#[expect(clippy::disallowed_methods, reason = "the environment is read in this file only")]
pub fn notify_socket() -> Option<String> {
    std::env::var("NOTIFY_SOCKET").ok().filter(|socket| !socket.is_empty())
}

impl Config {
    /// Reads and checks all settings.
    ///
    /// # Errors
    ///
    /// Fails with a line for each setting that cannot be used: its name, where it was set, and what is wanted.
    pub fn read(sources: &Sources) -> Result<Config> {
        let mut faults = Vec::new();
        let mut given = Given::of(sources, &mut faults);
        loop {
            match Config::of(&given, sources) {
                Ok(config) if faults.is_empty() => return Ok(config),
                Ok(_) => break,
                // Without it the others are checked too.
                Err(Fault { setting, sentence }) => {
                    faults.push(sentence);
                    if !given.remove(setting) {
                        break;
                    }
                }
            }
        }
        bail!(faults.join("\n"))
    }

    /// The settings that have another value than by default.
    pub fn set(&self) -> impl Iterator<Item = &Resolved> {
        self.resolved.iter().filter(|resolved| !matches!(resolved.source.as_str(), "default" | "unset"))
    }

    fn of(given: &Given, sources: &Sources) -> Result<Config, Fault> {
        let values = Values { given };
        let calls = |name| Ok(values.required::<WholeNumber>(name)?.0);
        Ok(Config {
            data: values.parse("data")?.unwrap_or_else(|| "./data".into()),
            listen: values.required::<ListenAddress>("listen")?.0,
            public_url: values.text("public_url").map(|url| public_url(&url, &values)).transpose()?,
            site: site_texts(&values)?,
            admin_listen: values.parse::<ListenAddress>("admin_listen")?.map(|address| address.0),
            admin_hosts: values.parse("admin_hosts")?,
            nats_url: values.text("nats_url"),
            nats_creds: values.parse("nats_creds")?,
            nats_ca: values.parse("nats_ca")?,
            nats_replicas: values.required("nats_replicas")?,
            nats_server: values.parse("nats_server")?,
            store: values.parse("store")?,
            log: values.required("log")?,
            log_format: values.required("log_format")?,
            auth: values.required("auth")?,
            tiers: values.required("tiers")?,
            prices: values.required("prices")?,
            checkout: values.parse("checkout")?.unwrap_or_default(),
            stripe_secret: values.parse("stripe_secret")?,
            stripe: stripe(&values)?,
            metering: values.required("metering")?,
            spool_limit: values.required("spool_limit")?,
            burst_per_key: calls("burst_per_key")?,
            burst_per_address: calls("burst_per_address")?,
            keys_per_address: calls("keys_per_address")?,
            mcp_origins: values.required("mcp_origins")?,
            trusted_proxies: values.parse("trusted_proxies")?.unwrap_or_default(),
            secret_file: values.parse("secret_file")?,
            mail: values.required("mail")?,
            mail_from: mail_from(&values)?,
            contact: values.parse("contact")?,
            picture_hosts: values.parse("picture_hosts")?,
            picture_addresses: values.required("picture_addresses")?,
            vectors: values.required("vectors")?,
            snapshot: values.parse("snapshot")?,
            drain: values.required("drain")?,
            fault: sources.environment.get(sources::FAULT).filter(|_| cfg!(debug_assertions)).cloned(),
            clock_offset: values.required("clock_offset")?,
            tracing: Tracing::of(&sources.environment),
            unknown_variables: sources.unknown_variables(),
            resolved: SETTINGS.iter().map(|setting| given.resolved(setting)).collect(),
        })
    }
}

/// Looks values up by name.
struct Values<'a> {
    given: &'a Given,
}

impl Values<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let setting = SETTINGS.iter().find(|setting| setting.name == name)?;
        self.given.value(setting).map(str::to_owned)
    }

    fn parse<T: std::str::FromStr<Err: fmt::Display>>(&self, name: &'static str) -> Result<Option<T>, Fault> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|error| self.given.fault(name, format_args!(", which cannot be used: {error}")))
    }

    fn required<T: std::str::FromStr<Err: fmt::Display>>(&self, name: &'static str) -> Result<T, Fault> {
        let value = self.parse(name)?;
        value.ok_or_else(|| Fault { setting: name, sentence: format!("{name} is not set") })
    }
}

fn public_url(url: &str, values: &Values<'_>) -> Result<String, Fault> {
    let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '<' | '>' | '?' | '#');
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if host.is_none_or(str::is_empty) || !url.chars().all(plain) {
        let wanted = "; an address such as https://catalog.example.org is wanted";
        return Err(values.given.fault("public_url", wanted));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn site_texts(values: &Values<'_>) -> Result<SiteTexts, Fault> {
    Ok(SiteTexts {
        name: values.parse::<SiteText<80>>("site_name")?.map(|text| text.0),
        tagline: values.parse::<SiteText<160>>("site_tagline")?.map(|text| text.0),
        about: values.parse::<SiteText<600>>("site_about")?.map(|text| text.0),
    })
}

fn stripe(values: &Values<'_>) -> Result<Terms, Fault> {
    let (tiers, mode) = (values.required::<Tiers>("tiers")?, values.required("stripe_mode")?);
    let prices: payments::Prices = values.parse("stripe_prices")?.unwrap_or_default();
    if let Some(unknown) = prices.tiers().find(|tier| tiers.get(tier).is_none()) {
        let reason = format_args!("; there is no tier “{unknown}”, the setting tiers has {tiers}");
        return Err(values.given.fault("stripe_prices", reason));
    }
    Ok(Terms { prices, tiers, mode })
}

/// The sender, which a mail server must be told.
fn mail_from(values: &Values<'_>) -> Result<Option<Sender>, Fault> {
    let from = values.parse("mail_from")?;
    if from.is_none() && matches!(values.required::<Route>("mail")?, Route::Server(_)) {
        let reason = ", and mail_from is not set; set it to whom mails are from, such as mail@example.org";
        return Err(values.given.fault("mail", reason));
    }
    Ok(from)
}

#[cfg(test)]
mod tests;
