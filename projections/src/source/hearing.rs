//! How long ago each reading of the stream was last sure to have heard all there is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemas::ids::Position;
use tokio::time::Instant;

/// All readings of a node.
#[derive(Debug, Clone, Default)]
pub(super) struct Hearing {
    readings: Arc<Mutex<Readings>>,
}

#[derive(Debug, Default)]
struct Readings {
    made: u64,
    all: BTreeMap<u64, Reading>,
}

#[derive(Debug)]
struct Reading {
    /// The last position that came.
    after: Position,
    /// When a message came last, or the server said that there is none.
    heard: Instant,
    /// Whether it reads nothing at present because its followers do not take what came.
    waits: bool,
    /// Why it cannot read at present.
    trouble: Option<String>,
}

/// One reading, which tells how it is.
#[derive(Debug)]
pub(super) struct Ear {
    hearing: Hearing,
    id: u64,
}

impl Hearing {
    /// Adds a reading behind a position; it counts until the ear is dropped.
    pub(super) fn begin(&self, after: Position) -> Ear {
        let mut readings = self.lock();
        readings.made += 1;
        let id = readings.made;
        let reading = Reading { after, heard: Instant::now(), waits: false, trouble: None };
        readings.all.insert(id, reading);
        drop(readings);
        Ear { hearing: self.clone(), id }
    }

    /// Returns how long the reading that has heard nothing for longest has done so; zero where there is none.
    pub(super) fn unheard(&self) -> Duration {
        let readings = self.lock();
        let listening = readings.all.values().filter(|reading| !reading.waits);
        listening.map(|reading| reading.heard.elapsed()).max().unwrap_or_default()
    }

    /// Returns why readings fail at present, if one does.
    pub(super) fn trouble(&self) -> Option<String> {
        self.lock().all.values().find_map(|reading| reading.trouble.clone())
    }

    /// Returns the last position of a reading that has been silent for so long though the stream holds events up to
    /// `published`.
    pub(super) fn misses(&self, published: Position, silence: Duration) -> Option<Position> {
        let readings = self.lock();
        let missing = readings.all.values().filter(|reading| {
            !reading.waits && reading.after < published && reading.heard.elapsed() >= silence
        });
        missing.map(|reading| reading.after).min()
    }

    fn lock(&self) -> MutexGuard<'_, Readings> {
        // A panic while the lock was held leaves plain values, each of them whole.
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ear {
    /// Everything up to this position has come, and the server is heard.
    pub(super) fn heard(&self, after: Position) {
        self.change(|reading| {
            (reading.after, reading.heard, reading.trouble) = (after, Instant::now(), None);
        });
    }

    /// It waits for its followers from now on, or reads on.
    pub(super) fn waits(&self, waits: bool) {
        self.change(|reading| (reading.waits, reading.heard) = (waits, Instant::now()));
    }

    /// It could not read, for this reason, and tries again.
    pub(super) fn failed(&self, reason: &str) {
        self.change(|reading| reading.trouble = Some(reason.to_owned()));
    }

    fn change(&self, change: impl FnOnce(&mut Reading)) {
        if let Some(reading) = self.hearing.lock().all.get_mut(&self.id) {
            change(reading);
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.hearing.lock().all.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_reading_that_is_silent_for_longest_counts() {
        let (hearing, second) = (Hearing::default(), Duration::from_secs(1));
        assert_eq!(hearing.unheard(), Duration::ZERO);
        let (one, other) = (hearing.begin(Position(5)), hearing.begin(Position(5)));
        tokio::time::advance(3 * second).await;
        one.heard(Position(9));
        tokio::time::advance(second).await;
        assert_eq!(hearing.unheard(), 4 * second);
        assert_eq!(hearing.misses(Position(9), 2 * second), Some(Position(5)));
        assert_eq!(hearing.misses(Position(9), 5 * second), None, "it may come yet");
        assert_eq!(hearing.misses(Position(5), second), None, "there is nothing that it lacks");
        other.waits(true);
        assert_eq!((hearing.unheard(), hearing.misses(Position(9), second)), (second, None));
        other.failed("no leader");
        assert_eq!(hearing.trouble().as_deref(), Some("no leader"));
        drop(other);
        assert_eq!((hearing.unheard(), hearing.trouble()), (second, None));
    }
}
