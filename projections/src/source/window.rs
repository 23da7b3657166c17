//! The last events of a feed, from which its followers read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use schemas::ids::Position;

use super::arrived::Arrived;

/// How much a feed holds, and how long it waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Events in a window.
    pub(super) events: usize,
    /// About what they may take in memory, in bytes.
    pub(super) bytes: usize,
    /// How long a feed whose window is full waits for a follower that takes nothing.
    ///
    /// An import comes faster than any projection works. A feed that ran ahead would leave all of them behind at once,
    /// and each would need a consumer of its own again; so it waits for the slowest. But one that stands still must not
    /// stop the others for ever. A merge of segments, or a large commit while an import takes the processor, takes
    /// seconds and is worth waiting for: what it costs is that an import is seen that much later, while a second
    /// consumer costs the server up to a hundred megabytes. Single edits never wait here, for they do not fill a window.
    pub(super) patience: Duration,
    /// How long it waits for one that others need not wait for.
    pub(super) moment: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        let (patience, moment) = (Duration::from_secs(10), Duration::from_millis(250));
        Bounds { events: 4_096, bytes: 16 << 20, patience, moment }
    }
}

impl Bounds {
    /// Twice the room: a replay fetches its next batch, which is larger than a follower's, while it commits the one before.
    pub(super) fn doubled(self) -> Bounds {
        let (events, bytes) = (self.events.saturating_mul(2), self.bytes.saturating_mul(2));
        Bounds { events, bytes, ..self }
    }
}

/// Events without a hole, oldest first. What everybody has passed stays as long as there is room, for one that comes
/// from behind to meet.
#[derive(Debug)]
pub(super) struct Window {
    /// The position before the oldest.
    after: Position,
    events: VecDeque<Arc<Arrived>>,
    bytes: usize,
}

impl Window {
    /// Nothing yet behind this position.
    pub(super) fn new(after: Position) -> Window {
        Window { after, events: VecDeque::new(), bytes: 0 }
    }

    /// The position of the newest event.
    pub(super) fn last(&self) -> Position {
        Position(self.after.0 + self.events.len() as u64)
    }

    /// Whether what comes behind this position is here, or comes next.
    pub(super) fn reaches(&self, after: Position) -> bool {
        (self.after..=self.last()).contains(&after)
    }

    /// Lets go of what everybody has passed until there is room for so many bytes more, and tells whether there is. One
    /// event always has room, whatever its size.
    pub(super) fn make_room(&mut self, bytes: usize, passed: Position, bounds: &Bounds) -> bool {
        let is_full = |window: &Window| {
            window.events.len() >= bounds.events || window.bytes.saturating_add(bytes) > bounds.bytes
        };
        while is_full(self) && self.after < passed {
            let Some(oldest) = self.events.pop_front() else { break };
            self.after = oldest.position;
            self.bytes = self.bytes.saturating_sub(oldest.size);
        }
        self.events.is_empty() || !is_full(self)
    }

    /// Adds the event that comes next; the reader of the stream leaves no hole.
    pub(super) fn push(&mut self, arrived: Arc<Arrived>) {
        debug_assert_eq!(arrived.position, self.last().next(), "the reader leaves no hole");
        self.bytes = self.bytes.saturating_add(arrived.size);
        self.events.push_back(arrived);
    }

    /// The events behind a position that the window reaches.
    pub(super) fn behind(&self, after: Position) -> impl Iterator<Item = &Arc<Arrived>> {
        let passed = after.0.saturating_sub(self.after.0);
        self.events.iter().skip(usize::try_from(passed).unwrap_or(usize::MAX))
    }
}
