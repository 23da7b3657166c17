//! The consumer of the stream EVENTS that the projections of a node share, on a real server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::jetstream::{self, stream};
use futures::StreamExt;
use kit::nats::Nats;
use kit::samples::recorded;
use kit::{TIMEOUT, wait_until};
use projections::source::{EventSource, Subscription};
use schemas::chain::Link;
use schemas::control::{EventPage, ReadEvents};
use schemas::envelope::Recorded;
use schemas::event::{Event, ProjectRestored};
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::{cloudevents, subject};

/// A stream that the test fills; its content does not matter.
pub(crate) struct Stream {
    pub(crate) client: async_nats::Client,
    jetstream: jetstream::Context,
}

impl Stream {
    pub(crate) async fn new(nats: &Nats) -> Stream {
        let client = nats.client().await;
        let jetstream = jetstream::new(client.clone());
        let config = stream::Config {
            name: subject::EVENTS.into(),
            subjects: subject::EVENT_SUBJECTS.map(String::from).to_vec(),
            ..Default::default()
        };
        jetstream.create_stream(config).await.unwrap();
        Stream { client, jetstream }
    }

    /// Publishes well-formed events at the positions after one.
    pub(crate) async fn publish_events(&self, after: u64, count: u64) {
        let store = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let (mut acks, mut last) = (Vec::new(), Hash::GENESIS);
        for position in 1..=after + count {
            let mut event = event(Position(position));
            event.hash = Link::from(&event).hash_after(last);
            last = event.hash;
            if position <= after {
                continue;
            }
            let mut headers = async_nats::HeaderMap::new();
            for (name, value) in cloudevents::headers(&event, store) {
                headers.insert(name, value.as_str());
            }
            let (subject, body) = (subject::of_stream(&event.stream), event.data.get().to_owned());
            acks.push(self.jetstream.publish_with_headers(subject, headers, body.into()).await.unwrap());
            // The client accepts no more while too many are pending.
            if acks.len() == 1_000 {
                for ack in acks.drain(..) {
                    ack.await.unwrap();
                }
            }
        }
        for ack in acks {
            ack.await.unwrap();
        }
    }

    async fn publish(&self, count: usize) {
        let publish = |_| async {
            self.jetstream.publish("loggia.curation.any", "{}".into()).await.unwrap().await.unwrap();
        };
        futures::stream::iter(0..count).map(publish).buffer_unordered(200).count().await;
    }

    async fn handle(&self) -> stream::Stream {
        self.jetstream.get_stream(subject::EVENTS).await.unwrap()
    }

    /// Waits until the server has exactly this number of consumers.
    async fn has_consumers(&self, count: usize) {
        wait_until(TIMEOUT, &format!("{count} consumers"), async || {
            self.handle().await.cached_info().state.consumer_count == count
        })
        .await;
    }

    /// Answers requests to the event store with empty events, and counts them.
    async fn serve_missing_events(&self) -> Arc<AtomicUsize> {
        let (client, count) = (self.client.clone(), Arc::new(AtomicUsize::new(0)));
        let mut requests = client.subscribe(subject::READ_EVENTS).await.unwrap();
        let counted = count.clone();
        tokio::spawn(async move {
            while let Some(request) = requests.next().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let ReadEvents { after, limit, .. } = serde_json::from_slice(&request.payload).unwrap();
                let events = (1..=limit as u64).map(|number| event(Position(after.0 + number))).collect();
                let page = serde_json::to_vec(&EventPage { events, head: Position(100) }).unwrap();
                client.publish(request.reply.unwrap(), page.into()).await.unwrap();
            }
        });
        count
    }
}

fn event(position: Position) -> Recorded {
    let stream = "project-01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    recorded(position, stream, &Event::ProjectRestored(ProjectRestored {}))
}

/// Reads everything up to a position, and checks that nothing is missing or repeated; returns where an error came.
async fn read(subscription: &mut Subscription, mut at: u64, to: u64) -> Result<(), u64> {
    while at < to {
        let batch = tokio::time::timeout(TIMEOUT, subscription.next(500)).await.expect("events come");
        for delivery in batch.map_err(|_| at)? {
            at += 1;
            assert_eq!(delivery.position, Position(at));
        }
    }
    Ok(())
}

