//! Sends commands to the write side over NATS and waits for their replies.

use std::time::Duration;

use async_nats::Client;
use nats::request::{RequestError, Retry, request_until_answered, request_with_header};
use schemas::command::{
    Command, CommandMessage, CommandReply, ImportLine, ImportOptions, LineOutcome, LineResult,
    MAX_IMPORT_LINES,
};
use schemas::ids::Position;
use schemas::import::Fault;
use schemas::subject;

use crate::derived_id::derived_id;

/// When a command is repeated, and when it is given up. A restarting write side is back within the absence.
const RETRY: Retry = Retry {
    attempt: Duration::from_secs(10),
    pause: Duration::from_millis(200),
    total: Duration::from_secs(60),
    absence: Duration::from_secs(5),
};

/// The number of bytes of a message that lines must leave free for the rest of the command.
const RESERVE: usize = 4 << 10;

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// No write side subscribes to the command.
    #[error("no write side listens on NATS; start `loggia up` or `loggia write`, then try again")]
    NoWriteSide,
    /// There is no connection to NATS, so nothing was sent.
    #[error(
        "there is no connection to NATS; check that its server runs and that nats_url (LOGGIA_NATS_URL) is right, then try again"
    )]
    NotConnected,
    /// A part of an import was executed, and the next got no reply.
    #[error("the first lines of these were sent, and then {0}")]
    Interrupted(Box<SendError>),
    /// No reply arrived; the command may have been executed.
    #[error(
        "the write side did not answer within {total} seconds ({0}); a command that is sent again with the same id \
         is executed once",
        total = RETRY.total.as_secs()
    )]
    Unanswered(String),
    /// The command does not fit into one message.
    #[error("the command has {bytes} bytes; a NATS message takes {limit}, so shorten it")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The maximum size.
        limit: usize,
    },
    /// The reply cannot be decoded.
    #[error("the reply of the write side cannot be decoded ({0}); do both have the same version?")]
    Unreadable(#[from] serde_json::Error),
}

impl SendError {
    /// Returns whether the command may have been executed, or a part of it.
    pub fn may_have_been_executed(&self) -> bool {
        match self {
            SendError::NoWriteSide | SendError::NotConnected | SendError::TooLarge { .. } => false,
            SendError::Interrupted(_) | SendError::Unanswered(_) | SendError::Unreadable(_) => true,
        }
    }

    /// Returns the error of an import of which a part before was executed.
    fn after_a_part(self) -> SendError {
        match self.may_have_been_executed() {
            true => self,
            false => SendError::Interrupted(Box::new(self)),
        }
    }
}

impl From<RequestError> for SendError {
    fn from(error: RequestError) -> SendError {
        match error {
            RequestError::NoResponders => SendError::NoWriteSide,
            RequestError::NotConnected => SendError::NotConnected,
            RequestError::Unanswered(reason) => SendError::Unanswered(reason),
        }
    }
}

/// Sends commands, each in the current trace. A command is sent again under its own id until it gets a reply, which is harmless:
/// it is executed once.
#[derive(Debug, Clone)]
pub struct CommandClient {
    client: Client,
}

impl CommandClient {
    /// Returns a client that uses this connection.
    pub fn new(client: Client) -> CommandClient {
        CommandClient { client }
    }

    /// Returns the connection.
    pub fn connection(&self) -> &Client {
        &self.client
    }

    /// Sends a command and waits for its reply. An import that does not fit into one message is sent in several, one after the
    /// other; their replies become one.
    ///
    /// # Errors
    ///
    /// Fails if no reply arrives within a minute, none can be decoded, or the command is too large.
    pub async fn send(&self, message: &CommandMessage) -> Result<CommandReply, SendError> {
        match &message.command {
            // Without lines it only returns the head of the log.
            Command::Import { lines, options } if !lines.is_empty() => {
                self.import(message, lines, *options).await
            }
            _ => self.send_whole(message).await,
        }
    }

    async fn import(
        &self,
        message: &CommandMessage,
        lines: &[ImportLine],
        options: ImportOptions,
    ) -> Result<CommandReply, SendError> {
        let room = self.client.max_payload().saturating_sub(RESERVE);
        let (mut outcomes, mut last) = (Vec::new(), Position::START);
        for (part, first) in parts(lines, room) {
            match part {
                Part::TooLong(line) => outcomes.push(too_long(line, room)),
                Part::Lines(lines) => {
                    let command = Command::Import { lines: lines.to_vec(), options };
                    let id = if first == 0 { message.id } else { derived_id(message.id, "message", first) };
                    let part = CommandMessage { id, command, ..message.clone() };
                    let sent = self.send_whole(&part).await;
                    match sent.map_err(|error| if first == 0 { error } else { error.after_a_part() })? {
                        CommandReply::Imported { position, lines } => {
                            outcomes.extend(lines);
                            last = position;
                        }
                        // The parts before stay executed: the whole import can be sent again.
                        other => return Ok(other),
                    }
                }
            }
        }
        Ok(CommandReply::Imported { position: last, lines: outcomes })
    }

