//! Where the log ends. The write side announces it each second, and at once when it changes; where nothing is
//! announced, it is asked, and where nobody answers, the stream tells how far it is.
//!
//! The same task reports what the readings miss: only with the announcement is silence told from a log without edits.

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
use super::hearing::Hearing;
use super::reading::StreamReader;

/// An announcement that is older says nothing of the present.
const FRESH: Duration = Duration::from_secs(3);
/// How often it is looked whether announcements still come.
const LOOK: Duration = Duration::from_secs(1);
/// How long the write side may take to answer where it announces nothing.
const ANSWERED: Duration = Duration::from_secs(1);
/// A reading that hears nothing for so long though there is more misses it.
const SILENCE: Duration = Duration::from_secs(2);
/// How long a node may miss events before it is not ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is known of the end of the log, kept up to date from the first question on.
#[derive(Debug)]
pub(super) struct LogHeads {
    known: watch::Sender<Known>,
    listening: OnceLock<AbortOnDropHandle<()>>,
    health: Health,
}

#[derive(Debug, Clone, Copy, Default)]
struct Known {
    head: Option<Position>,
    announced: Option<(Instant, LogHead)>,
}

impl Known {
    fn fresh(&self) -> Option<LogHead> {
        self.announced.filter(|(at, _)| at.elapsed() < FRESH).map(|(_, announced)| announced)
    }
}

impl LogHeads {
    pub(super) fn new(health: Health) -> LogHeads {
        LogHeads { known: watch::Sender::default(), listening: OnceLock::new(), health }
    }

    /// Returns the last position of the log as it was last heard; none before the first answer.
    pub(super) fn heard(&self, reader: &StreamReader) -> Option<Position> {
        self.listen(reader);
        self.known.borrow().head
    }

    /// Returns the last position of the log, asking for it where nothing was announced lately.
    pub(super) async fn current(&self, reader: &StreamReader) -> Result<Position, SourceError> {
        self.listen(reader);
        let known = *self.known.borrow();
        match known.fresh() {
            Some(announced) => Ok(announced.position),
            None => asked(reader, known.head).await,
        }
    }

    fn listen(&self, reader: &StreamReader) {
        self.listening.get_or_init(|| {
            let listening = listen(reader.clone(), self.known.clone(), self.health.clone());
            #[expect(clippy::disallowed_methods, reason = "the handle aborts the task with the source")]
            AbortOnDropHandle::new(tokio::spawn(listening))
        });
    }
}

/// The end of the log as the write side tells it; where it does not answer, no less than the stream holds and than was
/// known before.
async fn asked(reader: &StreamReader, known: Option<Position>) -> Result<Position, SourceError> {
    let head = reader.head().await?;
    match timeout(ANSWERED, reader.read_events(head, 1)).await {
        Ok(Ok(page)) => Ok(head.max(page.head)),
        Ok(Err(_)) | Err(_) => Ok(head.max(known.unwrap_or_default())),
    }
}

/// Takes announcements, and looks each second whether they come and whether the readings hear what they tell of.
async fn listen(reader: StreamReader, known: watch::Sender<Known>, health: Health) {
    let stream = health.component("event stream");
    let missed = health.component("events").patience(PATIENCE);
    let mut announcements = None;
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            message = next(&mut announcements) => message,
            _ = look.tick() => None,
        };
        if let Some(message) = message {
            if let Ok(announced) = serde_json::from_slice::<LogHead>(&message.payload) {
                let at = Instant::now();
                known
                    .send_replace(Known { head: Some(announced.position), announced: Some((at, announced)) });
            }
            continue;
        }
        if announcements.is_none() {
            // A connection that is away subscribes when it is back.
            announcements = reader.client().subscribe(subject_of(reader.client())).await.ok();
        }
        if known.borrow().fresh().is_none() {
            let before = known.borrow().head;
            if let Ok(head) = asked(&reader, before).await {
                known.send_modify(|known| known.head = Some(head));
            }
        }
        report(reader.hearing(), known.borrow().fresh(), &stream, &missed);
    }
}

/// The next announcement; none ever without a subscription.
async fn next(announcements: &mut Option<async_nats::Subscriber>) -> Option<async_nats::Message> {
    let Some(subscriber) = announcements else { return std::future::pending().await };
    let message = subscriber.next().await;
    if message.is_none() {
        *announcements = None;
    }
    message
}

/// Where announcements for this connection arrive: beside the answers to it, where only the write side may send.
fn subject_of(client: &async_nats::Client) -> String {
    let inbox = client.new_inbox();
    subject::log_head(inbox.rsplit_once('.').map_or(inbox.as_str(), |(prefix, _)| prefix))
}

fn report(
    hearing: &Hearing,
    announced: Option<LogHead>,
    stream: &health::Component,
    missed: &health::Component,
) {
    match hearing.trouble() {
        Some(reason) => stream.failed(reason),
        None => stream.recovered(),
    }
    let published = announced.map(|announced| announced.relayed).unwrap_or_default();
    match hearing.misses(published, SILENCE) {
        Some(at) => missed.failed(format!("NATS has {published} events, and none behind {at} comes")),
        None => missed.recovered(),
    }
}
