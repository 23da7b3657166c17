//! The readiness of a node: ready for requests once every projection has applied what the stream held at the last check.

use std::time::Duration;

use api::Readiness;
use data_folder::DataFolder;
use health::Health;
use projections::node::Node;
use projections::readiness::ReadinessSource;
use projections::source::EventSource;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The interval between two checks while the node is not ready.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The interval between two checks of the health of the process once the node has been ready.
const HEALTH_INTERVAL: Duration = Duration::from_secs(1);

/// Publishes the readiness of a node: not ready at first, ready once it has caught up, and not ready again while a component has failed
/// for longer than its grace period, or when the process is about to stop. Later lag is a matter of metrics: an old answer is
/// better than none.
#[derive(Debug, Clone)]
pub struct ReadinessProbe {
    readiness: watch::Sender<Readiness>,
    health: Health,
    draining: CancellationToken,
}

impl ReadinessProbe {
    /// Returns the readiness of a node that is starting.
    pub fn new(health: Health, draining: CancellationToken) -> ReadinessProbe {
        let reason = "The node is starting.".to_owned();
        ReadinessProbe {
            readiness: watch::Sender::new(Readiness { ready: false, answers: false, reason }),
            health,
            draining,
        }
    }

    pub fn subscribe(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }

    /// Publishes that calls are answered from now on, whether the node is ready or not.
    pub fn answers(&self) {
        self.readiness.send_modify(|readiness| readiness.answers = true);
    }

    /// Checks until the models that answer have caught up, then follows the health of the process.
    pub async fn models(self, checked: ReadinessSource, source: EventSource, data: DataFolder) {
        if self.until_ready(&source, &checked).await {
            data.note_caught_up();
            tracing::info!("ready");
        }
        self.follow_health().await;
    }

    /// Checks until the workers of a node without an API have caught up, then follows the health of the process.
    pub async fn workers(self, node: Node) {
        let source = node.source().clone();
        if self.until_ready(&source, &ReadinessSource::Workers(Box::new(node))).await {
            tracing::info!("ready");
        }
        self.follow_health().await;
    }

    /// Waits until the node is ready. Returns `false` if the process shuts down before.
    async fn until_ready(&self, source: &EventSource, checked: &ReadinessSource) -> bool {
        let checking = async {
            let mut goal = None;
            while let Err(reason) = checked.reached(&mut goal, source).await {
                self.readiness.send_modify(|readiness| readiness.reason = reason);
                self.health.log_lasting();
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
        };
        self.draining.run_until_cancelled(checking).await.is_some()
    }

    /// Publishes that the node is ready while every component of the process works, until the process is about to stop.
    pub async fn follow_health(self) {
        let following = async {
            loop {
                // Operators see the reasons in the log, and in /status of their listener.
                let readiness = match self.health.not_ready_public() {
                    None => Readiness::READY,
                    Some(reason) => Readiness { ready: false, answers: true, reason },
                };
                self.readiness.send_if_modified(|published| {
                    let is_other = *published != readiness;
                    *published = readiness;
                    is_other
                });
                self.health.log_lasting();
                tokio::time::sleep(HEALTH_INTERVAL).await;
            }
        };
        let _: Option<()> = self.draining.run_until_cancelled(following).await;
        let reason = "The node is about to stop; send requests to another one.".to_owned();
        self.readiness.send_modify(|readiness| {
            *readiness = Readiness { ready: false, answers: readiness.answers, reason }
        });
    }
}
