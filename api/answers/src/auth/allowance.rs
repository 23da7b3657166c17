//! The rate headers: a caller's quota of the UTC calendar month as `X-RateLimit-*` and as `RateLimit`, with equal numbers.

use std::fmt::Write;

use bytes::BytesMut;
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use schemas::month::Month;

use crate::auth::access::Balance;

/// The remaining quota as the rate headers state it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Calls that are allowed in the month.
    pub limit: u64,
    /// Calls that remain.
    pub remaining: u64,
    /// The month in which they were counted, which may have ended since; `None` is the current one.
    pub month: Option<Month>,
    /// Calls that are allowed within a second; `None` without such a limit.
    pub burst: Option<u32>,
}

impl Allowance {
    /// The allowance without metering: the largest number that clients with 32-bit integers can parse.
    pub(crate) const UNLIMITED: Allowance =
        Allowance { limit: 2_147_483_647, remaining: 2_147_483_647, month: None, burst: None };

    /// The allowance of a caller without a valid key.
    pub(crate) const NONE: Allowance = Allowance { limit: 0, remaining: 0, month: None, burst: None };

    /// Returns the allowance of a key with this balance.
    pub fn of(balance: &Balance, burst: Option<u32>) -> Allowance {
        let Balance { limit, used, ref budget, .. } = *balance;
        Allowance { limit, remaining: limit.saturating_sub(used), month: Some(budget.month), burst }
    }
}

/// Inserts the five rate headers, as of this Unix second.
pub fn insert(headers: &mut HeaderMap, allowance: Allowance, second: i64) {
    let Allowance { limit, remaining, month, burst } = allowance;
    let month = month.unwrap_or_else(|| Month::of(Timestamp::from_second(second).unwrap_or_default()));
    let (start, end) = (month.start().as_second(), month.end().as_second());
    let (window, left) = (end - start, (end - second).max(0));
    // The five values share one allocation.
    let mut text = BytesMut::with_capacity(176);
    let mut value = |arguments: std::fmt::Arguments<'_>| {
        // Writing into a growing buffer never fails, and these characters are always legal in headers.
        let _ = text.write_fmt(arguments);
        HeaderValue::from_maybe_shared(text.split().freeze()).unwrap_or(HeaderValue::from_static("0"))
    };
    headers.insert("x-ratelimit-limit", value(format_args!("{limit}")));
    headers.insert("x-ratelimit-remaining", value(format_args!("{remaining}")));
    headers.insert("x-ratelimit-reset", value(format_args!("{end}")));
    let policy = match burst {
        None => value(format_args!("\"month\";q={limit};w={window}")),
        Some(burst) => value(format_args!("\"month\";q={limit};w={window}, \"burst\";q={burst};w=1")),
    };
    headers.insert("ratelimit-policy", policy);
    headers.insert("ratelimit", value(format_args!("\"month\";r={remaining};t={left}")));
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

    fn allowance(burst: Option<u32>) -> Allowance {
        let month = Month::of("2026-11-01T00:00:00Z".parse().unwrap());
        Allowance { limit: 200, remaining: 153, month: Some(month), burst }
    }

    #[test]
    fn a_call_of_the_last_second_of_a_month_has_the_end_of_that_month() {
        let said = values(allowance(None), "2026-12-01T00:00:01Z");
        assert_eq!(
            (said[2].as_str(), said[4].as_str()),
            ("x-ratelimit-reset: 1796083200", "ratelimit: \"month\";r=153;t=0")
        );
    }

    #[test]
    fn the_policy_has_the_rate_limit_beside_the_quota() {
        let said = values(allowance(Some(20)), "2026-11-20T12:00:00Z");
        assert_eq!(said[3], "ratelimit-policy: \"month\";q=200;w=2592000, \"burst\";q=20;w=1");
    }

    #[test]
    fn both_families_of_headers_have_equal_numbers() {
        assert_eq!(
            values(allowance(None), "2026-11-20T12:00:00Z"),
            [
                "x-ratelimit-limit: 200",
                "x-ratelimit-remaining: 153",
                "x-ratelimit-reset: 1796083200",
                "ratelimit-policy: \"month\";q=200;w=2592000",
                "ratelimit: \"month\";r=153;t=907200",
            ]
        );
    }
}
