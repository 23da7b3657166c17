//! Settings: read once, from flags, then `LOGGIA_*` variables, then `loggia.toml`, and checked before anything opens. A
//! setting is one entry in the file of its section.

mod access;
mod accounts;
mod http;
mod limits;
mod log;
mod media;
mod nats;
mod operators;
mod payments;
mod process;
mod section;
mod server;
mod setting;
mod site;
mod sources;
mod store;
mod tracing;

use anyhow::{Result, bail};
use serde::Serialize;

pub use access::{Access, Auth};
pub use accounts::Accounts;
pub use http::Http;
pub use limits::{Limits, Metering};
pub use log::{Log, LogFilter, LogFormat};
pub use media::{Hosts, Media, PictureAddresses, Vectors};
pub use nats::{Nats, Replicas};
pub use operators::Operators;
pub use payments::Payments;
pub use process::{Process, SnapshotSource};
use section::Value;
pub use server::Server;
pub use setting::Setting;
pub use site::Site;
use sources::Given;
pub use sources::Sources;
pub use store::Store;
pub use tracing::Tracing;

/// All settings, checked, by section.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address and the data of the process.
    pub server: Server,
    /// The name and the texts of the site.
    pub site: Site,
    /// The listener for operators.
    pub operators: Operators,
    /// The NATS servers.
    pub nats: Nats,
    /// The event store.
    pub store: Store,
    /// The log.
    pub log: Log,
    /// Who may call.
    pub access: Access,
    /// Payments by Stripe.
    pub payments: Payments,
    /// The spool and the rate limits.
    pub limits: Limits,
    /// Trusted origins and proxies.
    pub http: Http,
    /// The vault and mails.
    pub accounts: Accounts,
    /// Pictures and vectors.
    pub media: Media,
    /// The start and the end of the process, and its clock.
    pub process: Process,
    /// `LOGGIA_FAULT`: the task that panics soon after the start of a role, for tests; in debug builds only.
    pub fault: Option<String>,
    /// `TRACEPARENT` and some of `OTEL_…`: whether spans are sent, and the trace of a command.
    pub tracing: Tracing,
    /// A sentence for each variable that is none of a setting.
    pub unknown_variables: Vec<String>,
    /// Where each value comes from, for `loggia config`.
    pub resolved: Vec<Resolved>,
}

/// The settings of all sections, in the order in which they are shown.
const SECTIONS: [&[Setting]; 13] = [
    Server::SETTINGS,
    Site::SETTINGS,
    Operators::SETTINGS,
    Nats::SETTINGS,
    Store::SETTINGS,
    Access::SETTINGS,
    Payments::SETTINGS,
    Limits::SETTINGS,
    Http::SETTINGS,
    Accounts::SETTINGS,
    Media::SETTINGS,
    Process::SETTINGS,
    Log::SETTINGS,
];

/// Returns all settings, in the order in which they are shown.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.into_iter().flatten()
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
    /// The value if it is not set.
    pub default: Option<&'static str>,
    /// Its variable.
    pub variable: String,
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
        let config = Config {
            server: Server::read(given)?,
            site: Site::read(given)?,
            operators: Operators::read(given)?,
            nats: Nats::read(given)?,
            store: Store::read(given)?,
            log: Log::read(given)?,
            access: Access::read(given)?,
            payments: Payments::read(given)?,
            limits: Limits::read(given)?,
            http: Http::read(given)?,
            accounts: Accounts::read(given)?,
            media: Media::read(given)?,
            process: Process::read(given)?,
            fault: sources.environment.get(sources::FAULT).filter(|_| cfg!(debug_assertions)).cloned(),
            tracing: Tracing::of(&sources.environment),
            unknown_variables: sources.unknown_variables(),
            resolved: settings().map(|setting| given.resolved(setting)).collect(),
        };
        config.payments.check(&config.access.tiers, &Value::new(given, "stripe_prices"))?;
        config.accounts.check(&Value::new(given, "mail"))?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests;
