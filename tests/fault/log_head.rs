//! The head of the log as projections learn it from a write side whose relay is stopped.

use std::sync::Arc;
use std::time::Duration;

use event_log::EventLog;
use health::Health;
use kit::nats::Nats;
use kit::wait_until;
use process_role::ProcessRole;
use projections::source::EventSource;
use schemas::clock::Clock;
use schemas::command::{Command, CommandReply};
use schemas::ids::Position;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use write::relay::{Announcer, Relay, RelayProgress};
use write::service::{CommandDispatcher, ProjectService};

use crate::TIMEOUT;
use crate::cluster_load::message;

/// A write side whose relay position the test sets.
struct WriteSide {
    _folder: tempfile::TempDir,
    store: Arc<EventLog>,
    commands: CommandDispatcher,
    relayed: watch::Sender<RelayProgress>,
    stop: CancellationToken,
}

impl WriteSide {
    async fn start(nats: &Nats) -> WriteSide {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let (relayed, stop) = (watch::Sender::default(), CancellationToken::new());
        let announcer =
            Announcer::new(store.clone(), client(nats, ProcessRole::Write).await, relayed.subscribe());
        tokio::spawn(announcer.run(stop.clone()));
        let commands = CommandDispatcher::new(Arc::new(ProjectService::new(store.clone(), clock)));
        WriteSide { _folder: folder, store, commands, relayed, stop }
    }

    /// Appends this many events.
    async fn add(&self, count: usize) {
        for _ in 0..count {
            let slug = format!("house-{}", self.store.head().await.unwrap().position.0);
            let record = json!({"slug": slug, "name": "House", "category": "art"});
            let select = Command::Select { record: record.as_object().unwrap().clone() };
            let reply = self.commands.execute(message(select)).await;
            assert!(matches!(reply, CommandReply::Project(_)), "{reply:?}");
        }
    }

    fn relays(&self, position: u64) {
        self.relayed.send_replace(RelayProgress { position: Position(position), failure: None });
    }
}

/// Returns a connection with the permissions of a role.
async fn client(nats: &Nats, role: ProcessRole) -> async_nats::Client {
    let options = nats.address().connect_options().custom_inbox_prefix(role.inbox());
    options.connect(format!("nats://{}", nats.address())).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_head_is_that_of_the_log_even_if_the_relay_is_stopped() {
    let Some(nats) = Nats::start().await else { return };
    let write_side = WriteSide::start(&nats).await;
    let source = EventSource::new(client(&nats, ProcessRole::Read).await);
    write_side.add(7).await;
    wait_until(TIMEOUT, "the head of the log", async || source.last_known_log_head() == Some(Position(7)))
        .await;
    assert_eq!(source.log_head().await.unwrap(), Position(7));
    assert_eq!(source.stream_head().await.unwrap(), Position::START, "there is no stream yet");
    write_side.add(2).await;
    wait_until(TIMEOUT, "the new head", async || source.last_known_log_head() == Some(Position(9))).await;
    // Without further announcements the last one stays valid.
    write_side.stop.cancel();
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(source.last_known_log_head(), Some(Position(9)));
    assert_eq!(source.log_head().await.unwrap(), Position(9));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lagging_node_is_not_ready_until_it_catches_up() {
    let Some(nats) = Nats::start().await else { return };
    let write_side = WriteSide::start(&nats).await;
    let health = Health::default();
    let source = EventSource::with_health(client(&nats, ProcessRole::Read).await, &health);
    let mut subscription = source.subscribe(Position::START);
    assert_eq!(source.log_head().await.unwrap(), Position::START);
    // Without the announcement it is unknown whether anything is missing.
    wait_until(TIMEOUT, "silence", async || source.longest_silence() >= Duration::from_secs(4)).await;
    assert_eq!(health.not_ready(), None);
    write_side.add(5).await;
    write_side.relays(5);
    let reason = kit::wait_for(TIMEOUT, "a node that is not ready", async || health.not_ready()).await;
    assert!(reason.contains("NATS has 5 events, and none after 0 comes"), "{reason}");
    let relay = Relay::new(write_side.store.clone(), client(&nats, ProcessRole::Write).await);
    tokio::spawn(relay.run(write_side.stop.clone()));
    let batch = tokio::time::timeout(TIMEOUT, subscription.next(100)).await.unwrap().unwrap();
    assert_eq!(batch[0].position, Position(1));
    wait_until(TIMEOUT, "a node that is ready", async || {
        health.not_ready().is_none() && source.longest_silence() < Duration::from_secs(4)
    })
    .await;
}
