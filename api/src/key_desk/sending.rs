//! Sends a command to the write side and waits for its answer.

use std::time::Duration;

use async_nats::{Client, Request};
use schemas::command::{Answer, Command, CommandMessage, Refusal, RefusalKind};
use schemas::ids::{Actor, CommandId};
use schemas::subject;
use tokio::time::Instant;
use uuid::Uuid;

use super::NotDone;

/// How long one attempt waits for its answer.
const ATTEMPT: Duration = Duration::from_secs(2);
/// How long is tried: an answer must still go out within the time that a request may take.
const PATIENCE: Duration = Duration::from_secs(6);
/// How long to wait before trying again.
const PAUSE: Duration = Duration::from_millis(100);

/// Sends a command on behalf of `actor`, and gives its answer, which is no refusal. It goes out under one id however
/// often it is tried, and is carried out once.
pub(super) async fn send(client: &Client, actor: &str, command: Command) -> Result<Answer, NotDone> {
    let id = CommandId(Uuid::now_v7());
    let actor: Actor = actor.parse().map_err(|error| unavailable(&error))?;
    let message = CommandMessage { id, actor, correlation: id, command };
    match request(client, &message).await? {
        Answer::Refused(Refusal { kind: RefusalKind::Rejected, detail, .. }) => Err(NotDone::Refused(detail)),
        Answer::Refused(Refusal { detail, .. }) => Err(NotDone::Unavailable(detail)),
        answer => Ok(answer),
    }
}

async fn request(client: &Client, message: &CommandMessage) -> Result<Answer, NotDone> {
    let payload = bytes::Bytes::from(serde_json::to_vec(message).map_err(|error| unavailable(&error))?);
    let begun = Instant::now();
    loop {
        let request = Request::new().payload(payload.clone()).timeout(Some(ATTEMPT));
        let sending = client.send_request(subject::command(message.command.name()), request);
        let error = match tokio::time::timeout(ATTEMPT, sending).await {
            Ok(Ok(answer)) => {
                return serde_json::from_slice(&answer.payload).map_err(|error| unavailable(&error));
            }
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => "NATS does not take it in time".to_owned(),
        };
        if begun.elapsed() >= PATIENCE {
            return Err(NotDone::Unavailable(error));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

pub(super) fn unavailable(error: &dyn std::fmt::Display) -> NotDone {
    NotDone::Unavailable(error.to_string())
}
