//! The rate headers: what a caller is allowed in a UTC calendar month, said in two vocabularies with equal numbers.

use std::fmt::Write;

use bytes::BytesMut;
use http::{HeaderMap, HeaderValue};
use jiff::{Timestamp, tz::TimeZone};

/// Calls in the current month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowance {
    pub(super) limit: u64,
    pub(super) remaining: u64,
}

impl Allowance {
    /// Stands for "as many as you like", where nothing is metered. Clients read it into 32-bit integers.
    pub(super) const UNLIMITED: Allowance = Allowance { limit: 2_147_483_647, remaining: 2_147_483_647 };
}

/// The current UTC month, in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Month {
    start: i64,
    end: i64,
}

/// Puts the five rate headers in, as they are at this second.
pub(super) fn insert(headers: &mut HeaderMap, allowance: Allowance, second: i64) {
    let Allowance { limit, remaining } = allowance;
    let Month { start, end } = Month::of(second);
    let (window, left) = (end - start, end - second);
    // All five share one piece of memory.
    let mut text = BytesMut::with_capacity(160);
    let mut value = |arguments: std::fmt::Arguments<'_>| {
        // Writing into memory that grows never fails, and these characters are always legal in headers.
        let _ = text.write_fmt(arguments);
        HeaderValue::from_maybe_shared(text.split().freeze()).unwrap_or(HeaderValue::from_static("0"))
    };
    headers.insert("x-ratelimit-limit", value(format_args!("{limit}")));
    headers.insert("x-ratelimit-remaining", value(format_args!("{remaining}")));
    headers.insert("x-ratelimit-reset", value(format_args!("{end}")));
    headers.insert("ratelimit-policy", value(format_args!("\"month\";q={limit};w={window}")));
    headers.insert("ratelimit", value(format_args!("\"month\";r={remaining};t={left}")));
}

impl Month {
    fn of(second: i64) -> Month {
        let zoned = Timestamp::from_second(second).unwrap_or_default().to_zoned(TimeZone::UTC);
        let start = zoned.date().first_of_month();
        let end = start.last_of_month().tomorrow().unwrap_or(start);
        let midnight = |date: jiff::civil::Date| {
            TimeZone::UTC.to_timestamp(date.into()).map_or(second, Timestamp::as_second)
        };
        Month { start: midnight(start), end: midnight(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(allowance: Allowance, at: &str) -> Vec<String> {
        let second = at.parse::<Timestamp>().unwrap().as_second();
        let mut headers = HeaderMap::new();
        insert(&mut headers, allowance, second);
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    #[test]
    fn both_vocabularies_say_the_same() {
        assert_eq!(
            values(Allowance { limit: 200, remaining: 153 }, "2026-11-20T12:00:00Z"),
            [
                "x-ratelimit-limit: 200",
                "x-ratelimit-remaining: 153",
                "x-ratelimit-reset: 1796083200",
                "ratelimit-policy: \"month\";q=200;w=2592000",
                "ratelimit: \"month\";r=153;t=907200",
            ]
        );
    }

    #[test]
    fn a_month_ends_where_the_next_begins() {
        let second = |text: &str| text.parse::<Timestamp>().unwrap().as_second();
        for (first, next) in [
            ("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            ("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
        ] {
            let month = Month { start: second(first), end: second(next) };
            assert_eq!(Month::of(month.start), month);
            assert_eq!(Month::of(month.end - 1), month);
            assert_ne!(Month::of(month.end), month);
        }
    }
}
