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
mod tests {
    use schemas::ids::Position;

    use super::*;

    #[test]
    fn backup_and_certificate_are_shown_once_they_exist() {
        let folder = tempfile::tempdir().unwrap();
        let (mut registry, ca) = (Registry::default(), folder.path().join("ca.pem"));
        register(&mut registry, folder.path().into(), Some(ca.clone()));
        let samples = || {
            let mut text = String::new();
            prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
            text.lines()
                .filter(|line| line.starts_with("loggia_"))
                .map(str::to_owned)
                .collect::<Vec<String>>()
        };
        assert_eq!(samples(), [""; 0]);
        let (created, position) = ("2026-11-23T03:20:00Z".parse().unwrap(), Position(7));
        LastBackup { created, position, folder: "/backups/one".into() }.record(folder.path());
        let certificate = rcgen::generate_simple_self_signed(vec!["nats.example.org".to_owned()]).unwrap();
        std::fs::write(&ca, certificate.cert.pem()).unwrap();
        let expected = [
            "loggia_backup_timestamp_seconds 1795404000",
            "loggia_certificate_end_timestamp_seconds 67090118400",
        ];
        assert_eq!(samples(), expected);
    }
}
