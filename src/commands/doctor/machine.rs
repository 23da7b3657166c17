//! Checks of the machine: modes of files, the limit of open files, the clock, certificates.

use daemon::resources::raise_open_files_limit;
use data_folder::DataFolder;
use jiff::{SignedDuration, Timestamp};
use nats::certificates;

use super::Findings;
use crate::config::Config;

/// How long before its expiry a certificate should be replaced.
const RENEWAL: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The open files of a node with default settings: 10,000 connections, and its own files.
const NODE_FILES: u64 = 10_256;

/// Adds what should be fixed to the findings.
pub(super) fn check(config: &Config, now: Timestamp, findings: &mut Findings) {
    for path in DataFolder::new(&config.server.data).open_to_others() {
        let path = path.display();
        findings.warn(
            "folder",
            format!("{path} is open to other users of this machine; close it with `chmod go= {path}`"),
        );
    }
    match raise_open_files_limit() {
        Ok(files) if files < NODE_FILES => findings.warn(
            "ulimit",
            format!("a process may have {files} files open, and a node serves fewer connections than 10,000 then; raise the limit (ulimit -n, LimitNOFILE, ulimits)"),
        ),
        // A limit that is too low to start is a finding of `loggia config --check`.
        _ => {}
    }
    if !config.process.clock_offset.0.is_zero() {
        findings.warn("clock_offset", "the clock is set off, as for rehearsals; unset it in production");
    }
    if let Some(path) = &config.nats.ca {
        match certificates::expiries(path) {
            Ok(expiries) => check_certificates(&path.display().to_string(), &expiries, now, findings),
            Err(error) => {
                findings.critical("nats_ca", format!("{} cannot be read: {error:#}", path.display()))
            }
        }
    }
}

fn check_certificates(file: &str, expiries: &[Timestamp], now: Timestamp, findings: &mut Findings) {
    let renewal = "renew it with `loggia nats config`";
    for end in expiries {
        if *end <= now {
            findings.critical("nats_ca", format!("a certificate in {file} expired on {end:.0}; {renewal}"));
        } else if end.duration_since(now) < RENEWAL {
            findings.warn("nats_ca", format!("a certificate in {file} expires on {end:.0}; {renewal}"));
        }
    }
}

#[cfg(test)]
mod tests;
