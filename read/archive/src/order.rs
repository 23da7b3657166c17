//! The order of projects that match a query equally: by day of publication, the newest first, then by slug.

use std::cmp::Reverse;

/// The day of a project without a recorded publication: before all others.
const UNKNOWN: i32 = i32::MIN;

/// A day as the number of days since 1970-01-01, or an unrecorded day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i32);

/// What a project is ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SortKey<'a> {
    pub(super) day: Day,
    pub(super) slug: &'a str,
    /// Distinguishes projects to which a damaged log gives the same slug.
    pub(super) ordinal: u64,
}

impl Day {
    /// Returns the day at this number of days since 1970-01-01.
    pub(super) fn new(days: Option<i32>) -> Day {
        Day(days.unwrap_or(UNKNOWN))
    }

    pub(super) fn to_bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 4]) -> Day {
        Day(i32::from_be_bytes(bytes))
    }
}

impl Ord for SortKey<'_> {
    fn cmp(&self, other: &SortKey<'_>) -> std::cmp::Ordering {
        let by_day = Reverse(self.day).cmp(&Reverse(other.day));
        by_day.then_with(|| self.slug.cmp(other.slug)).then(self.ordinal.cmp(&other.ordinal))
    }
}

impl PartialOrd for SortKey<'_> {
    fn partial_cmp(&self, other: &SortKey<'_>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
