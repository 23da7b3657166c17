//! How long each consumer of the stream has been silent, and whether events are missing that the stream is known to hold.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemas::ids::Position;
use tokio::time::Instant;

/// The liveness of all consumers of a node.
#[derive(Debug, Clone, Default)]
pub(super) struct Liveness {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    last_id: u64,
    consumers: BTreeMap<u64, ConsumerState>,
}

#[derive(Debug)]
struct ConsumerState {
    /// The last position that was read.
    after: Position,
    /// When the last message came, or the server last said that there is none.
    heard: Instant,
    /// Whether it does not read at present, because its subscribers do not take what was read.
    is_waiting: bool,
    /// Why it cannot read at present.
    error: Option<String>,
}

/// Reports the liveness of one consumer, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct LivenessHandle {
    liveness: Liveness,
    id: u64,
}

impl Liveness {
    /// Adds a consumer that reads from after this position.
    pub(super) fn add(&self, after: Position) -> LivenessHandle {
        let mut state = self.lock();
        state.last_id += 1;
        let id = state.last_id;
        let consumer = ConsumerState { after, heard: Instant::now(), is_waiting: false, error: None };
        state.consumers.insert(id, consumer);
        drop(state);
        LivenessHandle { liveness: self.clone(), id }
    }

    /// Returns the longest silence of a consumer that is not waiting for its subscribers; zero without one.
    pub(super) fn longest_silence(&self) -> Duration {
        let state = self.lock();
        let reading = state.consumers.values().filter(|consumer| !consumer.is_waiting);
        reading.map(|consumer| consumer.heard.elapsed()).max().unwrap_or_default()
    }

    /// Returns the error of a consumer that cannot read at present, if there is one.
    pub(super) fn error(&self) -> Option<String> {
        self.lock().consumers.values().find_map(|consumer| consumer.error.clone())
    }

    /// Returns the last position of a consumer that has been silent for at least `silence` though the stream holds events up
    /// to `published`.
    pub(super) fn missing_after(&self, published: Position, silence: Duration) -> Option<Position> {
        let state = self.lock();
        let missing = state.consumers.values().filter(|consumer| {
            !consumer.is_waiting && consumer.after < published && consumer.heard.elapsed() >= silence
        });
        missing.map(|consumer| consumer.after).min()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The values are plain and complete even if a thread panicked while it held the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LivenessHandle {
    /// Records that everything up to this position was read, and that the server answers.
    pub(super) fn heard(&self, after: Position) {
        self.change(|consumer| {
            (consumer.after, consumer.heard, consumer.error) = (after, Instant::now(), None);
        });
    }

    pub(super) fn set_waiting(&self, is_waiting: bool) {
        self.change(|consumer| (consumer.is_waiting, consumer.heard) = (is_waiting, Instant::now()));
    }

    /// Records why it could not read; it retries.
    pub(super) fn failed(&self, reason: &str) {
        self.change(|consumer| consumer.error = Some(reason.to_owned()));
    }

    fn change(&self, change: impl FnOnce(&mut ConsumerState)) {
        if let Some(consumer) = self.liveness.lock().consumers.get_mut(&self.id) {
            change(consumer);
        }
    }
}

impl Drop for LivenessHandle {
    fn drop(&mut self) {
        self.liveness.lock().consumers.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_consumer_that_is_silent_for_longest_counts() {
        let (liveness, second) = (Liveness::default(), Duration::from_secs(1));
        assert_eq!(liveness.longest_silence(), Duration::ZERO);
        let (one, other) = (liveness.add(Position(5)), liveness.add(Position(5)));
        tokio::time::advance(3 * second).await;
        one.heard(Position(9));
        tokio::time::advance(second).await;
        assert_eq!(liveness.longest_silence(), 4 * second);
        assert_eq!(liveness.missing_after(Position(9), 2 * second), Some(Position(5)));
        assert_eq!(liveness.missing_after(Position(9), 5 * second), None, "it may still come");
        assert_eq!(liveness.missing_after(Position(5), second), None, "nothing is missing");
        other.set_waiting(true);
        assert_eq!((liveness.longest_silence(), liveness.missing_after(Position(9), second)), (second, None));
        other.failed("no leader");
        assert_eq!(liveness.error().as_deref(), Some("no leader"));
        drop(other);
        assert_eq!((liveness.longest_silence(), liveness.error()), (second, None));
    }
}
