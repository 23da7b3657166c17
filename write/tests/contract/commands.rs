//! Commands and pages of the log over a real nats-server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use event_log::MAX_EVENT_BYTES;
use kit::nats::Nats;
use schemas::clock::Clock;
use schemas::command::*;
use schemas::control::{EventPage, ReadEvents};
use schemas::ids::{Position, Revision};
use schemas::slug::Slug;
use schemas::subject;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use write::command_client::{CommandClient, SendError};
use write::relay::Relay;

use crate::write_side::{WriteSide, message};
use crate::{append, everything};

fn slug(text: &str) -> Slug {
    text.parse().unwrap()
}

fn select(at: &str) -> Command {
    let record = serde_json::json!({"slug": at, "name": "First", "category": "art"});
    Command::Select { record: record.as_object().unwrap().clone() }
}

fn done(at: &str, revision: u32, position: u64) -> CommandReply {
    let (revision, position) = (Revision(revision), Position(position));
    CommandReply::Project(ProjectOutcome { slug: slug(at), revision, position, changed: true })
}

fn line(number: u64, description: &str) -> ImportLine {
    let text =
        serde_json::json!({"name": format!("P {number}"), "category": "art", "description": description});
    ImportLine::new(number, text.to_string())
}

fn import(lines: Vec<ImportLine>) -> Command {
    Command::Import { lines, options: ImportOptions::default() }
}

