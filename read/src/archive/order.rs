//! The order of projects that match a question alike: by publication, the newest first.

use std::cmp::Reverse;

/// The day of a project whose publication is not recorded: older than all others.
const UNKNOWN: i32 = i32::MIN;

/// A day of a project in days since 1970-01-01, or that it is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(i32);

/// Where a project stands in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) day: Day,
    pub(super) slug: &'a str,
    /// Keeps two apart that a damaged log gives one slug.
    pub(super) ordinal: u64,
}

impl Day {
    /// Of days since 1970-01-01.
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

impl Ord for Place<'_> {
    /// The one that comes first is less.
    fn cmp(&self, other: &Place<'_>) -> std::cmp::Ordering {
        let key = |place: &Place<'_>| (Reverse(place.day), place.ordinal);
        let (own, others) = (key(self), key(other));
        own.0.cmp(&others.0).then_with(|| self.slug.cmp(other.slug)).then(own.1.cmp(&others.1))
    }
}

impl PartialOrd for Place<'_> {
    fn partial_cmp(&self, other: &Place<'_>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
