//! NATS names: streams, subjects and who speaks on them. The only place that forms or reads a subject.

use crate::ids::{InvalidId, StreamId};
use crate::key::KeyId;
use crate::month::Month;
use crate::tier::TierName;

/// The JetStream stream that carries the log `events`; its sequence is the log's position.
pub const EVENTS: &str = "EVENTS";

/// Where the metadata of the stream [`EVENTS`] holds the settings that the nodes of a cluster share: a JSON object of
/// names and values, as the write side has them.
pub const SHARED_SETTINGS: &str = "loggia.settings";

/// The subjects of the stream [`EVENTS`].
pub const EVENT_SUBJECTS: [&str; 2] = ["loggia.curation.*", "loggia.account.*"];

/// The JetStream stream that keeps calls which turned out to be over the quota after they had been answered.
pub const OVERRUN: &str = "USAGE_OVERRUN";

/// The subjects of the stream [`OVERRUN`].
pub const OVERRUN_SUBJECTS: &str = "loggia.overrun.*.*.*";

/// Begins every subject under which calls are metered.
const USAGE: &str = "loggia.usage.";

/// Where pages of the ledger are read, by request.
pub const READ_USAGE: &str = "loggia.read.usage";

/// The queue group of the command service: one of several answers.
pub const COMMAND_QUEUE: &str = "loggia-write";

/// Where all commands arrive.
pub const COMMANDS: &str = "loggia.command.*";

/// Where events are read straight from the event store, by request.
pub const READ_EVENTS: &str = "loggia.read.events";

/// Where the bytes of a picture are brought to the write side, part by part.
pub const PUT_PICTURE: &str = "loggia.media.put";

/// Where the files of a kept picture are read, part by part.
pub const READ_PICTURE: &str = "loggia.media.read";

/// The subject under which an event of a stream is published.
pub fn of_stream(stream: &StreamId) -> String {
    let context = match stream.category() {
        "project" => "curation",
        other => other,
    };
    format!("loggia.{context}.{}", stream.key())
}

/// The stream whose events are published under a subject.
pub fn stream_of(subject: &str) -> Result<StreamId, InvalidId> {
    let mut parts = subject.splitn(3, '.');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("loggia"), Some("curation"), Some(key)) => format!("project-{key}").parse(),
        (Some("loggia"), Some(context), Some(key)) => format!("{context}-{key}").parse(),
        _ => Err(InvalidId {
            text: subject.to_owned(),
            expected: "a subject such as loggia.curation.01J9Z3…",
        }),
    }
}

/// The JetStream stream that meters a tier.
pub fn usage_stream(tier: &TierName) -> String {
    format!("USAGE_{}", tier.as_str().to_ascii_uppercase())
}

/// The subjects of the stream that meters a tier.
pub fn usage_subjects(tier: &TierName) -> String {
    format!("loggia.usage.{tier}.*.*")
}

/// Where a call is metered: all calls under one subject share one allowance.
pub fn usage(tier: &TierName, key: KeyId, month: Month) -> String {
    allowance("usage", tier, key, month)
}

/// Where a call is kept that turned out to be over the quota after it had been answered.
pub fn overrun(tier: &TierName, key: KeyId, month: Month) -> String {
    allowance("overrun", tier, key, month)
}

/// The subjects of the allowances of all keys of a tier in a month: `context` is `usage` or `overrun`.
pub fn of_all_keys(context: &str, tier: &TierName, month: Month) -> String {
    format!("loggia.{context}.{tier}.*.{month}")
}

/// The subject of one allowance: `context` is `usage` or `overrun`.
pub fn allowance(context: &str, tier: &TierName, key: KeyId, month: Month) -> String {
    format!("loggia.{context}.{tier}.{key}.{month}")
}

/// Where what is metered under a subject, or a pattern of subjects, is published to a stream that takes no new calls but
/// gets back the ones that it lost. No tier has a name that begins like this. `None` where it is no such subject.
pub fn returning(usage: &str) -> Option<String> {
    let rest = usage.strip_prefix(USAGE)?;
    (!rest.starts_with('_')).then(|| format!("{USAGE}_{rest}"))
}

/// The subject or pattern that [`returning`] was given.
pub fn returned(returning: &str) -> Option<String> {
    let rest = returning.strip_prefix(USAGE)?.strip_prefix('_')?;
    Some(format!("{USAGE}{rest}"))
}

/// Tier, key and month of a subject that [`usage`] or [`overrun`] made.
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

/// Where the write side announces how far the log is, to those who take answers under this inbox. Only the write side may
/// send there, and each role may listen there.
pub fn log_head(inbox: &str) -> String {
    format!("{inbox}.log_head")
}

/// Where a command of this name is sent.
pub fn command(name: &str) -> String {
    format!("loggia.command.{name}")
}

/// Where every process of a cluster that may listen there says how it is, as [`NODES_WRITING`] for write sides.
pub const NODES: &str = "loggia.control.all.node";

/// Where every write side says how it is; its NATS user listens to nothing under `loggia.control`.
pub const NODES_WRITING: &str = "loggia.command.node";

/// Where the projection workers of one node take requests.
pub fn control(node: &str, verb: &str) -> String {
    format!("loggia.control.{node}.{verb}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_calls_come_back_on_subjects_of_their_own() {
        for (usage, returns) in [
            ("loggia.usage.free.*.*", "loggia.usage._free.*.*"),
            ("loggia.usage.free.Ab3dEf9h.2026-11", "loggia.usage._free.Ab3dEf9h.2026-11"),
        ] {
            assert_eq!(returning(usage).as_deref(), Some(returns));
            assert_eq!(returned(returns).as_deref(), Some(usage));
            assert_eq!((returning(returns), returned(usage)), (None, None));
        }
        assert_eq!((returning(OVERRUN_SUBJECTS), returned(OVERRUN_SUBJECTS)), (None, None));
        assert!(usage_of("loggia.usage._free.Ab3dEf9h.2026-11").is_err(), "it is no tier's");
    }

    #[test]
    fn a_subject_and_its_stream_are_two_forms_of_one_name() {
        for (stream, subject) in [
            ("project-01ARZ3NDEKTSV4RRFFQ69G5FAV", "loggia.curation.01ARZ3NDEKTSV4RRFFQ69G5FAV"),
            ("account-7f", "loggia.account.7f"),
        ] {
            let stream: StreamId = stream.parse().unwrap();
            assert_eq!(of_stream(&stream), subject);
            assert_eq!(stream_of(subject), Ok(stream));
        }
    }

    #[test]
    fn a_foreign_subject_is_refused() {
        for subject in
            ["", "loggia", "loggia.curation", "other.curation.x", "loggia.curation.a.b", "loggia.curation."]
        {
            assert!(stream_of(subject).is_err(), "{subject:?}");
        }
    }
}
