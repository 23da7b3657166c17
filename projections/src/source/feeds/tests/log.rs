//! A log without a server: pumps read it as fast as they may.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemas::cloudevents::NotAnEvent;
use tokio::sync::watch;

use super::super::*;

/// What every event of the log takes in memory, in bytes.
pub(super) const SIZE: usize = 10;

/// A pump brings so many events together, where there are as many.
const AT_ONCE: u64 = 3;

/// A log that grows and breaks when the test wants it to.
#[derive(Clone)]
pub(super) struct Log {
    head: watch::Sender<u64>,
    broken: watch::Sender<u32>,
    reading: Arc<AtomicUsize>,
    begun: Arc<AtomicUsize>,
}

/// Counts a reading for as long as it is under way.
struct Reading(Arc<AtomicUsize>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Log {
    pub(super) fn new(head: u64) -> Log {
        let (head, broken) = (watch::Sender::new(head), watch::Sender::new(0));
        Log { head, broken, reading: Arc::default(), begun: Arc::default() }
    }

    pub(super) fn feeds(&self, bounds: Bounds) -> Arc<Feeds> {
        let log = self.clone();
        Feeds::new(bounds, move |feeder| log.clone().pump(feeder))
    }

    pub(super) fn grow(&self, to: u64) {
        self.head.send_replace(to);
    }

    pub(super) fn head(&self) -> u64 {
        *self.head.borrow()
    }

    /// Ends every reading that is under way.
    pub(super) fn break_off(&self) {
        self.broken.send_modify(|times| *times += 1);
    }

    /// How many readings there have been.
    pub(super) fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    /// Waits until so many readings are under way, no more and no fewer.
    pub(super) async fn is_read_by(&self, readings: usize) {
        for _ in 0..1_000 {
            if self.reading.load(Ordering::SeqCst) == readings {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        panic!("{} readings instead of {readings}", self.reading.load(Ordering::SeqCst));
    }

    async fn pump(self, feeder: Feeder) -> SourceError {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.reading.fetch_add(1, Ordering::SeqCst);
        let _reading = Reading(self.reading.clone());
        let (mut head, mut broken) = (self.head.subscribe(), self.broken.subscribe());
        let mut after = feeder.after();
        loop {
            let read = async {
                let head = head.wait_for(|head| *head > after.0).await.map_or(after.0, |head| *head);
                let last = head.min(after.0 + AT_ONCE);
                feeder.push((after.0 + 1..=last).map(Position).map(arrived)).await;
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

pub(super) fn arrived(position: Position) -> Arrived {
    let found = Err(NotAnEvent::Header { header: "none", reason: "it is a test".into() });
    Arrived { position, found, size: SIZE }
}
