//! Which ids of counted calls are remembered. The month of a call comes from the clock of the node that answered it, and
//! that clock may be wrong by years; what one node says must not make the counters forget the calls of this month.

use schemas::month::Month;
use serde::{Deserialize, Serialize};

/// The months of the calls whose ids are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The newest month that had begun by every clock that was asked.
    pub newest: Month,
    /// The ids of earlier months may be forgotten.
    pub since: Month,
}

#[cfg(feature = "apply")]
impl Remembered {
    /// Those of a month and the one before it.
    pub(super) fn of(newest: Month) -> Remembered {
        Remembered { newest, since: newest.previous() }
    }

    /// Takes a month in that has begun. The newest one before it is kept, however long ago it was: a clock that jumps
    /// ahead and back again has the ids of the month from which it jumped.
    pub(super) fn begin(&mut self, month: Month) {
        if month > self.newest {
            *self = Remembered { newest: month, since: self.newest };
        }
    }

    /// Takes a newest month back that was ahead of this month.
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
    fn two_months_are_remembered_as_they_pass() {
        let mut remembered = Remembered::of(month("2026-10"));
        for (begun, since) in [
            ("2026-10", "2026-09"),
            ("2026-11", "2026-10"),
            ("2026-10", "2026-10"),
            ("2026-12", "2026-11"),
            // Nothing was called for some months.
            ("2027-04", "2026-12"),
            ("2027-05", "2027-04"),
        ] {
            remembered.begin(month(begun));
            remembered.correct(month(begun));
            assert_eq!(remembered.since, month(since), "{begun}");
        }
    }

    #[test]
    fn a_clock_that_was_ahead_forgets_nothing_of_the_month_it_came_back_to() {
        let mut remembered = Remembered::of(month("2026-11"));
        remembered.begin(month("2099-01"));
        assert_eq!(remembered, Remembered { newest: month("2099-01"), since: month("2026-11") });
        remembered.correct(month("2026-11"));
        assert_eq!(remembered, Remembered { newest: month("2026-11"), since: month("2026-11") });
        remembered.begin(month("2026-12"));
        assert_eq!(remembered, Remembered::of(month("2026-12")));
    }
}
