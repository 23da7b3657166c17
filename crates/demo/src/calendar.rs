//! The dates on which works were selected and published. The end is fixed; no clock is read.

use super::rng::Rng;

/// 2011-01-01 in days since 1970-01-01, when the catalog begins.
const FIRST: i32 = 14_975;
/// 2026-11-01 in days since 1970-01-01, the last date of publication.
const LAST: i32 = 20_758;

/// The last year of a work.
pub(super) const LAST_YEAR: i32 = 2026;

/// A date, in days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i32);

impl Day {
    /// Returns the first of January of a year from 1970 on.
    fn first_of(year: i32) -> Self {
        let past = year - 1;
        let leaps = past / 4 - past / 100 + past / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
        Self((year - 1970) * 365 + leaps)
    }

    pub(super) fn year(self) -> i32 {
        let guess = 1970 + self.0 / 366;
        (guess..guess + 3).rev().find(|year| Self::first_of(*year) <= self).unwrap_or(guess)
    }

    /// Formats as `YYYY-MM-DD`.
    pub(super) fn iso(self) -> String {
        let year = self.year();
        let leap = Self::first_of(year + 1).0 - Self::first_of(year).0 == 366;
        let mut rest = self.0 - Self::first_of(year).0;
        let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut month = 1;
        for length in lengths {
            if rest < length {
                break;
            }
            rest -= length;
            month += 1;
        }
        format!("{year}-{month:02}-{:02}", rest + 1)
    }
}

/// Draws the dates on which a work of `year` was selected and published, both within the years of the catalog: from the year after
/// the work on, or in the last year from July on. Recent works follow within about three years, older ones at any time.
pub(super) fn selected_and_published(year: i32, rng: &mut Rng) -> (Day, Day) {
    let ready =
        if year < LAST_YEAR { Day::first_of(year.max(1970) + 1).0 } else { Day::first_of(year).0 + 181 };
    let earliest = ready.max(FIRST);
    let published = if ready > FIRST {
        let (soon, late) = (ready + 8, (ready + 1_000).min(LAST));
        soon + i32::try_from(rng.skewed(usize::try_from(late - soon + 1).unwrap_or(1))).unwrap_or(0)
    } else {
        rng.range(FIRST, LAST)
    };
    let ahead = i32::try_from(rng.skewed(46)).unwrap_or(0);
    (Day((published - ahead).max(earliest)), Day(published))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_formatted_as_dates() {
        let written = [FIRST, FIRST + 58, 15_399, 15_400, LAST, 19_722, 19_723].map(|day| Day(day).iso());
        let dates = [
            "2011-01-01",
            "2011-02-28",
            "2012-02-29",
            "2012-03-01",
            "2026-11-01",
            "2023-12-31",
            "2024-01-01",
        ];
        assert_eq!(written, dates);
    }

    #[test]
    fn works_are_selected_after_they_are_made_and_before_they_are_published() {
        for seed in 0..4_000 {
            let mut rng = Rng::new(seed, 1, 1);
            let year = rng.range(1951, LAST_YEAR);
            let (selected, published) = selected_and_published(year, &mut rng);
            assert!(Day(FIRST) <= selected && selected <= published && published <= Day(LAST), "seed {seed}");
            assert!(published.0 - selected.0 <= 45, "seed {seed}");
            assert!(selected.year() > year || year == LAST_YEAR, "seed {seed}, {year}, {}", selected.iso());
        }
    }
}
