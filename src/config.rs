//! The settings of Loggia, read once and checked before anything opens. A setting is one entry in the file of its section; how
//! flags, variables and the settings file are layered is in `crates/settings`.

mod access;
mod accounts;
mod limits;
mod log;
mod media;
mod nats;
mod payments;
mod process;
mod server;
mod site;
mod tracing;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ::settings::{ResolvedSetting, SettingError, Sources, Table, Value, Values};
use anyhow::Result;

pub use access::{Access, Auth, Http};
pub use accounts::Accounts;
pub use limits::Limits;
pub use log::{Log, LogFilter, LogFormat};
pub use media::{Media, Vectors};
pub use nats::{Nats, Replicas};
pub use payments::Payments;
pub use process::{Process, StartWith};
pub use server::{Operators, Server, Store};
pub use site::Site;
pub use tracing::Tracing;

/// All settings, by section.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address and the data of the process.
    pub server: Server,
    /// The name and the texts of the site.
    pub site: Site,
    /// The listener for operators.
    pub operators: Operators,
    pub nats: Nats,
    pub store: Store,
    pub log: Log,
    /// Who may call.
    pub access: Access,
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
    pub panicking_task: Option<String>,
    /// `TRACEPARENT` and some of `OTEL_…`: whether spans are sent, and the trace of a command.
    pub tracing: Tracing,
    /// The settings file that was read, if there is one.
    pub settings_file: Option<PathBuf>,
    /// A sentence for each variable that begins with `LOGGIA_` and is not that of a setting.
    pub unknown_variables: Vec<String>,
    /// Every setting with the source of its value, for `loggia config`.
    pub resolved: Vec<ResolvedSetting>,
}

const PANICKING_TASK: &str = "LOGGIA_FAULT";

/// All settings, in the order in which they are shown.
pub static SETTINGS: Table = Table {
    program: "loggia",
    sections: &[
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
    ],
    other_variables: &[
        PANICKING_TASK,
        tracing::ENDPOINTS[0],
        tracing::ENDPOINTS[1],
        tracing::DISABLED,
        tracing::EXPORTER,
        tracing::PARENT,
    ],
};

/// Reads the sources of settings of this process: its variables, and the file that is named or `loggia.toml` in the
/// current folder. Fails if the file cannot be read, and if the variable of a setting is not UTF-8.
pub fn sources(flags: BTreeMap<String, String>, file: Option<PathBuf>) -> Result<Sources> {
    #[expect(clippy::disallowed_methods, reason = "the environment is read in this file only")]
    let variables = std::env::vars_os();
    Ok(Sources::of_process(&SETTINGS, flags, variables, file)?)
}

/// Returns the name of the user at the terminal, if the system has it.
#[expect(clippy::disallowed_methods, reason = "the environment is read in this file only")]
pub fn user() -> Option<String> {
    std::env::var("USER").ok().filter(|name| !name.is_empty())
}

/// Returns the socket on which systemd listens for the state of the process, if it does.
#[expect(clippy::disallowed_methods, reason = "the environment is read in this file only")]
pub fn notify_socket() -> Option<String> {
    std::env::var("NOTIFY_SOCKET").ok().filter(|socket| !socket.is_empty())
}

impl Config {
    /// Reads and checks all settings. Fails with a line for each setting that is invalid: its name, value and source,
    /// and what is expected.
    pub fn read(sources: &Sources) -> Result<Config> {
        Ok(SETTINGS.read(sources, |values| Config::of(values, sources))?)
    }

    pub fn set(&self) -> impl Iterator<Item = &ResolvedSetting> {
        self.resolved.iter().filter(|setting| setting.is_set())
    }

    fn of(values: &Values<'_>, sources: &Sources) -> Result<Config, SettingError> {
        let config = Config {
            server: Server::read(values)?,
            site: Site::read(values)?,
            operators: Operators::read(values)?,
            nats: Nats::read(values)?,
            store: Store::read(values)?,
            log: Log::read(values)?,
            access: Access::read(values)?,
            payments: Payments::read(values)?,
            limits: Limits::read(values)?,
            http: Http::read(values)?,
            accounts: Accounts::read(values)?,
            media: Media::read(values)?,
            process: Process::read(values)?,
            panicking_task: sources
                .environment
                .get(PANICKING_TASK)
                .filter(|_| cfg!(debug_assertions))
                .cloned(),
            tracing: Tracing::of(&sources.environment),
            settings_file: sources.file.as_ref().map(|(path, _)| path.clone()),
            unknown_variables: sources.unknown_variables(&SETTINGS),
            resolved: values.resolved(),
        };
        config.payments.check(&config.access.tiers, &Value::new(values, "stripe_prices"))?;
        config.accounts.check(&Value::new(values, "mail"))?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests;
