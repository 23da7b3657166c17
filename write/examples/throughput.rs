//! How fast the write side takes events and carries them on: single-event commands, an import of records, the relay.
//!
//! `cargo run --release -p write --example throughput`; the relay needs a nats-server (`bin/setup`).
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measurement for people"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use event_log::{Append, Claim, EventLog, Expected, Namespace, NewEvent};
use futures::StreamExt;
use nats::server::{NatsServer, Options};
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply, ImportLine, ImportOptions};
use schemas::event::{Event, ProjectSelected};
use schemas::ids::{Position, StreamId};
use tokio_util::sync::CancellationToken;
use write::relay::Relay;
use write::service::{CommandDispatcher, ProjectService};

const EVENTS: usize = 100_000;
const IN_FLIGHT: usize = 2_000;
const LINES: usize = 500;

fn line(number: usize) -> String {
    let description =
        "A quiet house of oak and lime on a slope above the lake, built by the people who live in it. ";
    format!(
        r#"{{"slug":"project-{number:06}","name":"House number {number}","studio":"Atelier {}","city":"Zürich, Switzerland","year":"{}","category":"architecture","intro":"{description}","description":"{}","details":[{{"label":"Site area","value":"{number} m²"}}],"published":"2020-02-28","provenance":{{"curated_by":"Ada Pelt","selected":"2020-02-01","note":"Seen in spring."}},"taste":{{"material":"oak","light":"dusk","mood":"calm"}}}}"#,
        number % 900,
        1900 + number % 120,
        description.repeat(8),
    )
}

#[tokio::main]
async fn main() {
    let folder = std::env::temp_dir().join(format!("loggia-throughput-{}", std::process::id()));
    appends(&folder.join("appends")).await;
    relay(&folder.join("appends"), &folder.join("nats")).await;
    import(&folder.join("import")).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

async fn appends(folder: &Path) {
    let clock = Clock::system();
    let store = Arc::new(EventLog::open(folder, &clock).await.unwrap());
    let record = schemas::import::parse_line(&line(1), false).unwrap().record;
    let measured = Measured::begin();
    futures::stream::iter(0..EVENTS)
        .map(|number| {
            let (store, clock, record) = (store.clone(), clock.clone(), record.clone());
            async move {
                let slug: schemas::slug::Slug = format!("project-{number:06}").parse().unwrap();
                let command = clock.command_id();
                let append = Append {
                    stream: StreamId::project(clock.project_id()),
                    expected: Expected::NoStream,
                    command,
                    correlation: command,
                    actor: "import".parse().unwrap(),
                    traceparent: None,
                    time: clock.now(),
                    claims: vec![Claim { namespace: Namespace::SLUG, name: slug.as_str().to_owned() }],
                    events: vec![NewEvent {
                        id: clock.event_id(),
                        event: Event::ProjectSelected(ProjectSelected { slug, record, id: None }),
                    }],
                };
                store.append(append).await.unwrap();
            }
        })
        .buffer_unordered(IN_FLIGHT)
        .count()
        .await;
    measured.tell("commands appended, each with one event and one claim", EVENTS);
    let measured = Measured::begin();
    let mut after = Position::START;
    while let Some(last) = store.read_all(after, 1_000).await.unwrap().last() {
        after = last.position;
    }
    measured.tell("events read", EVENTS);
    let measured = Measured::begin();
    store.verify(|_| {}).await.unwrap().unwrap();
    measured.tell("events verified", EVENTS);
    store.close().await;
}

async fn relay(folder: &Path, nats: &Path) {
    let binary = std::env::var_os("LOGGIA_NATS_SERVER").map(Into::into);
    let server = match NatsServer::start(Options { binary, ..Options::new(nats) }).await {
        Ok(server) => server,
        Err(error) => return println!("           no relay: {error}"),
    };
    let store = Arc::new(EventLog::open(folder, &Clock::system()).await.unwrap());
    let client = server.address().connect_options().connect(server.url()).await.unwrap();
    let relay = Relay::new(store.clone(), client);
    let (mut relayed, stop) = (relay.watch(), CancellationToken::new());
    let measured = Measured::begin();
    let running = tokio::spawn(relay.run(stop.clone()));
    relayed.wait_for(|relayed| relayed.position.0 == EVENTS as u64).await.unwrap();
    measured.tell("events relayed (without the server's own time)", EVENTS);
    stop.cancel();
    running.await.unwrap();
    store.close().await;
    server.stop().await;
}

async fn import(folder: &Path) {
    let clock = Clock::system();
    let store = Arc::new(EventLog::open(folder, &clock).await.unwrap());
    let projects = Arc::new(ProjectService::new(store.clone(), clock.clone()));
    let commands = CommandDispatcher::new(projects);
    let lines: Vec<String> = (0..EVENTS).map(line).collect();
    for pass in ["records imported, new", "records imported, the same"] {
        let measured = Measured::begin();
        for chunk in lines.chunks(LINES) {
            let id = clock.command_id();
            let lines = (1..).zip(chunk).map(|(number, text)| ImportLine { number, text: text.clone() });
            let command = Command::Import { lines: lines.collect(), options: ImportOptions::default() };
            let message = CommandMessage {
                id,
                actor: "import".parse().unwrap(),
                correlation: id,
                command,
                not_after: None,
            };
            assert!(matches!(commands.execute(message).await, CommandReply::Imported { .. }));
        }
        measured.tell(pass, EVENTS);
    }
    store.close().await;
}

/// The time by the wall, and the processor time of this process.
struct Measured {
    wall: Instant,
    processor: f64,
}

impl Measured {
    fn begin() -> Measured {
        Measured { wall: Instant::now(), processor: processor() }
    }

    fn tell(&self, what: &str, count: usize) {
        let (wall, processor) = (self.wall.elapsed().as_secs_f64(), processor() - self.processor);
        let rate = |seconds: f64| count as f64 / seconds;
        println!("{:>8.0}/s, {:>7.0} per processor second: {what}", rate(wall), rate(processor));
    }
}

/// Seconds of processor time that this process has used, by Linux's count of hundredths.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
