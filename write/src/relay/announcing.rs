//! Announces where the log ends to all who project it, so that they know what they lack even where NATS brings them
//! nothing.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use schemas::control::LogHead;
use schemas::ids::Position;
use schemas::nats_role::NatsRole;
use schemas::subject;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Relayed;
use crate::event_store::EventStore;

/// How often it is announced though nothing has changed.
const BEAT: Duration = Duration::from_secs(1);

/// Changes that follow each other faster are announced together.
const APART: Duration = Duration::from_millis(100);

/// Who listens.
const LISTENERS: [NatsRole; 4] = [NatsRole::Project, NatsRole::Serve, NatsRole::Read, NatsRole::Up];

/// Announces the end of one log.
pub struct Announcer {
    store: Arc<dyn EventStore>,
    client: Client,
    relayed: watch::Receiver<Relayed>,
    announced: watch::Sender<Option<LogHead>>,
}

impl Announcer {
    /// An announcer of a store's log and of how far its relay is.
    pub fn new(store: Arc<dyn EventStore>, client: Client, relayed: watch::Receiver<Relayed>) -> Announcer {
        Announcer { store, client, relayed, announced: watch::Sender::default() }
    }

    /// Returns what was announced last, at any time; none before the first time.
    pub fn watch(&self) -> watch::Receiver<Option<LogHead>> {
        self.announced.subscribe()
    }

    /// Announces until `stop`.
    pub async fn run(mut self, stop: CancellationToken) {
        stop.run_until_cancelled(async {
            loop {
                let known = self.announce().await;
                self.changed(known).await;
            }
        })
        .await;
    }

    /// Announces how far the log is, and gives its position; none where the store does not tell.
    async fn announce(&mut self) -> Option<Position> {
        // What keeps the store from answering is reported by the relay, which reads it too.
        let head = self.store.head().await.ok()?;
        let relayed = self.relayed.borrow_and_update().position;
        let announced = LogHead { position: head.position, hash: head.hash, relayed };
        self.announced.send_replace(Some(announced));
        // The client would keep what is sent while there is no connection, and an old announcement is worth nothing.
        if self.client.connection_state() == State::Connected
            && let Ok(message) = serde_json::to_vec(&announced)
        {
            let message = bytes::Bytes::from(message);
            for listener in LISTENERS {
                let _ = self.client.publish(subject::log_head(&listener.inbox()), message.clone()).await;
            }
        }
        Some(head.position)
    }

    /// Waits until there is something else to announce, or it is time to announce the same again.
    async fn changed(&mut self, known: Option<Position>) {
        let Announcer { store, relayed, .. } = self;
        let grown = async {
            let beyond = match known {
                Some(known) => store.wait_beyond(known).await.ok(),
                None => None,
            };
            if beyond.is_none() {
                std::future::pending::<()>().await;
            }
        };
        let carried = async {
            if relayed.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = grown => sleep(APART).await,
            () = carried => sleep(APART).await,
            () = sleep(BEAT) => {}
        }
    }
}
