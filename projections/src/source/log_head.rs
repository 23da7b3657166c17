//! The last position of the log. The write side announces it each second, and at once when it changes; without announcements
//! it is requested, and without an answer the last position of the stream is used.
//!
//! The same task reports missing events, because only an announcement tells a silent stream from a log without edits.

use std::sync::OnceLock;
use std::time::Duration;

use futures::StreamExt;
use health::Health;
use schemas::control::LogHead;
use schemas::ids::Position;
use schemas::subject;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::SourceError;
use super::liveness::Liveness;
use super::stream_reader::StreamReader;

/// An announcement older than this is outdated.
const MAX_AGE: Duration = Duration::from_secs(3);
/// How often to check that announcements come and no events are missing.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long the write side may take to answer a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// A consumer that is silent for this long though the stream holds more misses events.
const MAX_SILENCE: Duration = Duration::from_secs(2);
/// How long a node may miss events before it is not ready.
const READINESS_GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The last known position of the log, updated in the background from the first call on.
#[derive(Debug)]
pub(super) struct LogHeadMonitor {
    known: watch::Sender<KnownHead>,
    task: OnceLock<AbortOnDropHandle<()>>,
    health: Health,
}

#[derive(Debug, Clone, Copy, Default)]
struct KnownHead {
    head: Option<Position>,
    announced: Option<(Instant, LogHead)>,
}

impl KnownHead {
    /// Returns the last announcement unless it is outdated.
    fn announced(&self) -> Option<LogHead> {
        self.announced.filter(|(at, _)| at.elapsed() < MAX_AGE).map(|(_, announced)| announced)
    }
}

impl LogHeadMonitor {
    pub(super) fn new(health: Health) -> LogHeadMonitor {
        LogHeadMonitor { known: watch::Sender::default(), task: OnceLock::new(), health }
    }

    /// Returns the last known position without waiting; `None` before the first answer.
    pub(super) fn last_known(&self, reader: &StreamReader) -> Option<Position> {
        self.start(reader);
        self.known.borrow().head
    }

    /// Returns the last position of the log; it is requested unless it was announced lately.
    pub(super) async fn current(&self, reader: &StreamReader) -> Result<Position, SourceError> {
        self.start(reader);
        let known = *self.known.borrow();
        match known.announced() {
            Some(announced) => Ok(announced.position),
            None => request(reader, known.head).await,
        }
    }

    fn start(&self, reader: &StreamReader) {
        self.task.get_or_init(|| {
            let monitoring = monitor(reader.clone(), self.known.clone(), self.health.clone());
            #[expect(clippy::disallowed_methods, reason = "the handle aborts the task with the source")]
            AbortOnDropHandle::new(tokio::spawn(monitoring))
        });
    }
}

/// Requests the last position of the log from the write side; without an answer, returns the larger one of the stream's last
/// position and `known`.
async fn request(reader: &StreamReader, known: Option<Position>) -> Result<Position, SourceError> {
    let head = reader.head().await?;
    match timeout(REQUEST_TIMEOUT, reader.request_events(head, 1)).await {
        Ok(Ok(page)) => Ok(head.max(page.head)),
        Ok(Err(_)) | Err(_) => Ok(head.max(known.unwrap_or_default())),
    }
}

/// Receives announcements, and checks each second that they come and that no consumer misses events.
async fn monitor(reader: StreamReader, known: watch::Sender<KnownHead>, health: Health) {
    let stream = health.component("event stream");
    let missed = health.component("events").grace_period(READINESS_GRACE_PERIOD);
    let mut announcements = None;
    let mut checks = interval(CHECK_INTERVAL);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            message = next(&mut announcements) => message,
            _ = checks.tick() => None,
        };
        if let Some(message) = message {
            if let Ok(announced) = serde_json::from_slice::<LogHead>(&message.payload) {
                let announced_at = Some((Instant::now(), announced));
                known.send_replace(KnownHead { head: Some(announced.position), announced: announced_at });
            }
            continue;
        }
        if announcements.is_none() {
            // While disconnected, the client keeps the subscription for the next connection.
            announcements = reader.client().subscribe(subject_of(reader.client())).await.ok();
        }
        if known.borrow().announced().is_none() {
            let before = known.borrow().head;
            if let Ok(head) = request(&reader, before).await {
                known.send_modify(|known| known.head = Some(head));
            }
        }
        report(reader.liveness(), known.borrow().announced(), &stream, &missed);
    }
}

/// Returns the next announcement; pending without a subscription.
async fn next(announcements: &mut Option<async_nats::Subscriber>) -> Option<async_nats::Message> {
    let Some(subscriber) = announcements else { return std::future::pending().await };
    let message = subscriber.next().await;
    if message.is_none() {
        *announcements = None;
    }
    message
}

/// Returns the subject of announcements for this connection: beside its inbox, where only the write side may publish.
fn subject_of(client: &async_nats::Client) -> String {
    let inbox = client.new_inbox();
    subject::log_head(inbox.rsplit_once('.').map_or(inbox.as_str(), |(prefix, _)| prefix))
}

fn report(
    liveness: &Liveness,
    announced: Option<LogHead>,
    stream: &health::Component,
    missed: &health::Component,
) {
    match liveness.error() {
        Some(reason) => stream.failed(reason),
        None => stream.recovered(),
    }
    let published = announced.map(|announced| announced.relayed).unwrap_or_default();
    match liveness.missing_after(published, MAX_SILENCE) {
        Some(at) => missed.failed(format!("NATS has {published} events, and none after {at} comes")),
        None => missed.recovered(),
    }
}
