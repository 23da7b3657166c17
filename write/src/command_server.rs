//! Serves the write side over NATS: commands on `loggia.command.<name>`, pages of the log on `loggia.read.events`.

mod fitting;
mod noted;
mod pages;

use async_nats::{Client, Message};
use futures::future::{BoxFuture, join_all, try_join_all};
use nats::requirements;
use nats::responder::{CONCURRENT, ServeError, respond};
use schemas::command::{Answer, Command, CommandMessage, MAX_IMPORT_LINES, Refusal, RefusalKind};
use schemas::subject;
use tokio_util::sync::CancellationToken;
use traces::Traceparent;

use crate::service::CommandService;
use noted::Noted;

/// Commands that share slots: a flood of one kind does not delay the others.
struct Lane {
    commands: &'static [&'static str],
    /// How many are under way at once; more wait.
    slots: usize,
}

/// What editors send one by one, which needs nothing but the log.
const EDITS: Lane =
    Lane { commands: &["select", "revise", "rename", "withdraw", "restore"], slots: CONCURRENT };

/// What editors send in masses, which needs nothing but the log.
const IMPORTS: Lane = Lane { commands: &["import"], slots: 16 };

/// All of them. Commands on accounts are carried out one at a time, whatever their lane; few slots keep the line before a
/// payment short.
const LANES: [Lane; 5] = [
    EDITS,
    IMPORTS,
    Lane { commands: &["attach", "erase_picture"], slots: 16 },
    Lane {
        commands: &[
            "issue_key",
            "revoke_key",
            "prove_email",
            "change_tier",
            "erase_account",
            "settle_payments",
            "move_payments",
            "send_link",
            "make_link",
            "open_link",
            "use_link",
        ],
        slots: 16,
    },
    Lane { commands: &["record_payment", "keep_notice"], slots: 16 },
];

/// Answers requests until `stop`; then takes no new ones, finishes those under way and returns.
pub async fn serve(
    client: &Client,
    service: &CommandService,
    stop: &CancellationToken,
) -> Result<(), ServeError> {
    serve_on(client, service, &LANES, stop).await
}

/// The same for a write side beside the one that keeps addresses and pictures: it takes what editors write.
pub async fn serve_editors(
    client: &Client,
    service: &CommandService,
    stop: &CancellationToken,
) -> Result<(), ServeError> {
    serve_on(client, service, &[EDITS, IMPORTS], stop).await
}

async fn serve_on(
    client: &Client,
    service: &CommandService,
    lanes: &[Lane],
    stop: &CancellationToken,
) -> Result<(), ServeError> {
    requirements::check(client)?;
    let queue = subject::COMMAND_QUEUE.to_owned();
    let mut commands = Vec::with_capacity(lanes.len());
    for lane in lanes {
        service.measured().start_at_zero(lane.commands);
        let subjects = lane.commands.iter().map(|command| subject::command(command));
        let subscribing = subjects.map(|subject| client.queue_subscribe(subject, queue.clone()));
        commands.push((try_join_all(subscribing).await?, lane.slots));
    }
    let reads = client.queue_subscribe(subject::READ_EVENTS, queue).await?;
    let command = |message: Message| -> BoxFuture<'static, Vec<u8>> {
        let (service, room) = (service.clone(), client.max_payload());
        Box::pin(async move { answer(&service, &message, room).await })
    };
    let read = |message: Message| -> BoxFuture<'static, Vec<u8>> {
        let (store, room) = (service.store().clone(), client.max_payload());
        Box::pin(async move { pages::answer(&store, &message.payload, room).await })
    };
    let commands =
        commands.into_iter().map(|(commands, slots)| respond(client, commands, slots, &command, stop));
    tokio::join!(join_all(commands), respond(client, vec![reads], CONCURRENT, read, stop));
    if !stop.is_cancelled() {
        return Err(ServeError::Closed);
    }
    if let Err(error) = client.flush().await {
        tracing::warn!(%error, "the last answers may not have left");
    }
    Ok(())
}

async fn answer(service: &CommandService, message: &Message, room: usize) -> Vec<u8> {
    let answer = match read(message) {
        Ok(command) => {
            let traceparent = traceparent(message);
            let noted = Noted::of(&command, traceparent);
            let answer = traces::within(traceparent, service.handle(command)).await;
            noted.answered(&answer);
            answer
        }
        Err(detail) => Answer::Refused(refusal(detail)),
    };
    fitting::encode(answer, room)
}

/// The trace that the sender works for, if it names one.
fn traceparent(message: &Message) -> Option<Traceparent> {
    let values = message.headers.as_ref()?.get_all(traces::HEADER);
    Traceparent::of_header(values.map(|value| value.as_str().as_bytes()))
}

/// Reads a command, or says what is wrong with the message.
fn read(message: &Message) -> Result<CommandMessage, String> {
    let command: CommandMessage = serde_json::from_slice(&message.payload)
        .map_err(|error| format!("the message is no command of this version of Loggia: {error}"))?;
    // Permissions are given by subject, so a command may not come under another's name.
    let wanted = subject::command(command.command.name());
    if message.subject.as_str() != wanted {
        return Err(format!("the command is sent to {}; send it to {wanted}", message.subject));
    }
    match &command.command {
        Command::Import { lines, .. } if lines.len() > MAX_IMPORT_LINES => Err(format!(
            "the import has {} lines; send at most {MAX_IMPORT_LINES} in one command",
            lines.len()
        )),
        _ => Ok(command),
    }
}

fn refusal(detail: String) -> Refusal {
    Refusal { kind: RefusalKind::Rejected, detail, faults: Vec::new() }
}