/// Returns the trace context of an event, and of its message at the same position.
async fn traces_of(write: &WriteSide, nats: &Nats, position: u64) -> [Option<String>; 2] {
    let events = write.store.read_all(Position(position - 1), 1).await.unwrap();
    let stream = async_nats::jetstream::new(nats.client().await).get_stream(subject::EVENTS).await.unwrap();
    let message = stream.get_raw_message(position).await.unwrap();
    let header = message.headers.get(traces::HEADER).map(ToString::to_string);
    [events[0].traceparent.map(String::from), header]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_context_is_propagated_through_the_log_to_nats() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = CommandClient::new(nats.client().await);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned();
    let traced = async |command| {
        let message = write.message(command);
        traces::scope(trace.parse().ok(), client.send(&message)).await.unwrap()
    };
    assert_eq!(traced(select("a")).await, done("a", 1, 1));
    assert_eq!(client.send(&write.message(select("b"))).await.unwrap(), done("b", 1, 2));
    let lines = vec![line(1, "x"), line(2, "y")];
    assert!(matches!(traced(import(lines)).await, CommandReply::Imported { position: Position(4), .. }));

    let relay = Relay::new(write.store.clone(), nats.client().await);
    let (mut relayed, stop) = (relay.watch(), CancellationToken::new());
    let relaying = tokio::spawn(relay.run(stop.clone()));
    relayed.wait_for(|relayed| relayed.position == Position(4)).await.unwrap();
    for (position, expected) in [(1, Some(&trace)), (2, None), (3, Some(&trace)), (4, Some(&trace))] {
        let expected = [expected.cloned(), expected.cloned()];
        assert_eq!(traces_of(&write, &nats, position).await, expected, "at {position}");
    }
    stop.cancel();
    relaying.await.unwrap();
    write.store.verify(|_| {}).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_executed_once_and_its_reply_repeated() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = CommandClient::new(nats.client().await);
    let message = write.message(select("a"));
    for _ in 0..3 {
        assert_eq!(client.send(&message).await.unwrap(), done("a", 1, 1));
    }
    let rename = write.message(Command::Rename { slug: slug("a"), to: slug("b") });
    assert_eq!(client.send(&rename).await.unwrap(), done("b", 1, 2));
    let log = everything(&write.store).await;
    assert_eq!(log.len(), 2);
    assert_eq!((log[0].causation, log[0].actor.as_str()), (message.id, "Łucja"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_commands_are_rejected_with_a_sentence() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = nats.client().await;
    let ask = async |subject: &str, payload: Vec<u8>| -> CommandFailure {
        let answer = kit::wait_for(kit::TIMEOUT, "the server", async || {
            client.request(subject.to_owned(), payload.clone().into()).await.ok()
        });
        match serde_json::from_slice(&answer.await.payload).unwrap() {
            CommandReply::Failed(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    };
    let refusal = ask("loggia.command.select", b"{".to_vec()).await;
    assert_eq!(refusal.kind, FailureKind::Rejected);
    assert!(
        refusal.detail.starts_with("the message is not a command of this version of Loggia: EOF"),
        "{refusal:?}"
    );
    let message = serde_json::to_vec(&write.message(select("a"))).unwrap();
    let refusal = ask("loggia.command.revise", message).await;
    assert_eq!(
        refusal.detail,
        "the command is sent to loggia.command.revise; send it to loggia.command.select"
    );
    let lines = vec![line(1, "x"); schemas::command::MAX_IMPORT_LINES + 1];
    let refusal =
        ask("loggia.command.import", serde_json::to_vec(&write.message(import(lines))).unwrap()).await;
    assert_eq!(refusal.detail, "the import has 2001 lines; send at most 2000 in one command");
    assert_eq!(write.store.head().await.unwrap().position, Position::START);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_larger_than_a_message_is_split() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = nats.client().await;
    let limit = client.max_payload();
    let client = CommandClient::new(client);
    let text = "\"ü\"".repeat(12_000);
    // More lines than a message may have, then lines that exceed a message together only with the escapes of their quotes.
    let short = MAX_IMPORT_LINES as u64 + 1;
    let long = (limit / line(0, &text).text.len()) as u64;
    let mut lines: Vec<ImportLine> = (1..=short).map(|number| line(number, "x")).collect();
    lines.extend((short + 1..=short + long).map(|number| line(number, &text)));
    let last = lines.len() as u64 + 1;
    lines.push(ImportLine::new(last, "x".repeat(limit)));
    let message = write.message(import(lines));
    let answer = client.send(&message).await.unwrap();
    let CommandReply::Imported { position, lines } = &answer else { panic!("{answer:?}") };
    assert_eq!(*position, Position(last - 1));
    assert!(lines.iter().map(|line| line.number).eq(1..=last));
    assert!(lines[..last as usize - 1].iter().all(|line| matches!(line.result, LineResult::New { .. })));
    let LineResult::Rejected { faults } = &lines.last().unwrap().result else { panic!() };
    assert!(faults[0].reason.starts_with("is too long for NATS"), "{faults:?}");
    assert_eq!(client.send(&message).await.unwrap(), answer, "sent again, it says the same");
    assert_eq!(write.store.head().await.unwrap().position, Position(last - 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_survives_a_restart_of_nats() {
    let Some(mut nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = CommandClient::new(nats.client().await);
    client.send(&write.message(select("a"))).await.unwrap();
    nats.kill9().await;
    let message = write.message(Command::Rename { slug: slug("a"), to: slug("b") });
    let sending = tokio::spawn(async move { client.send(&message).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    nats.restart().await;
    assert_eq!(sending.await.unwrap().unwrap(), done("b", 1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_write_side_the_sender_gets_an_error() {
    let Some(nats) = Nats::start().await else { return };
    let client = CommandClient::new(nats.client().await);
    let error = client.send(&message(&Clock::system(), select("a"))).await.unwrap_err();
    assert!(matches!(error, SendError::NoWriteSide), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_in_flight_are_finished_on_shutdown() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = CommandClient::new(nats.client().await);
    client.send(&write.message(select("first"))).await.unwrap();
    let connection = nats.client().await;
    let (answered, mut senders) = (Arc::new(AtomicU64::new(0)), JoinSet::new());
    for number in 0..20 {
        let lines = (1..=50).map(|line_number| line(number * 1_000 + line_number, "x")).collect();
        let payload = serde_json::to_vec(&write.message(import(lines))).unwrap();
        let (connection, answered) = (connection.clone(), answered.clone());
        let request = async_nats::Request::new().payload(payload.into()).timeout(Some(kit::TIMEOUT));
        senders.spawn(async move {
            let answer = connection.send_request("loggia.command.import", request).await;
            answered.fetch_add(u64::from(answer.is_ok()), Ordering::SeqCst);
        });
    }
    kit::wait_until(kit::TIMEOUT, "the imports to begin", async || {
        write.store.head().await.unwrap().position > Position(1)
    })
    .await;
    write.stop.cancel();
    write.task.await.unwrap();
    let events = write.store.head().await.unwrap().position.0 - 1;
    // What was not begun is never answered.
    let is_answered = || answered.load(Ordering::SeqCst) * 50 == events;
    kit::wait_until(kit::TIMEOUT, "answers to what was begun", async || is_answered()).await;
    // A surplus answer would arrive a moment later.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(is_answered(), "what was begun was answered, and nothing was begun half");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_read_page_by_page() {
    let Some(nats) = Nats::start().await else { return };
    let write = WriteSide::start_on(&nats).await;
    let client = nats.client().await;
    for number in 0..40 {
        let reason = if number % 2 == 0 { "x".repeat(MAX_EVENT_BYTES / 2) } else { "y".into() };
        let append = append(&write.clock, &format!("s{}", number % 3), &reason);
        write.store.append(append).await.unwrap();
    }
    let longest = "z".repeat(MAX_EVENT_BYTES - 13);
    write.store.append(append(&write.clock, "s0", &longest)).await.unwrap();
    let expected = everything(&write.store).await;
    let read = async |request: ReadEvents| -> EventPage {
        let payload = serde_json::to_vec(&request).unwrap();
        let answer = kit::wait_for(kit::TIMEOUT, "the server", async || {
            client.request(subject::READ_EVENTS, payload.clone().into()).await.ok()
        });
        serde_json::from_slice(&answer.await.payload).unwrap()
    };
    let (mut log, mut pages) = (Vec::new(), 0);
    loop {
        let after = log.last().map_or(Position::START, |event: &schemas::envelope::Recorded| event.position);
        let page = read(ReadEvents { after, limit: 1_000, stream: None }).await;
        assert_eq!(page.head, Position(41));
        if page.events.is_empty() {
            break;
        }
        log.extend(page.events);
        pages += 1;
    }
    assert_eq!(log, expected);
    assert!(pages > 1, "a page has the size of a message");

    let stream = expected[0].stream.clone();
    let page = read(ReadEvents { after: Position(1), limit: 3, stream: Some(stream) }).await;
    let positions: Vec<u64> = page.events.iter().map(|event| event.position.0).collect();
    assert_eq!(positions, [4, 7, 10]);
}
