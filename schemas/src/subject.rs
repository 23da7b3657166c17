//! NATS names: streams, subjects and who speaks on them. The only place that forms or reads a subject.

use crate::ids::{InvalidId, StreamId};

/// The JetStream stream that carries the log `events`; its sequence is the log's position.
pub const EVENTS: &str = "EVENTS";

/// The subjects of the stream [`EVENTS`].
pub const EVENT_SUBJECTS: [&str; 2] = ["loggia.curation.*", "loggia.account.*"];

/// The queue group of the command service: one of several answers.
pub const COMMAND_QUEUE: &str = "loggia-write";

/// Where all commands arrive.
pub const COMMANDS: &str = "loggia.command.*";

/// Where events are read straight from the event store, by request.
pub const READ_EVENTS: &str = "loggia.read.events";

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

/// Where a command of this name is sent.
pub fn command(name: &str) -> String {
    format!("loggia.command.{name}")
}

/// Where the projection workers of one node take requests.
pub fn control(node: &str, verb: &str) -> String {
    format!("loggia.control.{node}.{verb}")
}

#[cfg(test)]
mod tests {
    use super::*;

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
