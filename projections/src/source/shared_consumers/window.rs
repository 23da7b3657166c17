//! The last events of a shared consumer, from which its subscribers read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use schemas::ids::Position;

use crate::source::delivery::Delivery;

/// How much a shared consumer buffers, and how long it waits for subscribers.
#[derive(Debug, Clone, Copy)]
pub(in crate::source) struct Bounds {
    /// The most events in a window.
    pub(super) events: usize,
    /// The most memory of these events, in bytes, as estimated by [`Delivery`].
    pub(super) bytes: usize,
    /// How long a consumer whose window is full waits for a subscriber that takes nothing, before it is evicted.
    ///
    /// An import is faster than any projection. A consumer that did not wait would leave all projections lagging at once,
    /// each with a consumer of its own; so it waits for the slowest. But a stalled projection must not stop the others
    /// permanently. A merge of segments, or a large commit while an import takes the processor, takes seconds and is worth
    /// waiting for: the import is visible that much later, while a second consumer costs the server up to a hundred
    /// megabytes. Single edits never wait here, because they do not fill a window.
    pub(super) time_limit: Duration,
    /// The same for subscribers with [`Sharing::LowPriority`](super::Sharing::LowPriority).
    pub(super) low_priority_timeout: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        let (time_limit, low_priority_timeout) = (Duration::from_secs(10), Duration::from_millis(250));
        Bounds { events: 4_096, bytes: 16 << 20, time_limit, low_priority_timeout }
    }
}

impl Bounds {
    /// Returns twice the room, for a replay: it fetches its next batch, which is larger, while it commits the last one.
    pub(super) fn doubled(self) -> Bounds {
        let (events, bytes) = (self.events.saturating_mul(2), self.bytes.saturating_mul(2));
        Bounds { events, bytes, ..self }
    }
}

/// Consecutive events, oldest first. Events that all subscribers have read stay while there is room, so that a lagging
/// subscriber can join.
#[derive(Debug)]
pub(super) struct Window {
    /// The position before the oldest.
    after: Position,
    events: VecDeque<Arc<Delivery>>,
    bytes: usize,
}

impl Window {
    pub(super) fn new(after: Position) -> Window {
        Window { after, events: VecDeque::new(), bytes: 0 }
    }

    /// Returns the position of the newest event.
    pub(super) fn last(&self) -> Position {
        Position(self.after.0 + self.events.len() as u64)
    }

    /// Returns whether the event after this position is in the window, or is the next to come.
    pub(super) fn covers(&self, after: Position) -> bool {
        (self.after..=self.last()).contains(&after)
    }

    /// Removes events up to `read`, which all subscribers have read, until there is room for this many bytes. Returns whether
    /// there is; an empty window has room for one event of any size.
    pub(super) fn make_room(&mut self, bytes: usize, read: Position, bounds: &Bounds) -> bool {
        let is_full = |window: &Window| {
            window.events.len() >= bounds.events || window.bytes.saturating_add(bytes) > bounds.bytes
        };
        while is_full(self) && self.after < read {
            let Some(oldest) = self.events.pop_front() else { break };
            self.after = oldest.position;
            self.bytes = self.bytes.saturating_sub(oldest.size);
        }
        self.events.is_empty() || !is_full(self)
    }

    /// Adds the next event; the stream reader leaves no gap.
    pub(super) fn push(&mut self, delivery: Arc<Delivery>) {
        debug_assert_eq!(delivery.position, self.last().next(), "the reader leaves no gap");
        self.bytes = self.bytes.saturating_add(delivery.size);
        self.events.push_back(delivery);
    }

    /// Returns the events after a position that the window covers.
    pub(super) fn events_after(&self, after: Position) -> impl Iterator<Item = &Arc<Delivery>> {
        let read = after.0.saturating_sub(self.after.0);
        self.events.iter().skip(usize::try_from(read).unwrap_or(usize::MAX))
    }
}
