//! Metrics of the operator's routine work: the last backup and the expiry of certificates.

use std::path::PathBuf;

use backup::LastBackup;
use jiff::Timestamp;
use nats::certificates;
use prometheus_client::registry::Registry;

use super::{collect, gauge};

/// Adds the time of the last backup of a data folder, and the time when the first certificate of a file expires.
pub fn register(registry: &mut Registry, data: PathBuf, ca: Option<PathBuf>) {
    collect(registry, move |mut encoder| {
        if let Some(last) = LastBackup::of(&data) {
            let help = "When the last backup of the data folder was made, in Unix seconds.";
            gauge(&mut encoder, "loggia_backup_timestamp_seconds", help, seconds(last.created))?;
        }
        let expiries = ca.as_deref().and_then(|path| certificates::expiries(path).ok());
        if let Some(first) = expiries.unwrap_or_default().into_iter().min() {
            let help = "When the first certificate of nats_ca ends, in Unix seconds.";
            gauge(&mut encoder, "loggia_certificate_end_timestamp_seconds", help, seconds(first))?;
        }
        Ok(())
    });
}

fn seconds(time: Timestamp) -> u64 {
    u64::try_from(time.as_second()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