    async fn send_whole(&self, message: &CommandMessage) -> Result<CommandReply, SendError> {
        let subject = subject::command(message.command.name());
        let payload = bytes::Bytes::from(serde_json::to_vec(message)?);
        let limit = self.client.max_payload();
        if payload.len() > limit {
            return Err(SendError::TooLarge { bytes: payload.len(), limit });
        }
        let header = traces::current().map(|traceparent| (traces::HEADER, traceparent.to_string()));
        let make = || request_with_header(payload.clone(), header.as_ref());
        let reply = request_until_answered(&self.client, &subject, make, RETRY).await?;
        Ok(serde_json::from_slice(&reply.payload)?)
    }
}

/// A part of an import: lines for one message, or one line that fits into no message.
#[derive(Debug)]
enum Part<'l> {
    Lines(&'l [ImportLine]),
    TooLong(&'l ImportLine),
}

/// Splits lines into parts of at most `room` bytes, each with the index of its first line.
fn parts(lines: &[ImportLine], room: usize) -> Vec<(Part<'_>, usize)> {
    let (mut parts, mut first, mut used) = (Vec::new(), 0, 0);
    for (index, line) in lines.iter().enumerate() {
        let bytes = encoded_length(line);
        let full = used + bytes > room || index - first >= MAX_IMPORT_LINES;
        if (full || bytes > room) && first < index {
            parts.push((Part::Lines(&lines[first..index]), first));
        }
        if full || bytes > room {
            (first, used) = (index, 0);
        }
        if bytes > room {
            parts.push((Part::TooLong(line), index));
            first = index + 1;
        } else {
            used += bytes;
        }
    }
    if first < lines.len() {
        parts.push((Part::Lines(&lines[first..]), first));
    }
    parts
}

/// Returns an upper bound of the bytes that a line takes in a message.
fn encoded_length(line: &ImportLine) -> usize {
    let escapes = |byte: u8| match byte {
        b'"' | b'\\' => 1,
        0..0x20 => 5,
        _ => 0,
    };
    let of_pictures = line.absent_pictures.iter().flat_map(|picture| picture.strings());
    let texts = std::iter::once(line.text.as_str()).chain(of_pictures);
    texts.map(|text| text.len() + text.bytes().map(escapes).sum::<usize>() + 50).sum()
}

fn too_long(line: &ImportLine, room: usize) -> LineOutcome {
    let reason = format!(
        "is too long for NATS, whose messages take {room} bytes; raise max_payload of the server, or import while no \
         service runs"
    );
    let faults = vec![Fault { field: String::new(), reason }];
    LineOutcome { number: line.number, result: LineResult::Rejected { faults } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(lengths: &[usize]) -> Vec<ImportLine> {
        (1..).zip(lengths).map(|(number, length)| ImportLine::new(number, "x".repeat(*length))).collect()
    }

    #[test]
    fn lines_are_split_when_a_message_is_full() {
        let lines = lines(&[100, 100, 100, 900, 100, 100]);
        let in_short = |(part, first)| match part {
            Part::Lines(lines) => (first, lines.len()),
            Part::TooLong(_) => (first, 0),
        };
        let cut: Vec<_> = parts(&lines, 400).into_iter().map(in_short).collect();
        assert_eq!(cut, [(0, 2), (2, 1), (3, 0), (4, 2)]);
    }

    #[test]
    fn a_message_has_at_most_the_maximum_number_of_lines() {
        let lines = lines(&vec![0; 2 * MAX_IMPORT_LINES + 1]);
        let lengths: Vec<_> = parts(&lines, 1 << 30)
            .into_iter()
            .map(|(part, _)| if let Part::Lines(lines) = part { lines.len() } else { 0 })
            .collect();
        assert_eq!(lengths, [MAX_IMPORT_LINES, MAX_IMPORT_LINES, 1]);
    }

    #[test]
    fn an_import_of_which_a_part_was_executed_is_not_undone() {
        let first = SendError::NoWriteSide;
        assert!(!first.may_have_been_executed());
        let later = first.after_a_part();
        assert!(later.may_have_been_executed());
        assert_eq!(
            later.to_string(),
            "the first lines of these were sent, and then no write side listens on NATS; start `loggia up` or `loggia write`, \
             then try again"
        );
        assert!(matches!(SendError::Unanswered("late".into()).after_a_part(), SendError::Unanswered(_)));
    }

    proptest! {
        #[test]
        fn every_line_is_in_exactly_one_part_that_fits(texts in proptest::collection::vec("[a\"\\\\\n\u{0}é]{0,60}", 0..40), room in 60..400usize) {
            let lines: Vec<_> =
                (1..).zip(texts).map(|(number, text)| ImportLine::new(number, text)).collect();
            let mut numbers = Vec::new();
            for (part, first) in parts(&lines, room) {
                match part {
                    Part::TooLong(line) => numbers.push(line.number),
                    Part::Lines(part) => {
                        prop_assert!(serde_json::to_string(part).unwrap().len() <= room);
                        prop_assert_eq!(part[0].number, first as u64 + 1);
                        numbers.extend(part.iter().map(|line| line.number));
                    }
                }
            }
            prop_assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
        }
    }
}
