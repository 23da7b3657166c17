//! When a worker rests between two commits. Commits cost more than events, so a worker that is level with the log lets
//! some gather. And while events come about as fast as it could apply them, as in an import, it leaves most of the
//! processor to whoever makes them: that is done sooner, and what was put off is caught up with at full speed behind it.

use std::time::Duration;

use schemas::ids::Position;
use tokio::time::{Instant, sleep};

use crate::source::EventSource;

/// Behind a commit this recent, a worker waits for more events before the next one; a single edit after a quiet time is
/// seen at once.
const BUSY: Duration = Duration::from_millis(200);
/// How long it waits then.
const GATHER: Duration = Duration::from_millis(100);
/// So many events in one batch may be a part of a flood.
const MASS: usize = 200;
/// Whoever is no further behind than this is level with the log.
const LEVEL: u64 = 1_000;
/// How often the head of the log is looked at in a flood.
const LOOK: Duration = Duration::from_millis(100);
/// In a flood a worker rests so many times as long as its last batch took …
const SHARE: u32 = 9;
/// … but no longer, so that readers see it go on …
const LONGEST: Duration = Duration::from_secs(5);
/// … and only until it was behind for so long. Then it goes on without a rest until it is level.
const PATIENCE: Duration = Duration::from_secs(10);

/// The rests of one worker.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    last: Option<Batch>,
    seen: Option<(Instant, Position)>,
    /// Since when it is not level with the log.
    behind: Option<Instant>,
}

/// What was committed last.
#[derive(Debug, Clone, Copy)]
struct Batch {
    at: Instant,
    took: Duration,
    events: usize,
}

impl Pace {
    /// A batch of so many events was begun then and is committed now.
    pub(crate) fn committed(&mut self, began: Instant, events: usize) {
        let at = Instant::now();
        self.last = Some(Batch { at, took: at - began, events });
    }

    /// Waits for as long as is good before the next commit of what comes from there, the last of which is at `position`.
    pub(crate) async fn rest(&mut self, source: &EventSource, position: Position) {
        let Some(last) = self.last.filter(|last| last.at.elapsed() < BUSY) else { return };
        if last.events < MASS {
            self.behind = None;
            return sleep(GATHER).await;
        }
        let until = last.at + (last.took * SHARE).clamp(GATHER, LONGEST);
        while Instant::now() < until
            && let Ok(head) = source.head().await
            && self.gives_way(last, position, Instant::now(), head)
        {
            sleep(LOOK).await;
        }
    }

    /// Whether to rest behind that batch, now that the log has come so far.
    fn gives_way(&mut self, last: Batch, position: Position, now: Instant, head: Position) -> bool {
        let before = self.seen.replace((now, head));
        if head.0.saturating_sub(position.0) <= LEVEL {
            self.behind = None;
        } else if now - *self.behind.get_or_insert(now) >= PATIENCE {
            return false;
        }
        match before {
            Some((at, before)) if at + LOOK <= now => {
                let came = head.0.saturating_sub(before.0) as f64 / (now - at).as_secs_f64();
                came * last.took.as_secs_f64() >= 0.5 * last.events as f64
            }
            // Two looks are needed to tell.
            Some(_) | None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every so many milliseconds at a log that grows by so many events each time, and tells at which looks a worker
    /// whose last batch were 1,000 events in 100 ms gives way; it stands at `position`.
    fn looks(milliseconds: u64, grows: u64, position: u64, count: u32) -> Vec<bool> {
        let began = Instant::now();
        let last = Batch { at: began, took: Duration::from_millis(100), events: 1_000 };
        let mut pace = Pace::default();
        (0..count)
            .map(|look| {
                let now = began + Duration::from_millis(milliseconds) * look;
                pace.gives_way(last, Position(position), now, Position(5_000 + grows * u64::from(look)))
            })
            .collect()
    }

    #[test]
    fn what_comes_half_as_fast_as_it_is_applied_is_a_flood() {
        assert_eq!(looks(200, 1_000, 0, 4), [true, true, true, true]);
        assert_eq!(looks(200, 999, 0, 4), [true, false, false, false]);
        assert_eq!(looks(200, 0, 0, 4), [true, false, false, false]);
    }

    #[test]
    fn a_flood_is_given_way_to_for_ten_seconds() {
        let looks = looks(1_000, 20_000, 0, 15);
        assert_eq!(looks.iter().take_while(|rests| **rests).count(), 10);
        assert!(looks[10..].iter().all(|rests| !rests), "{looks:?}");
    }

    #[test]
    fn patience_begins_anew_with_a_worker_that_was_level() {
        let began = Instant::now();
        let last = Batch { at: began, took: Duration::from_millis(100), events: 1_000 };
        let mut pace = Pace::default();
        let mut look = |seconds: u64, position: u64, head: u64| {
            pace.gives_way(last, Position(position), began + Duration::from_secs(seconds), Position(head))
        };
        assert!(look(0, 0, 50_000));
        assert!(!look(10, 0, 150_000));
        assert!(look(11, 159_000, 160_000));
        assert!(look(20, 159_000, 250_000));
        assert!(!look(30, 159_000, 350_000));
    }
}
