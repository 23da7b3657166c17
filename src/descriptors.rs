//! How many files the process may have open, and how many of them may be connections.

use anyhow::{Result, bail};
use api::{Limits, TrustedProxies};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the process needs besides connections: databases, indexes, pictures, NATS.
const RESERVE: u64 = 256;
/// With a lower limit a node cannot serve.
const LEAST: u64 = 512;
/// With a lower limit a command may wait for a file that it can never open.
const LEAST_OF_A_COMMAND: u64 = 128;
/// The limit is raised no further: no node needs more, and some systems have no bound.
const MOST: u64 = 1 << 20;
/// One address may have one in so many of the connections.
const SHARE: usize = 4;
/// Connections to the operators' listener, which are out of the reserve.
const OPERATORS: usize = 64;

/// Raises the soft limit of open files to the hard one: systems commonly begin with 1,024.
fn raise() -> Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(MOST).min(MOST);
    if current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })?;
    }
    Ok(())
}

/// Returns what connections may cost: at most as many as leave the process its own files, and a quarter of them from one
/// address that is none of these proxies'.
///
/// # Errors
///
/// Fails where too few files may be open.
pub fn limits(proxies: TrustedProxies) -> Result<Limits> {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(MOST);
    let connections = connections(files, Limits::default().connections)?;
    tracing::info!(files, connections, "files that may be open, and connections at once");
    Ok(Limits { connections, per_address: connections / SHARE, proxies, ..Limits::default() })
}

/// Checks that enough files may be open, once the limit is as high as it can be.
///
/// # Errors
///
/// Fails where too few may be open.
pub fn enough() -> Result<()> {
    connections(files()?, 0).map(drop)
}

/// Checks that enough files may be open for a command, which opens databases but takes no connections.
///
/// # Errors
///
/// Fails where too few may be open.
pub fn enough_for_a_command() -> Result<()> {
    at_least(LEAST_OF_A_COMMAND, files()?)
}

/// Returns how many files may be open, once the limit is as high as it can be.
pub fn files() -> Result<u64> {
    raise()?;
    Ok(getrlimit(Resource::Nofile).current.unwrap_or(MOST))
}

/// Returns the same for the operators' listener.
pub fn operators_limits() -> Limits {
    Limits { connections: OPERATORS, per_address: OPERATORS, ..Limits::default() }
}

fn connections(files: u64, most: usize) -> Result<usize> {
    at_least(LEAST, files)?;
    Ok(most.min(usize::try_from(files - RESERVE).unwrap_or(usize::MAX)))
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
mod tests {
    use super::*;

    #[test]
    fn connections_leave_the_process_its_own_files() {
        let of = |files| connections(files, 10_000).map_err(|error| error.to_string());
        assert_eq!([512, 1_024, 10_256, 1 << 20].map(of), [Ok(256), Ok(768), Ok(10_000), Ok(10_000)]);
        let refused = of(511).unwrap_err();
        assert!(refused.starts_with("this process may have 511 files open, and needs 512;"), "{refused}");
    }
}
