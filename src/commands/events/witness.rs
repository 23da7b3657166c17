//! What another place knows of a log, and whether the log still agrees with it. The hash chain alone cannot show that
//! its end was cut off or that all of it was written again: for that a hash has to be kept elsewhere.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use event_log::{Damage, EventLog};
use jiff::Timestamp;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};

/// An event that was seen: its position and its hash, which covers all events up to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// Whose log it is.
    pub(super) store: Option<String>,
    pub(super) position: Position,
    pub(super) hash: Hash,
    /// When the event happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<Timestamp>,
}

impl fmt::Display for Known {
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

/// A snapshot's manifest, as far as it tells of the log.
#[derive(Deserialize)]
struct Snapshot {
    store: Option<String>,
    models: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    position: Position,
    /// Of the last applied event; absent in snapshots of older versions, and of the counters.
    hash: Option<Hash>,
}

/// Reads what a file knows of a log: the manifest of a backup or a snapshot (or its folder), or a printed head.
pub(super) fn read(path: &Path) -> Result<Vec<Known>> {
    let file = if path.is_dir() { path.join("manifest.json") } else { path.to_owned() };
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    let known = parse(&text).with_context(|| {
        format!(
            "{} is neither the manifest of a backup or a snapshot nor what `loggia events head` prints",
            file.display()
        )
    })?;
    if known.is_empty() {
        bail!(
            "{} tells positions of the log without their hashes: it was taken by an older version; take a new one, or \
             compare with a backup",
            file.display()
        );
    }
    Ok(known)
}

fn parse(text: &str) -> Option<Vec<Known>> {
    if let Ok(known) = serde_json::from_str(text) {
        return Some(vec![known]);
    }
    if let Ok(Snapshot { store, models }) = serde_json::from_str(text) {
        let known = |model: Model| {
            let (store, position) = (store.clone(), model.position);
            model.hash.map(|hash| Known { store, position, hash, time: None })
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
    Some(vec![Known { store, position: position?, hash: hash?, time: None }])
}

/// Compares a log that is whole in itself with what a file knows of it, and returns the first difference.
pub(super) async fn compare(store: &EventLog, known: &[Known], file: &Path) -> Result<Option<Damage>> {
    let (head, own, file) = (store.head().await?, store.store_id().to_string(), file.display());
    for Known { store: whose, position, hash, .. } in known {
        if let Some(other) = whose.as_ref().filter(|whose| **whose != own) {
            bail!("{file} is of another log: that of the store {other}; this one is {own}");
        }
        if *position > head.position {
            let reason = format!("the event is missing; {file} knows the log up to position {position}");
            return Ok(Some(Damage { position: head.position.next(), reason }));
        }
        let before = Position(position.0.saturating_sub(1));
        let found = match *position {
            Position::START => Some(Hash::GENESIS),
            _ => store.read_all(before, 1).await?.pop().map(|event| event.hash),
        };
        if found != Some(*hash) {
            let reason = format!(
                "the event has another hash than in {file}: it, or an event before it, was written again"
            );
            return Ok(Some(Damage { position: *position, reason }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known {
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
        assert_eq!(parse(&text), Some(vec![Known { time: None, ..known() }]));
        assert_eq!(parse(&serde_json::to_string(&known()).unwrap()), Some(vec![known()]));
    }

    #[test]
    fn manifests_are_read() {
        let hash = "ab".repeat(32);
        let without_time = Known { time: None, ..known() };
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
    fn anything_else_is_not_read() {
        for text in ["", "{}", "position 7", "hello", "position seven hash ab", "[1]"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(r#"{"store":null,"models":[]}"#), Some(Vec::new()));
    }
}
