//! A stream of events that a test publishes itself, like the relay.

use std::sync::{Arc, Mutex};

use async_nats::jetstream::context::CreateStreamErrorKind;
use async_nats::jetstream::{self, ErrorCode};
use futures::StreamExt;
use kit::nats::Nats;
use kit::{TIMEOUT, wait_until};
use schemas::chain::Link;
use schemas::clock::Clock;
use schemas::cloudevents;
use schemas::control::{EventPage, ReadEvents};
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::{CommandId, Position, StoreId, StreamId, StreamVersion};
use schemas::subject;
use serde_json::json;

pub(crate) const SELECTED: &str = "loggia.curation.project_selected.v1";
pub(crate) const REVISED: &str = "loggia.curation.project_revised.v1";

/// An event stream and its log, filled by a test.
pub(crate) struct TestStream {
    _nats: Nats,
    pub(crate) client: async_nats::Client,
    pub(crate) jetstream: jetstream::Context,
    pub(crate) store: StoreId,
    pub(crate) clock: Clock,
    pub(crate) position: Position,
    /// The hash of the last event.
    pub(crate) hash: Hash,
    /// The published events, as the log of the write side has them.
    log: Arc<Mutex<Vec<Recorded>>>,
}

impl TestStream {
    /// Starts a server with an empty stream; `None` as for [`Nats::start`].
    pub(crate) async fn start() -> Option<TestStream> {
        let nats = Nats::start().await?;
        let client = nats.client().await;
        let (jetstream, clock) = (jetstream::new(client.clone()), Clock::system());
        let (position, hash) = (Position::START, Hash::GENESIS);
        let (store, log) = (clock.store_id(), Arc::default());
        let made = TestStream { _nats: nats, client, jetstream, store, clock, position, hash, log };
        made.create().await;
        Some(made)
    }

    /// Creates the stream. The server removes the files of a deleted one in the background, and until then refuses another with its name.
    async fn create(&self) {
        let config = jetstream::stream::Config {
            name: subject::EVENTS.into(),
            subjects: subject::EVENT_SUBJECTS.map(String::from).to_vec(),
            ..Default::default()
        };
        wait_until(TIMEOUT, "the stream", async || {
            let Err(error) = self.jetstream.create_stream(&config).await else { return true };
            let CreateStreamErrorKind::JetStream(reason) = error.kind() else { panic!("{error}") };
            assert_eq!(reason.error_code(), ErrorCode::STREAM_CREATE, "{error}");
            false
        })
        .await;
    }

    /// Starts again with an empty stream of the same store.
    pub(crate) async fn recreate_empty(&mut self) {
        self.jetstream.delete_stream(subject::EVENTS).await.unwrap();
        (self.position, self.hash) = (Position::START, Hash::GENESIS);
        self.log.lock().unwrap().clear();
        self.create().await;
    }

    /// Publishes the first events of the log to an empty stream again, like the relay after NATS was wiped.
    pub(crate) async fn refill(&self, count: usize) {
        self.jetstream.delete_stream(subject::EVENTS).await.unwrap();
        self.create().await;
        let events: Vec<Recorded> = self.log.lock().unwrap().iter().take(count).cloned().collect();
        for event in &events {
            self.publish_event(event).await;
        }
    }

    pub(crate) async fn publish_event(&self, event: &Recorded) {
        let mut headers = async_nats::HeaderMap::new();
        for (name, value) in cloudevents::headers(event, self.store) {
            headers.insert(name, value.as_str());
        }
        self.send(subject::of_stream(&event.stream), headers, event.data.get().to_owned()).await;
    }

    /// Answers requests for the log, like the write side.
    pub(crate) async fn serve_log(&self) {
        let (client, log) = (self.client.clone(), self.log.clone());
        let mut requests = client.subscribe(subject::READ_EVENTS).await.unwrap();
        tokio::spawn(async move {
            while let Some(request) = requests.next().await {
                let ReadEvents { after, limit, .. } = serde_json::from_slice(&request.payload).unwrap();
                let log = log.lock().unwrap().clone();
                let head = log.last().map_or(Position::START, |last| last.position);
                let events = log.into_iter().filter(|event| event.position > after).take(limit).collect();
                let page = serde_json::to_vec(&EventPage { events, head }).unwrap();
                client.publish(request.reply.unwrap(), page.into()).await.unwrap();
            }
        });
    }

    /// Publishes an event of a project with any type and payload.
    pub(crate) async fn publish(&mut self, project: &str, kind: &str, data: serde_json::Value) {
        self.publish_in(format!("project-{project}").parse().unwrap(), kind, data).await;
    }

    pub(crate) async fn publish_in(&mut self, stream: StreamId, kind: &str, data: serde_json::Value) {
        let event = self.record(stream, kind, data);
        self.publish_event(&event).await;
    }

    /// Appends a selected project to the log, and publishes a message in its place that differs or is not an event.
    pub(crate) async fn publish_damaged(&mut self, number: u32, says: Option<serde_json::Value>) {
        let event = self.record_selected(number);
        match says {
            Some(data) => {
                let data = serde_json::value::to_raw_value(&data).unwrap();
                self.publish_event(&Recorded { data, ..event }).await;
            }
            None => {
                let subject = subject::of_stream(&event.stream);
                self.send(subject, async_nats::HeaderMap::new(), "damaged".into()).await;
            }
        }
    }

    /// Appends a selected project to the log, but does not publish it.
    pub(crate) fn record_selected(&mut self, number: u32) -> Recorded {
        let stream = format!("project-{}", project(number)).parse().unwrap();
        self.record(stream, SELECTED, selected(&format!("house-{number}")))
    }

    /// Appends an event to the log, but does not publish it.
    fn record(&mut self, stream: StreamId, kind: &str, data: serde_json::Value) -> Recorded {
        self.position = self.position.next();
        let id = CommandId(uuid::Uuid::from_u128(7));
        let mut event = Recorded {
            position: self.position,
            id: self.clock.event_id(),
            stream,
            version: StreamVersion(1),
            kind: kind.into(),
            time: self.clock.now(),
            actor: "Ada".parse().unwrap(),
            causation: id,
            correlation: id,
            hash: Hash::GENESIS,
            traceparent: None,
            data: serde_json::value::to_raw_value(&data).unwrap(),
        };
        event.hash = Link::from(&event).hash_after(self.hash);
        self.hash = event.hash;
        self.log.lock().unwrap().push(event.clone());
        event
    }

    pub(crate) async fn send(&self, subject: String, headers: async_nats::HeaderMap, body: String) {
        self.jetstream.publish_with_headers(subject, headers, body.into()).await.unwrap().await.unwrap();
    }
}

pub(crate) fn project(number: u32) -> String {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}")
}

pub(crate) fn selected(slug: &str) -> serde_json::Value {
    json!({"slug": slug, "record": {"name": slug, "category": "art"}})
}
