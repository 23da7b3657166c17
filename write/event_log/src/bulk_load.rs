//! Detects a bulk load, as an import is, from how fast the log grows. Background work is throttled meanwhile: on a machine
//! with few cores it would delay the end of the import.

use std::time::{Duration, Instant};

use schemas::ids::Position;

/// The number of new events a second from which on a bulk load is under way. Workers of the write side record fewer.
const BULK_RATE: f64 = 4_000.0;

/// The interval over which growth is measured: several commits of an import, which are thousands of lines each.
const INTERVAL: Duration = Duration::from_millis(300);

/// The maximum time that projections have to catch up after a bulk load; they have as long as it took.
const RECOVERY: Duration = Duration::from_secs(30);

/// Observes the head of one log.
#[derive(Debug, Default)]
pub struct BulkLoadDetector {
    /// When the last interval began, and the head then.
    last: Option<(Instant, Position)>,
    /// When the current bulk load began.
    since: Option<Instant>,
    /// When projections will have had as long as the last bulk load took.
    recovered: Option<Instant>,
}

impl BulkLoadDetector {
    /// Records the current head of the log and returns whether a bulk load is under way. The first call returns `false`.
    pub fn observe(&mut self, now: Instant, head: Position) -> bool {
        let (at, before) = *self.last.get_or_insert((now, head));
        let elapsed = now - at;
        if elapsed >= INTERVAL {
            self.last = Some((now, head));
            let added = head.0.saturating_sub(before.0) as f64;
            let is_bulk_load = added >= BULK_RATE * elapsed.as_secs_f64();
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
    fn a_bulk_load_and_its_end_are_detected_after_one_interval() {
        let (began, mut detector) = (Instant::now(), BulkLoadDetector::default());
        let mut observe = |milliseconds: u64, head: u64| {
            detector.observe(began + Duration::from_millis(milliseconds), Position(head))
        };
        assert!(!observe(0, 100_000));
        assert!(!observe(299, 110_000));
        assert!(observe(300, 110_000));
        assert!(observe(599, 110_000));
        assert!(!observe(600, 110_000));
        // The mean since the last interval counts.
        assert!(!observe(1_600, 113_999));
        assert!(observe(2_600, 117_999));
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
