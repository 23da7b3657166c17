//! A worker continues while its model is optimized, and while another worker of the node is stalled.

use std::path::Path;
use std::sync::Arc;

use kit::nats::Nats;
use kit::{TIMEOUT, wait_until};
use projections::projection::{PoisonEvent, Projection};
use projections::source::{EventSource, Sharing};
use projections::status::Status;
use projections::worker::{ProjectionWorker, Worker};
use read::catalog::CatalogReader;
use read::checkpoint::Checkpoint;
use read::error::ModelError;
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::Position;
use tokio_util::sync::CancellationToken;

use crate::shared_consumers::Stream;

/// An empty model. Its optimization can take forever, or its second commit block.
#[derive(Debug)]
struct Idle<const OPTIMIZES: bool, const STALLS: bool, const DEDICATED: bool> {
    checkpoint: Checkpoint,
}

type Optimizing = Idle<true, false, false>;
type Stalled = Idle<false, true, false>;
type CaughtUp = Idle<false, false, false>;
type Dedicated = Idle<false, false, true>;

impl<const OPTIMIZES: bool, const STALLS: bool, const DEDICATED: bool> Projection
    for Idle<OPTIMIZES, STALLS, DEDICATED>
{
    type Model = CatalogReader;
    const SHARING: Sharing = if DEDICATED { Sharing::Dedicated } else { Sharing::Shared };

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

    async fn apply(&mut self, _: Vec<()>) -> Result<Vec<PoisonEvent>, ModelError> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        if STALLS && self.checkpoint.position > Position::START {
            std::future::pending::<()>().await;
        }
        self.checkpoint = checkpoint;
        Ok(())
    }

    async fn optimize(&mut self) -> Result<(), ModelError> {
        if OPTIMIZES {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// Starts a worker that runs until the test ends.
async fn follow<P: Projection>(source: &EventSource, name: &str) -> Status {
    let status = Status::new(name);
    let clock = Clock::system();
    let mut worker: ProjectionWorker<P> =
        ProjectionWorker::open(Path::new(""), source.clone(), status.clone(), clock).await.unwrap();
    tokio::spawn(async move { worker.follow(&CancellationToken::new()).await.unwrap() });
    status
}

async fn applied(status: &Status, position: u64) {
    let name = status.get().name;
    wait_until(TIMEOUT, &format!("{name} at {position}"), async || {
        status.get().position == Position(position)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_applies_events_and_reports_progress_while_optimizing() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    let source = EventSource::new(stream.client.clone());
    let optimizing = follow::<Optimizing>(&source, "optimizing").await;
    let caught_up = follow::<CaughtUp>(&source, "caught_up").await;
    stream.publish_events(0, 1).await;
    applied(&optimizing, 1).await;
    // After a second without events the optimization starts, and never ends.
    let began = optimizing.get().heartbeat;
    wait_until(TIMEOUT, "heartbeats while optimizing", async || {
        let heartbeat = optimizing.get().heartbeat;
        heartbeat.zip(began).is_some_and(|(heartbeat, began)| heartbeat.duration_since(began).as_secs() >= 3)
    })
    .await;
    // More than the window of a shared consumer.
    stream.publish_events(1, 5_000).await;
    applied(&optimizing, 5_001).await;
    applied(&caught_up, 5_001).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_with_its_own_consumer_waits_for_no_other() {
    let Some(nats) = Nats::start().await else { return };
    let stream = Stream::new(&nats).await;
    let source = EventSource::new(stream.client.clone());
    let stalled = follow::<Stalled>(&source, "stalled").await;
    let dedicated = follow::<Dedicated>(&source, "dedicated").await;
    stream.publish_events(0, 1).await;
    applied(&stalled, 1).await;
    applied(&dedicated, 1).await;
    stream.publish_events(1, 12_000).await;
    applied(&dedicated, 12_001).await;
    assert_eq!(stalled.get().position, Position(1), "it is still stalled");
}
