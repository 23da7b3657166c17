//! Serves the write side over NATS: commands on `loggia.command.<name>`, pages of the log on `loggia.read.events`.

mod command_log;
mod encoding;
mod event_pages;

use std::sync::Arc;

use async_nats::{Client, Message};
use futures::future::{BoxFuture, join_all, try_join_all};
use nats::requirements;
use nats::responder::{MAX_CONCURRENT, ServeError, respond};
use schemas::command::{
    Command, CommandFailure, CommandMessage, CommandReply, FailureKind, MAX_IMPORT_LINES,
};
use schemas::subject;
use tokio_util::sync::CancellationToken;
use traces::Traceparent;

use crate::service::CommandDispatcher;
use command_log::LogEntry;

/// Replies to requests until `stop`; then accepts no new ones, finishes those under way and returns. Only the commands of
/// registered services are subscribed to.
///
/// # Errors
///
/// Fails if the NATS server is too old, refuses a subscription, or closes one.
pub async fn serve(
    client: &Client,
    commands: &Arc<CommandDispatcher>,
    stop: &CancellationToken,
) -> Result<(), ServeError> {
    requirements::check(client)?;
    let queue = subject::COMMAND_QUEUE.to_owned();
    let mut lanes = Vec::with_capacity(commands.lanes().len());
    for lane in commands.lanes() {
        commands.metrics().start_at_zero(lane.commands.iter().map(|command| command.name));
        let subjects = lane.commands.iter().map(|command| subject::command(command.name));
        let subscribing = subjects.map(|subject| client.queue_subscribe(subject, queue.clone()));
        lanes.push((try_join_all(subscribing).await?, lane.slots));
    }
    let reads = client.queue_subscribe(subject::READ_EVENTS, queue).await?;
    let execute = |message: Message| -> BoxFuture<'static, Vec<u8>> {
        let (commands, room) = (commands.clone(), client.max_payload());
        Box::pin(async move { reply(&commands, &message, room).await })
    };
    let read = |message: Message| -> BoxFuture<'static, Vec<u8>> {
        let (log, room) = (commands.log().clone(), client.max_payload());
        Box::pin(async move { event_pages::reply(&log, &message.payload, room).await })
    };
    let lanes =
        lanes.into_iter().map(|(subscriptions, slots)| respond(client, subscriptions, slots, &execute, stop));
    tokio::join!(join_all(lanes), respond(client, vec![reads], MAX_CONCURRENT, read, stop));
    if !stop.is_cancelled() {
        return Err(ServeError::Closed);
    }
    if let Err(error) = client.flush().await {
        tracing::warn!(%error, "the last replies may not have been sent");
    }
    Ok(())
}

async fn reply(commands: &CommandDispatcher, message: &Message, room: usize) -> Vec<u8> {
    let reply = match decode(message) {
        Ok(command) => {
            let traceparent = traceparent(message);
            let entry = LogEntry::of(&command, traceparent);
            let reply = traces::scope(traceparent, commands.execute(command)).await;
            entry.write(&reply);
            reply
        }
        Err(detail) => {
            CommandReply::Failed(CommandFailure { kind: FailureKind::Rejected, detail, faults: Vec::new() })
        }
    };
    encoding::encode(reply, room)
}

/// Returns the trace that the sender works for, if it names one.
fn traceparent(message: &Message) -> Option<Traceparent> {
    let values = message.headers.as_ref()?.get_all(traces::HEADER);
    Traceparent::from_header(values.map(|value| value.as_str().as_bytes()))
}

/// Decodes a command, or returns what is wrong with the message.
fn decode(message: &Message) -> Result<CommandMessage, String> {
    let command: CommandMessage = serde_json::from_slice(&message.payload)
        .map_err(|error| format!("the message is not a command of this version of Loggia: {error}"))?;
    // Permissions are given by subject, so a command must arrive under its own name.
    let expected = subject::command(command.command.name());
    if message.subject.as_str() != expected {
        return Err(format!("the command is sent to {}; send it to {expected}", message.subject));
    }
    match &command.command {
        Command::Import { lines, .. } if lines.len() > MAX_IMPORT_LINES => Err(format!(
            "the import has {} lines; send at most {MAX_IMPORT_LINES} in one command",
            lines.len()
        )),
        _ => Ok(command),
    }
}
