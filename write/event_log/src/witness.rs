//! Positions and hashes of a log that were kept elsewhere, and whether the log still agrees with them. The hash chain alone cannot
//! show that the end of the log was cut off, or that all of it was written again.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};

use crate::{Damage, EventLog, StoreError};

/// The most bytes of a file with heads: more than the manifest of any snapshot has.
const MAX_BYTES: u64 = 8 << 20;

/// The position and the hash of an event, which covers all events up to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownHead {
    /// The id of the store; `None` in old manifests.
    pub store: Option<String>,
    /// The position of the event.
    pub position: Position,
    /// The hash of the event.
    pub hash: Hash,
    /// When the event happened, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
}

impl fmt::Display for KnownHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {} hash {}", self.position, self.hash)?;
        if let Some(store) = &self.store {
            write!(f, " store {store}")?;
        }
        if let Some(time) = &self.time {
            write!(f, " time {time}")?;
        }
        Ok(())
    }
}

/// The part of a snapshot's manifest that is about the log.
#[derive(Deserialize)]
struct Snapshot {
    store: Option<String>,
    models: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    position: Position,
    /// The hash of the last applied event; absent for the counters, and in snapshots of older versions.
    hash: Option<Hash>,
}

/// Why a file has no heads of a log to compare with.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// The file cannot be read.
    #[error("{} cannot be read", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is of another kind.
    #[error(
        "{} is neither the manifest of a backup or a snapshot nor what `loggia events head` prints",
        .0.display()
    )]
    Unknown(PathBuf),
    /// The file is the manifest of a snapshot of an old version.
    #[error(
        "{} has positions of the log without their hashes: it was taken by an older version; take a new one, or compare with a \
         backup",
        .0.display()
    )]
    NoHashes(PathBuf),
    /// The file is about another log.
    #[error("{} is of another log: that of the store {other}; this one is {own}", .file.display())]
    OtherLog {
        /// The file.
        file: PathBuf,
        /// The id of the store in the file.
        other: String,
        /// The id of the store that is compared.
        own: String,
    },
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] StoreError),
}

/// Reads the heads in a file: the manifest of a backup or a snapshot (or its folder), or the output of `loggia events head`.
///
/// # Errors
///
/// Fails if the file cannot be read, is of another kind, or has no hashes.
pub fn read(path: &Path) -> Result<Vec<KnownHead>, WitnessError> {
    let (file, text) = if path.is_dir() {
        let manifest = path.join("manifest.json");
        let text = bounded_file::read_to_string(&manifest, MAX_BYTES);
        (manifest, text)
    } else {
        // What is named itself may be a pipe, such as the output of another command.
        let text = File::open(path).and_then(|file| bounded_file::read_all_to_string(file, MAX_BYTES));
        (path.to_owned(), text)
    };
    let text = match text {
        Ok(text) => text,
        Err(source) => return Err(WitnessError::Unreadable { file, source }),
    };
    match parse(&text) {
        Some(known) if known.is_empty() => Err(WitnessError::NoHashes(file)),
        Some(known) => Ok(known),
        None => Err(WitnessError::Unknown(file)),
    }
}

fn parse(text: &str) -> Option<Vec<KnownHead>> {
    if let Ok(known) = serde_json::from_str(text) {
        return Some(vec![known]);
    }
    if let Ok(Snapshot { store, models }) = serde_json::from_str(text) {
        let known = |model: Model| {
            let (store, position) = (store.clone(), model.position);
            model.hash.map(|hash| KnownHead { store, position, hash, time: None })
        };
        return Some(models.into_iter().filter_map(known).collect());
    }
    let mut words = text.split_whitespace();
    let (mut position, mut hash, mut store) = (None, None, None);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        match name {
            "position" => position = value.parse().ok().map(Position),
            "hash" => hash = value.parse().ok(),
            "store" => store = Some(value.to_owned()),
            "time" => {}
            _ => return None,
        }
    }
    Some(vec![KnownHead { store, position: position?, hash: hash?, time: None }])
}

/// Compares a log whose hash chain is intact with the heads of a file, and returns the first difference.
///
/// # Errors
///
/// Fails if the file is about another log, or the log cannot be read.
pub async fn compare(
    store: &EventLog,
    known: &[KnownHead],
    file: &Path,
) -> Result<Option<Damage>, WitnessError> {
    let (head, own) = (store.head().await?, store.store_id().to_string());
    for KnownHead { store: whose, position, hash, .. } in known {
        if let Some(other) = whose.as_ref().filter(|whose| **whose != own) {
            let (file, other) = (file.to_owned(), other.clone());
            return Err(WitnessError::OtherLog { file, other, own });
        }
        if *position > head.position {
            let file = file.display();
            let reason = format!("the event is missing; {file} has the log up to position {position}");
            return Ok(Some(Damage { position: head.position.next(), reason }));
        }
        let before = Position(position.0.saturating_sub(1));
        let found = match *position {
            Position::START => Some(Hash::GENESIS),
            _ => store.read_all(before, 1).await?.pop().map(|event| event.hash),
        };
        if found != Some(*hash) {
            let reason = format!(
                "the event has another hash than in {}: it, or an event before it, was written again",
                file.display()
            );
            return Ok(Some(Damage { position: *position, reason }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownHead {
        KnownHead {
            store: Some("01JD".into()),
            position: Position(7),
            hash: Hash([0xab; 32]),
            time: Some(Timestamp::UNIX_EPOCH),
        }
    }

    #[test]
    fn a_printed_head_is_read_in_both_forms() {
        let text = known().to_string();
        assert_eq!(text, format!("position 7 hash {} store 01JD time 1970-01-01T00:00:00Z", "ab".repeat(32)));
        assert_eq!(parse(&text), Some(vec![KnownHead { time: None, ..known() }]));
        assert_eq!(parse(&serde_json::to_string(&known()).unwrap()), Some(vec![known()]));
    }

    #[test]
    fn manifests_are_read() {
        let hash = "ab".repeat(32);
        let without_time = KnownHead { time: None, ..known() };
        let backup = format!(
            r#"{{"store":"01JD","position":7,"hash":"{hash}","created":"2026-11-20T08:00:00Z","sha256":"{hash}"}}"#
        );
        assert_eq!(parse(&backup), Some(vec![without_time.clone()]));
        let snapshot = format!(
            r#"{{"format":1,"store":"01JD","models":[{{"name":"catalog","position":7,"hash":"{hash}"}},{{"name":"counters","position":3}}]}}"#
        );
        assert_eq!(parse(&snapshot), Some(vec![without_time]));
    }

    #[test]
    fn only_a_file_of_limited_size_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("manifest.json");
        std::fs::create_dir(&manifest).unwrap();
        let reason = |path: &Path| match read(path).unwrap_err() {
            WitnessError::Unreadable { source, .. } => source.to_string(),
            other => panic!("{other}"),
        };
        assert_eq!(reason(folder.path()), "it is not a regular file");
        std::fs::remove_dir(&manifest).unwrap();
        File::create(&manifest).unwrap().set_len(3 << 30).unwrap();
        for path in [folder.path(), &manifest] {
            assert_eq!(reason(path), "it has more than 8388608 bytes, the most that a file of its kind has");
        }
    }

    #[test]
    fn other_texts_are_not_heads() {
        for text in ["", "{}", "position 7", "hello", "position seven hash ab", "[1]"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(r#"{"store":null,"models":[]}"#), Some(Vec::new()));
    }
}
