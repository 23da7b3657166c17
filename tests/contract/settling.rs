//! The other workers of a node while one of them is busy.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kit::nats::Nats;
use kit::wait_until;
use projections::projection::{Projection, Refused};
use projections::source::{EventSource, Sharing};
use projections::status::Status;
use projections::worker::Worker;
use read::catalog::CatalogReader;
use read::checkpoint::Checkpoint;
use read::error::ModelError;
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::Position;
use tokio_util::sync::CancellationToken;

use crate::feeds::Stream;

const SOON: Duration = Duration::from_secs(60);

/// An empty model. It can settle without end, or block in its second commit.
#[derive(Debug)]
struct Idle<const SETTLES: bool, const STANDS: bool, const APART: bool> {
    checkpoint: Checkpoint,
}

type Settling = Idle<true, false, false>;
type Standing = Idle<false, true, false>;
type Level = Idle<false, false, false>;
type Apart = Idle<false, false, true>;

impl<const SETTLES: bool, const STANDS: bool, const APART: bool> Projection for Idle<SETTLES, STANDS, APART> {
    type Model = CatalogReader;
    const SHARING: Sharing = if APART { Sharing::Apart } else { Sharing::Shared };

    type Event = ();

    fn select(_: &Arc<Recorded>, _: &Arc<Event>) -> Option<()> {
        None
    }

    async fn open(_: &Path) -> Result<Self, ModelError> {
        Ok(Idle { checkpoint: Checkpoint::default() })
    }

    fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    async fn apply(&mut self, _: Vec<()>) -> Result<Vec<Refused>, ModelError> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        if STANDS && self.checkpoint.position > Position::START {
            std::future::pending::<()>().await;
        }
        self.checkpoint = checkpoint;
        Ok(())
    }

    async fn settle(&mut self) -> Result<(), ModelError> {
        if SETTLES {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// Starts a worker that follows until the test ends.
async fn follow<P: Projection>(source: &EventSource, name: &str) -> Status {
    let status = Status::new(name);
    let clock = Clock::system();
    let mut worker: Worker<P> =
        Worker::open(Path::new(""), source.clone(), status.clone(), clock).await.unwrap();
    tokio::spawn(async move { worker.follow(&CancellationToken::new()).await.unwrap() });
    status
}

async fn applied(status: &Status, position: u64) {
    let name = status.get().name;
    wait_until(SOON, &format!("{name} at {position}"), async || status.get().position == Position(position))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_applies_events_and_reports_progress_while_settling() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    let source = EventSource::new(stream.client.clone());
    let (settling, level) =
        (follow::<Settling>(&source, "settling").await, follow::<Level>(&source, "level").await);
    stream.publish_events(0, 1).await;
    applied(&settling, 1).await;
    // It settles after a quiet second, without end.
    let began = settling.get().heartbeat;
    wait_until(SOON, "heartbeats of one that settles", async || {
        let beat = settling.get().heartbeat;
        beat.zip(began).is_some_and(|(beat, began)| beat.duration_since(began).as_secs() >= 3)
    })
    .await;
    // More than the window of a shared consumer.
    stream.publish_events(1, 5_000).await;
    applied(&settling, 5_001).await;
    applied(&level, 5_001).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_with_its_own_consumer_waits_for_no_other() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    let source = EventSource::new(stream.client.clone());
    let (standing, apart) =
        (follow::<Standing>(&source, "standing").await, follow::<Apart>(&source, "apart").await);
    stream.publish_events(0, 1).await;
    applied(&standing, 1).await;
    applied(&apart, 1).await;
    stream.publish_events(1, 12_000).await;
    applied(&apart, 12_001).await;
    assert_eq!(standing.get().position, Position(1), "it stands still all the while");
}
