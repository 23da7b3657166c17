//! Announces the end of the log to the projections, so that they know their lag even if NATS delivers nothing.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use event_log::EventLog;
use schemas::control::LogHead;
use schemas::ids::Position;
use schemas::subject;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use process_role::ProcessRole;

use super::RelayProgress;

/// How often an unchanged position is announced again.
const REPEAT: Duration = Duration::from_secs(1);

/// The shortest interval between announcements; changes in between are announced together.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The roles whose processes receive announcements.
const LISTENERS: [ProcessRole; 4] =
    [ProcessRole::Project, ProcessRole::Serve, ProcessRole::Read, ProcessRole::Up];

/// Announces the end of one log.
pub struct Announcer {
    log: Arc<EventLog>,
    client: Client,
    relayed: watch::Receiver<RelayProgress>,
    announced: watch::Sender<Option<LogHead>>,
}

impl Announcer {
    /// Returns an announcer of the end of a log and of the progress of its relay.
    pub fn new(log: Arc<EventLog>, client: Client, relayed: watch::Receiver<RelayProgress>) -> Announcer {
        Announcer { log, client, relayed, announced: watch::Sender::default() }
    }

    /// Returns the last announcement; `None` before the first.
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

    /// Announces the end of the log and returns it; `None` if the store does not answer.
    async fn announce(&mut self) -> Option<Position> {
        // The relay reads the store too and reports why it does not answer.
        let head = self.log.head().await.ok()?;
        let relayed = self.relayed.borrow_and_update().position;
        let announced = LogHead { position: head.position, hash: head.hash, relayed };
        self.announced.send_replace(Some(announced));
        // Without a connection the client would buffer announcements, and an old one is useless.
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

    /// Waits until the position changes or is due to be announced again.
    async fn changed(&mut self, known: Option<Position>) {
        let Announcer { log, relayed, .. } = self;
        let grown = async {
            let beyond = match known {
                Some(known) => log.wait_beyond(known).await.ok(),
                None => None,
            };
            if beyond.is_none() {
                std::future::pending::<()>().await;
            }
        };
        let published = async {
            if relayed.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = grown => sleep(MIN_INTERVAL).await,
            () = published => sleep(MIN_INTERVAL).await,
            () = sleep(REPEAT) => {}
        }
    }
}
