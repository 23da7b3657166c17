//! Whether events come in masses, as in an import. What can wait gives way then: on a machine with few cores it is done
//! at the cost of whoever waits for the import's end.

use std::time::{Duration, Instant};

use schemas::ids::Position;

/// So many new events in a second are a flood. What workers of the write side record of themselves is less.
const FLOOD: f64 = 4_000.0;

/// How often the log's head is compared with what it was: several commits, which an import makes of thousands of lines,
/// lie in between.
const LOOK: Duration = Duration::from_millis(300);

/// Readers are behind after a flood, the more so the longer it was; so long at most are they let catch up.
const RECOVERY: Duration = Duration::from_secs(30);

/// Watches the head of one log.
#[derive(Debug, Default)]
pub(crate) struct Flood {
    seen: Option<(Instant, Position)>,
    /// Since when events come in masses, if they do.
    since: Option<Instant>,
    /// When readers have had as long as the last flood took.
    recovered: Option<Instant>,
}

impl Flood {
    /// Whether events come in masses, now that the log has come so far. It was quiet before the first look.
    pub(crate) fn rises(&mut self, now: Instant, head: Position) -> bool {
        let (at, before) = *self.seen.get_or_insert((now, head));
        let elapsed = now - at;
        if elapsed >= LOOK {
            self.seen = Some((now, head));
            let came = head.0.saturating_sub(before.0) as f64;
            let rises = came >= FLOOD * elapsed.as_secs_f64();
            self.since = rises.then(|| self.since.unwrap_or(at));
            if let Some(since) = self.since {
                self.recovered = Some(now + (now - since).min(RECOVERY));
            }
        }
        self.since.is_some()
    }

    /// Whether readers are at work on the last flood still, as far as can be told from here.
    pub(crate) fn is_recent(&self, now: Instant) -> bool {
        self.recovered.is_some_and(|recovered| now < recovered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_are_seen_at_the_second_look_and_their_end_too() {
        let (began, mut flood) = (Instant::now(), Flood::default());
        let mut look = |milliseconds: u64, head: u64| {
            flood.rises(began + Duration::from_millis(milliseconds), Position(head))
        };
        assert!(!look(0, 100_000));
        assert!(!look(299, 110_000));
        assert!(look(300, 110_000));
        assert!(look(599, 110_000));
        assert!(!look(600, 110_000));
        // The mean since the last look counts.
        assert!(!look(1_600, 113_999));
        assert!(look(2_600, 117_999));
    }

    #[test]
    fn a_flood_is_recent_for_as_long_as_it_took() {
        let (began, mut flood) = (Instant::now(), Flood::default());
        let after = |seconds: u64| began + Duration::from_secs(seconds);
        for second in 0..=10 {
            flood.rises(after(second), Position(10_000 * second));
        }
        assert!(!flood.rises(after(11), Position(100_000)));
        assert!(flood.is_recent(after(19)));
        assert!(!flood.is_recent(after(20)));
        for second in 21..=100 {
            flood.rises(after(second), Position(10_000 * second));
        }
        assert!(flood.is_recent(after(129)));
        assert!(!flood.is_recent(after(130)));
    }
}
