//! Names of NATS streams and subjects. No other module builds or parses a subject.

use crate::ids::{InvalidId, StreamId};
use crate::key::KeyId;
use crate::month::Month;
use crate::tier::TierName;

/// The JetStream stream of the event log; its sequence is the position in the log.
pub const EVENTS: &str = "EVENTS";

/// The key in the metadata of the stream [`EVENTS`] for the settings that the nodes of a cluster share: a JSON object
/// of names and values, published by the write side.
pub const SHARED_SETTINGS: &str = "loggia.settings";

/// The subjects of the stream [`EVENTS`].
pub const EVENT_SUBJECTS: [&str; 2] = ["loggia.curation.*", "loggia.account.*"];

/// The JetStream stream of calls over the quota, which was found after they had been answered.
pub const OVERRUN: &str = "USAGE_OVERRUN";

/// The subjects of the stream [`OVERRUN`].
pub const OVERRUN_SUBJECTS: &str = "loggia.overrun.*.*.*";

/// The prefix of all subjects of metered calls.
const USAGE: &str = "loggia.usage.";

/// Requests for pages of the usage ledger.
pub const READ_USAGE: &str = "loggia.read.usage";

/// The queue group of the command service.
pub const COMMAND_QUEUE: &str = "loggia-write";

/// The subjects of all commands.
pub const COMMANDS: &str = "loggia.command.*";

/// Requests for events from the event store.
pub const READ_EVENTS: &str = "loggia.read.events";

/// Uploads of pictures to the write side, in parts.
pub const PUT_PICTURE: &str = "loggia.media.put";

/// Requests for files of stored pictures, in parts.
pub const READ_PICTURE: &str = "loggia.media.read";

/// Returns the subject for events of a stream.
pub fn of_stream(stream: &StreamId) -> String {
    let context = match stream.category() {
        "project" => "curation",
        other => other,
    };
    format!("loggia.{context}.{}", stream.key())
}

/// Returns the JetStream stream of a tier's metered calls.
pub fn usage_stream(tier: &TierName) -> String {
    format!("USAGE_{}", tier.as_str().to_ascii_uppercase())
}

/// Returns the subjects of a tier's stream.
pub fn usage_subjects(tier: &TierName) -> String {
    format!("loggia.usage.{tier}.*.*")
}

/// Returns the subject of a metered call. Calls of one subject share one monthly quota.
pub fn usage(tier: &TierName, key: KeyId, month: Month) -> String {
    allowance("usage", tier, key, month)
}

/// Returns the subject of a call over the quota, which was found after it had been answered.
pub fn overrun(tier: &TierName, key: KeyId, month: Month) -> String {
    allowance("overrun", tier, key, month)
}

/// Returns the pattern for all keys of a tier in a month; `context` is `usage` or `overrun`.
pub fn of_all_keys(context: &str, tier: &TierName, month: Month) -> String {
    format!("loggia.{context}.{tier}.*.{month}")
}

/// Returns the subject of one key in a month; `context` is `usage` or `overrun`.
pub fn allowance(context: &str, tier: &TierName, key: KeyId, month: Month) -> String {
    format!("loggia.{context}.{tier}.{key}.{month}")
}

/// Returns the subject under which calls of a usage subject or pattern are restored to a stream that lost them and is
/// closed to new calls. No tier has a name that begins like this. Returns `None` for any other subject.
pub fn returning(usage: &str) -> Option<String> {
    let rest = usage.strip_prefix(USAGE)?;
    (!rest.starts_with('_')).then(|| format!("{USAGE}_{rest}"))
}

/// Returns the subject or pattern from which [`returning`] made this one.
pub fn returned(returning: &str) -> Option<String> {
    let rest = returning.strip_prefix(USAGE)?.strip_prefix('_')?;
    Some(format!("{USAGE}{rest}"))
}

/// Returns tier, key and month of a subject that [`usage`] or [`overrun`] made.
pub fn usage_of(subject: &str) -> Result<(TierName, KeyId, Month), InvalidId> {
    let invalid = || InvalidId {
        text: subject.to_owned(),
        expected: "a subject such as loggia.usage.free.Ab3dEf9h.2026-11",
    };
    let mut parts = subject.split('.');
    let head = (parts.next(), parts.next());
    if !matches!(head, (Some("loggia"), Some("usage" | "overrun"))) {
        return Err(invalid());
    }
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(tier), Some(key), Some(month), None) => Ok((
            tier.parse().map_err(|_| invalid())?,
            key.parse().map_err(|_| invalid())?,
            month.parse().map_err(|_| invalid())?,
        )),
        _ => Err(invalid()),
    }
}

/// Returns the subject on which the write side publishes the head of the log for the owners of this inbox. Only the
/// write side may publish there, and only the inbox's role may subscribe.
pub fn log_head(inbox: &str) -> String {
    format!("{inbox}.log_head")
}

/// Returns the subject of a command.
pub fn command(name: &str) -> String {
    format!("loggia.command.{name}")
}

/// Requests for the status of every process that may subscribe; write sides use [`NODES_WRITING`].
pub const NODES: &str = "loggia.control.all.node";

/// Requests for the status of every write side, whose NATS user subscribes to nothing under `loggia.control`.
pub const NODES_WRITING: &str = "loggia.command.node";

/// Returns the subject of control requests to the projection workers of a node.
pub fn control(node: &str, verb: &str) -> String {
    format!("loggia.control.{node}.{verb}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_calls_are_restored_on_separate_subjects() {
        for (usage, returns) in [
            ("loggia.usage.free.*.*", "loggia.usage._free.*.*"),
            ("loggia.usage.free.Ab3dEf9h.2026-11", "loggia.usage._free.Ab3dEf9h.2026-11"),
        ] {
            assert_eq!(returning(usage).as_deref(), Some(returns));
            assert_eq!(returned(returns).as_deref(), Some(usage));
            assert_eq!((returning(returns), returned(usage)), (None, None));
        }
        assert_eq!((returning(OVERRUN_SUBJECTS), returned(OVERRUN_SUBJECTS)), (None, None));
        assert!(usage_of("loggia.usage._free.Ab3dEf9h.2026-11").is_err(), "it belongs to no tier");
    }

    #[test]
    fn a_stream_has_a_subject() {
        for (stream, subject) in [
            ("project-01ARZ3NDEKTSV4RRFFQ69G5FAV", "loggia.curation.01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            ("account-7f", "loggia.account.7f"),
        ] {
            let stream: StreamId = stream.parse().unwrap();
            assert_eq!(of_stream(&stream), subject);
        }
    }
}
