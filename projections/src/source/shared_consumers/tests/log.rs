//! An in-memory log, read by pumps as fast as the consumers accept events.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemas::cloudevents::NotAnEvent;
use tokio::sync::watch;

use super::super::*;

/// The memory of each event, in bytes.
pub(super) const SIZE: usize = 10;

/// The most events that a pump sends at once.
const MAX_CHUNK: u64 = 3;

/// A log that grows, and whose readers fail, when the test says so.
#[derive(Clone)]
pub(super) struct Log {
    head: watch::Sender<u64>,
    broken: watch::Sender<u32>,
    readers: Arc<AtomicUsize>,
    readers_started: Arc<AtomicUsize>,
}

/// Counts a reader until it is dropped.
struct Reader(Arc<AtomicUsize>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Log {
    pub(super) fn new(head: u64) -> Log {
        let (head, broken) = (watch::Sender::new(head), watch::Sender::new(0));
        Log { head, broken, readers: Arc::default(), readers_started: Arc::default() }
    }

    pub(super) fn consumers(&self, bounds: Bounds) -> Arc<SharedConsumers> {
        let log = self.clone();
        SharedConsumers::new(bounds, move |sender| log.clone().pump(sender))
    }

    pub(super) fn grow(&self, to: u64) {
        self.head.send_replace(to);
    }

    pub(super) fn head(&self) -> u64 {
        *self.head.borrow()
    }

    /// Ends all readers with an error.
    pub(super) fn fail_readers(&self) {
        self.broken.send_modify(|times| *times += 1);
    }

    /// Returns the number of readers that were started.
    pub(super) fn readers_started(&self) -> usize {
        self.readers_started.load(Ordering::SeqCst)
    }

    /// Waits until there are exactly this many readers.
    pub(super) async fn has_readers(&self, count: usize) {
        for _ in 0..1_000 {
            if self.readers.load(Ordering::SeqCst) == count {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        panic!("{} readers instead of {count}", self.readers.load(Ordering::SeqCst));
    }

    async fn pump(self, sender: EventSender) -> SourceError {
        self.readers_started.fetch_add(1, Ordering::SeqCst);
        self.readers.fetch_add(1, Ordering::SeqCst);
        let _reader = Reader(self.readers.clone());
        let (mut head, mut broken) = (self.head.subscribe(), self.broken.subscribe());
        let mut after = sender.after();
        loop {
            let read = async {
                let head = head.wait_for(|head| *head > after.0).await.map_or(after.0, |head| *head);
                let last = head.min(after.0 + MAX_CHUNK);
                sender.send((after.0 + 1..=last).map(Position).map(delivery)).await;
                Position(last)
            };
            tokio::select! {
                biased;
                _ = broken.changed() => return SourceError::Unavailable("broken off".into()),
                last = read => after = last,
            }
        }
    }
}

pub(super) fn delivery(position: Position) -> Delivery {
    let decoded = Err(NotAnEvent::Header { header: "none", reason: "it is a test".into() });
    Delivery { position, decoded, size: SIZE }
}
