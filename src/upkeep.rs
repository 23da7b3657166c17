//! What an operator does again now and then, and when it was done last: backups and certificates.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::Timestamp;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};
use x509_parser::pem::Pem;

/// The last backup that was made of a data folder, as a file of the folder says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastBackup {
    /// When.
    pub created: Timestamp,
    /// The position of its last event.
    pub position: Position,
    /// Where it was made.
    pub folder: PathBuf,
}

impl LastBackup {
    /// Notes it in a data folder. A folder that cannot be written has no note.
    pub fn note(&self, data: &Path) {
        let path = file(data);
        let written = serde_json::to_vec(self).map_err(Into::into).and_then(|text| fs::write(&path, text));
        if let Err(error) = written {
            tracing::debug!(%error, "that a backup was made cannot be noted in {}", path.display());
        }
    }

    /// Returns the last one of a data folder, if one was noted.
    pub fn of(data: &Path) -> Option<LastBackup> {
        serde_json::from_slice(&fs::read(file(data)).ok()?).ok()
    }
}

fn file(data: &Path) -> PathBuf {
    data.join("last_backup.json")
}

/// Returns when each certificate of a PEM file ends.
///
/// # Errors
///
/// Fails where the file cannot be read, and where it is not PEM or holds something that is no certificate.
pub fn certificate_ends(path: &Path) -> Result<Vec<Timestamp>> {
    ends(&fs::read(path)?)
}

fn ends(text: &[u8]) -> Result<Vec<Timestamp>> {
    let mut ends = Vec::new();
    for block in Pem::iter_from_buffer(text) {
        let block = block.context("it is not PEM")?;
        if block.label == "CERTIFICATE" {
            let certificate = block.parse_x509().context("it holds something that is no certificate")?;
            ends.push(Timestamp::from_second(certificate.validity().not_after.timestamp())?);
        }
    }
    Ok(ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_each_certificate_is_read() {
        let certificate = rcgen::generate_simple_self_signed(vec!["nats.example.org".to_owned()]).unwrap();
        let pem = certificate.cert.pem();
        // What rcgen sets where nothing is said.
        assert_eq!(
            ends((pem.clone() + &pem).as_bytes()).unwrap(),
            ["4096-01-01T00:00:00Z".parse().unwrap(); 2]
        );
        assert!(ends(b"").unwrap().is_empty());
        let wrong = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(ends(wrong).unwrap_err().to_string(), "it holds something that is no certificate");
    }

    #[test]
    fn a_backup_is_noted_and_one_that_is_unreadable_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(LastBackup::of(folder.path()), None);
        let (created, position) = ("2026-11-23T03:20:00Z".parse().unwrap(), Position(7));
        let last = LastBackup { created, position, folder: "/backups/one".into() };
        last.note(folder.path());
        assert_eq!(LastBackup::of(folder.path()), Some(last));
        fs::write(file(folder.path()), "{").unwrap();
        assert_eq!(LastBackup::of(folder.path()), None);
    }
}
