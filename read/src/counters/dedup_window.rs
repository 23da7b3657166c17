//! The months whose call ids are kept, so that repeated calls are counted once. The month of a call comes from the clock of the node
//! that answered it, which may be wrong by years; one node must not cause the ids of the present month to be deleted.

use schemas::month::Month;
use serde::{Deserialize, Serialize};

/// The months of the calls whose ids are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DedupWindow {
    /// The newest month that has begun by all clocks involved.
    pub newest: Month,
    /// The ids of earlier months may be deleted.
    pub since: Month,
}

#[cfg(feature = "apply")]
impl DedupWindow {
    /// Returns the window of a month and the one before it.
    pub(super) fn of(newest: Month) -> DedupWindow {
        DedupWindow { newest, since: newest.previous() }
    }

    /// Advances the window to a month that has begun. The former newest month stays in the window even if it is long ago: after a clock
    /// that jumps ahead and back, the ids of the month before the jump are still there.
    pub(super) fn advance(&mut self, month: Month) {
        if month > self.newest {
            *self = DedupWindow { newest: month, since: self.newest };
        }
    }

    /// Withdraws a newest month that is ahead of this node's month.
    pub(super) fn correct(&mut self, now: Month) {
        // One month of tolerance: around the end of a month some clocks are in the next.
        if self.newest > now.next() {
            self.newest = self.since;
        }
    }
}

#[cfg(all(test, feature = "apply"))]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn month(text: &str) -> Month {
        text.parse().unwrap()
    }

    #[test]
    fn the_window_has_two_months() {
        let mut window = DedupWindow::of(month("2026-10"));
        for (begun, since) in [
            ("2026-10", "2026-09"),
            ("2026-11", "2026-10"),
            ("2026-10", "2026-10"),
            ("2026-12", "2026-11"),
            // Nothing was called for some months.
            ("2027-04", "2026-12"),
            ("2027-05", "2027-04"),
        ] {
            window.advance(month(begun));
            window.correct(month(begun));
            assert_eq!(window.since, month(since), "{begun}");
        }
    }

    #[test]
    fn a_clock_that_jumps_ahead_and_back_drops_no_id_of_the_month_it_returns_to() {
        let mut window = DedupWindow::of(month("2026-11"));
        window.advance(month("2099-01"));
        assert_eq!(window, DedupWindow { newest: month("2099-01"), since: month("2026-11") });
        window.correct(month("2026-11"));
        assert_eq!(window, DedupWindow { newest: month("2026-11"), since: month("2026-11") });
        window.advance(month("2026-12"));
        assert_eq!(window, DedupWindow::of(month("2026-12")));
    }
}
