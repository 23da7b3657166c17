//! The state of the whole process: its build, its clock, and how many files and connections it may have open.

use std::sync::LazyLock;

use anyhow::{Result, bail};
use api::{Limits, TrustedProxies};
use daemon::resources::raise_open_files_limit;
use jiff::{SignedDuration, Timestamp};
use schemas::clock::Clock;

/// The release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from; `None` in builds for tests, and if neither git nor `LOGGIA_COMMIT` names it.
pub const COMMIT: Option<&str> = option_env!("LOGGIA_COMMIT");

/// The features that it was built with, separated by commas.
pub static FEATURES: LazyLock<String> = LazyLock::new(|| {
    let all = [
        (cfg!(feature = "eventstore"), "eventstore"),
        (cfg!(feature = "jemalloc"), "jemalloc"),
        (cfg!(feature = "otlp"), "otlp"),
    ];
    let built: Vec<&str> = all.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name).collect();
    if built.is_empty() { "none".to_owned() } else { built.join(",") }
});

/// How this program identifies itself in HTTP requests.
pub const USER_AGENT: &str = concat!("Loggia/", env!("CARGO_PKG_VERSION"));

/// Returns what `loggia --version` prints after the name.
pub fn long_version() -> String {
    format!("{VERSION} (commit {}; features: {})", COMMIT.unwrap_or("unknown"), *FEATURES)
}

/// The clock of this process: the machine's, or ahead of it by the setting `clock_offset`.
static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::system);

pub fn set_clock_ahead(by: SignedDuration) {
    CLOCK.advance(by);
}

pub fn warn_of_clock_offset() {
    let by = CLOCK.offset();
    if !by.is_zero() {
        tracing::warn!(
            "clock_offset is set: the clock of this process is {by:#} off, and calls are counted in the month that it shows; \
             for rehearsals only"
        );
    }
}

pub fn clock() -> Clock {
    CLOCK.clone()
}

/// Returns the time of the clock of this process.
pub fn now() -> Timestamp {
    CLOCK.now()
}

/// The open files that the process needs besides connections: databases, indexes, pictures, NATS.
const RESERVED_FILES: u64 = 256;
/// With a lower limit of open files a node cannot serve.
const LEAST_FILES: u64 = 512;
/// With a lower limit of open files a command may wait for a file that it can never open.
const LEAST_FILES_OF_A_COMMAND: u64 = 128;
/// The part of the connections that one address may have, as a divisor: 5 %, so that a few addresses cannot have all of them.
const SHARE_OF_AN_ADDRESS: usize = 20;
/// Connections to the operators' listener, whose files are among those reserved.
const OPERATOR_CONNECTIONS: usize = 64;

/// Returns the limits of connections, so that the process keeps the files that it reserves: a twentieth of them from
/// one address other than these proxies. Fails if too few files may be open.
pub fn connection_limits(proxies: TrustedProxies) -> Result<Limits> {
    let files = raise_open_files_limit()?;
    let connections = connections(files, Limits::default().connections)?;
    tracing::info!(files, connections, "files that may be open, and connections at once");
    let per_address = connections / SHARE_OF_AN_ADDRESS;
    Ok(Limits { connections, per_address, proxies, ..Limits::default() })
}

/// Returns the limits of connections to the operators' listener.
pub fn operator_limits() -> Limits {
    Limits { connections: OPERATOR_CONNECTIONS, per_address: OPERATOR_CONNECTIONS, ..Limits::default() }
}

/// Checks that a node may open enough files, and raises the limit as far as possible. Fails if too few may be open.
pub fn check_open_files() -> Result<()> {
    connections(raise_open_files_limit()?, 0).map(drop)
}

/// Checks that a command may open enough files; it opens databases but accepts no connections. Raises the limit as far
/// as possible. Fails if too few may be open.
pub fn check_open_files_of_a_command() -> Result<()> {
    at_least(LEAST_FILES_OF_A_COMMAND, raise_open_files_limit()?)
}

fn connections(files: u64, most: usize) -> Result<usize> {
    at_least(LEAST_FILES, files)?;
    Ok(most.min(usize::try_from(files - RESERVED_FILES).unwrap_or(usize::MAX)))
}

fn at_least(least: u64, files: u64) -> Result<()> {
    if files < least {
        bail!(
            "this process may have {files} files open, and needs {least}; raise the limit (ulimit -n, LimitNOFILE, \
             ulimits)"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
