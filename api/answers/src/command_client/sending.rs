//! Sends a command to the write side and waits for its reply.

use std::time::Duration;

use async_nats::Client;
use jiff::Timestamp;
use nats::request::{RequestError, Retry, request_until_answered, request_with_header};
use schemas::command::{Command, CommandFailure, CommandMessage, CommandReply, FailureKind};
use schemas::ids::{Actor, CommandId};
use schemas::subject;
use uuid::Uuid;

use crate::command_client::CommandError;
use crate::deadline::Deadline;

/// The timeout of one attempt.
const ATTEMPT: Duration = Duration::from_secs(2);
/// The time that a request needs after the reply: for response padding and the page.
const AFTERWARDS: Duration = Duration::from_secs(1);
/// The time from the moment at which the write side begins to write until its reply is here; the clocks of two machines may differ
/// by most of it.
const RETURN: Duration = Duration::from_millis(1_500);
/// How long a write side that does not listen is waited for: longer than one takes to restart, as at the command line.
const ABSENCE: Duration = Duration::from_secs(5);
/// The delay before another attempt.
const PAUSE: Duration = Duration::from_millis(100);

/// Sends a command on behalf of `actor` and returns its reply, which is not a rejection. All attempts have one id: it is executed
/// once, perhaps after the request that sends it has ended.
pub(super) async fn send(
    client: &Client,
    actor: &str,
    command: Command,
    deadline: Deadline,
) -> Result<CommandReply, CommandError> {
    send_until(client, actor, CommandId(Uuid::now_v7()), command, deadline, None).await
}

/// Sends a command whose result is shown once: it is not executed so late that the request would end before the reply. `id` is
/// the same for a repeated request; `now` is the time by the clock that the write side has too.
pub(super) async fn send_in_time(
    client: &Client,
    actor: &str,
    id: CommandId,
    command: Command,
    deadline: Deadline,
    now: Timestamp,
) -> Result<CommandReply, CommandError> {
    let left = deadline.earlier_by(AFTERWARDS).earlier_by(RETURN).remaining();
    if left.is_zero() {
        return Err(CommandError::Unavailable(
            "too little of the request's time was left; nothing was sent".into(),
        ));
    }
    send_until(client, actor, id, command, deadline, Some(now + left)).await
}

async fn send_until(
    client: &Client,
    actor: &str,
    id: CommandId,
    command: Command,
    deadline: Deadline,
    not_after: Option<Timestamp>,
) -> Result<CommandReply, CommandError> {
    let actor: Actor = actor.parse().map_err(|error| unavailable(&error))?;
    let message = CommandMessage { id, actor, correlation: id, command, not_after };
    match request(client, &message, deadline.earlier_by(AFTERWARDS)).await? {
        CommandReply::Failed(CommandFailure { kind: FailureKind::Rejected, detail, .. }) => {
            Err(CommandError::Rejected(detail))
        }
        CommandReply::Failed(CommandFailure { kind: FailureKind::Conflict, detail, .. }) => {
            Err(CommandError::Unavailable(detail))
        }
        // The store may have failed after it had written.
        CommandReply::Failed(CommandFailure { detail, .. }) => Err(CommandError::OutcomeUnknown(detail)),
        answer => Ok(answer),
    }
}

async fn request(
    client: &Client,
    message: &CommandMessage,
    deadline: Deadline,
) -> Result<CommandReply, CommandError> {
    let payload = bytes::Bytes::from(serde_json::to_vec(message).map_err(|error| unavailable(&error))?);
    let header = traces::current().map(|traceparent| (traces::HEADER, traceparent.to_string()));
    let make = || request_with_header(payload.clone(), header.as_ref());
    let retry = Retry { attempt: ATTEMPT, pause: PAUSE, total: deadline.remaining(), absence: ABSENCE };
    let subject = subject::command(message.command.name());
    match request_until_answered(client, &subject, make, retry).await {
        Ok(reply) => serde_json::from_slice(&reply.payload)
            .map_err(|error| CommandError::OutcomeUnknown(error.to_string())),
        Err(RequestError::Unanswered(reason)) => Err(CommandError::OutcomeUnknown(reason)),
        Err(error @ (RequestError::NotConnected | RequestError::NoResponders)) => Err(unavailable(&error)),
    }
}

pub(super) fn unavailable(error: &dyn std::fmt::Display) -> CommandError {
    CommandError::Unavailable(error.to_string())
}