async fn read_all(subscriptions: &mut [Subscription], after: u64, to: u64) {
    let everyone = subscriptions.iter_mut().map(|subscription| read(subscription, after, to));
    for outcome in futures::future::join_all(everyone).await {
        assert_eq!(outcome, Ok(()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn projections_that_have_caught_up_share_one_consumer_and_remove_it() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    stream.publish(3_000).await;
    let source = EventSource::new(stream.client.clone());
    let starts = [0, 700, 2_900, 3_000];
    let mut subscriptions = starts.map(|after| source.subscribe(Position(after)));
    let everyone =
        subscriptions.iter_mut().zip(starts).map(|(subscription, after)| read(subscription, after, 3_000));
    assert_eq!(futures::future::join_all(everyone).await, [Ok(()); 4]);
    // The next event reaches all projections caught up.
    stream.publish(1).await;
    read_all(&mut subscriptions, 3_000, 3_001).await;
    stream.has_consumers(1).await;
    // Far more than a window, read by all projections and by a concurrent replay.
    let mut replay = source.subscribe_dedicated(Position(0));
    tokio::join!(stream.publish(20_000), read_all(&mut subscriptions, 3_001, 23_001), async {
        read(&mut replay, 0, 23_001).await.unwrap();
    });
    stream.has_consumers(2).await;
    drop(replay);
    stream.has_consumers(1).await;
    let first = subscriptions.into_iter().next();
    stream.has_consumers(1).await;
    drop(first);
    stream.has_consumers(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_projection_is_evicted_and_rejoins() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    let source = EventSource::new(stream.client.clone());
    let mut subscriptions = [0; 3].map(|after| source.subscribe(Position(after)));
    stream.publish(10).await;
    read_all(&mut subscriptions, 0, 10).await;
    let [slow, fast @ ..] = &mut subscriptions;
    tokio::join!(stream.publish(12_000), read_all(fast, 10, 12_010));
    stream.has_consumers(1).await;
    assert_eq!(slow.next(1).await.unwrap()[0].position, Position(11));
    stream.has_consumers(2).await;
    read(slow, 11, 12_010).await.unwrap();
    stream.publish(1).await;
    read_all(&mut subscriptions, 12_010, 12_011).await;
    stream.has_consumers(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gap_is_filled_once_for_all_projections() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    stream.publish(20).await;
    for missing in [1, 2, 8, 9, 10, 15] {
        stream.handle().await.delete_message(missing).await.unwrap();
    }
    let source = EventSource::new(stream.client.clone());
    let mut subscriptions = [0; 4].map(|after| source.subscribe(Position(after)));
    let error = subscriptions[0].next(1).await.unwrap_err().to_string();
    assert!(
        error.contains("continues at 3 where 1 was expected") && error.ends_with("start the write side"),
        "{error}"
    );
    for subscription in &mut subscriptions {
        assert_eq!(subscription.next(1).await.unwrap_err().to_string(), error);
    }
    let requests = stream.serve_missing_events().await;
    subscriptions = [0; 4].map(|after| source.subscribe(Position(after)));
    read_all(&mut subscriptions, 0, 20).await;
    assert_eq!(requests.load(Ordering::SeqCst), 3, "one request for each gap");
    stream.has_consumers(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn following_continues_after_a_killed_server_restarts() {
    let Some(mut nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    let source = EventSource::new(stream.client.clone());
    let mut subscriptions = [0; 3].map(|after| source.subscribe(Position(after)));
    stream.publish(100).await;
    read_all(&mut subscriptions, 0, 100).await;
    nats.restart().await;
    stream.publish(100).await;
    for subscription in &mut subscriptions {
        let mut at = 100;
        // The client restores its consumer by itself, or gives up; then a worker starts to follow again.
        while let Err(reached) = read(subscription, at, 200).await {
            at = reached;
            tokio::time::sleep(Duration::from_millis(100)).await;
            *subscription = source.subscribe(Position(at));
        }
    }
    stream.has_consumers(1).await;
    drop(subscriptions);
    stream.has_consumers(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_announcements_the_head_is_taken_from_the_stream() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    stream.publish_events(0, 3).await;
    let source = EventSource::new(nats.client().await);
    wait_until(TIMEOUT, "the head of the stream", async || source.last_known_log_head() == Some(Position(3)))
        .await;
    assert_eq!(source.log_head().await.unwrap(), Position(3));
}
