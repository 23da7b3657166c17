//! Detects a bulk load, as an import is, from how fast the log grows. Background work is throttled meanwhile: on a machine
//! with few cores it would delay the end of the import.

use std::time::{Duration, Instant};

use schemas::ids::Position;

/// At this many new events a second a bulk load is under way. What workers of the write side record is less.
const BULK_RATE: f64 = 4_000.0;

/// How often the log's head is compared with what it was: several commits, which an import makes of thousands of lines,
/// lie in between.
const LOOK: Duration = Duration::from_millis(300);

/// The longest time that projections are given to catch up after a bulk load; they are given as long as it took.
const RECOVERY: Duration = Duration::from_secs(30);

/// Watches the head of one log.
#[derive(Debug, Default)]
pub struct BulkLoadDetector {
    seen: Option<(Instant, Position)>,
    /// When the bulk load that is under way began.
    since: Option<Instant>,
    /// When projections have had as long as the last bulk load took.
    recovered: Option<Instant>,
}

impl BulkLoadDetector {
    /// Takes the present head of the log, and returns whether a bulk load is under way. The first call returns `false`.
    pub fn observe(&mut self, now: Instant, head: Position) -> bool {
        let (at, before) = *self.seen.get_or_insert((now, head));
        let elapsed = now - at;
        if elapsed >= LOOK {
            self.seen = Some((now, head));
            let came = head.0.saturating_sub(before.0) as f64;
            let is_bulk_load = came >= BULK_RATE * elapsed.as_secs_f64();
            self.since = is_bulk_load.then(|| self.since.unwrap_or(at));
            if let Some(since) = self.since {
                self.recovered = Some(now + (now - since).min(RECOVERY));
            }
        }
        self.since.is_some()
    }

    /// Returns whether projections are probably still applying the last bulk load.
    pub fn is_recent(&self, now: Instant) -> bool {
        self.recovered.is_some_and(|recovered| now < recovered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_load_is_detected_at_the_second_look_and_its_end_too() {
        let (began, mut detector) = (Instant::now(), BulkLoadDetector::default());
        let mut look = |milliseconds: u64, head: u64| {
            detector.observe(began + Duration::from_millis(milliseconds), Position(head))
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
    fn a_bulk_load_is_recent_for_as_long_as_it_took() {
        let (began, mut detector) = (Instant::now(), BulkLoadDetector::default());
        let after = |seconds: u64| began + Duration::from_secs(seconds);
        for second in 0..=10 {
            detector.observe(after(second), Position(10_000 * second));
        }
        assert!(!detector.observe(after(11), Position(100_000)));
        assert!(detector.is_recent(after(19)));
        assert!(!detector.is_recent(after(20)));
        for second in 21..=100 {
            detector.observe(after(second), Position(10_000 * second));
        }
        assert!(detector.is_recent(after(129)));
        assert!(!detector.is_recent(after(130)));
    }
}
