//! Ids of requests, for replies and the log.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::HeaderValue;

/// 16 hexadecimal digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestId([u8; 16]);

/// Generates ids that are unique in a process and practically unique among processes.
#[derive(Debug)]
pub(super) struct RequestIds {
    start: u64,
    count: AtomicU64,
}

impl RequestIds {
    pub(super) fn new() -> RequestIds {
        RequestIds { start: uuid::Uuid::new_v4().as_u64_pair().1, count: AtomicU64::new(0) }
    }

    pub(super) fn next(&self) -> RequestId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        RequestId(hexadecimal(scattered(self.start.wrapping_add(count))))
    }
}

/// Mixes a number with the finaliser of splitmix64, which is a bijection: different counts have different results.
fn scattered(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns the 16 hexadecimal digits of a number.
pub(super) fn hexadecimal(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    HEXLOWER.encode_mut(&number.to_be_bytes(), &mut digits);
    digits
}

impl RequestId {
    pub(super) fn header(self) -> HeaderValue {
        HeaderValue::from_maybe_shared(Bytes::copy_from_slice(&self.0))
            .unwrap_or(HeaderValue::from_static("unknown"))
    }

    /// Returns the `instance` of problem details.
    pub(super) fn instance(self) -> String {
        format!("/requests/{self}")
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|digit| fmt::Write::write_char(f, char::from(*digit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids = RequestIds { start: u64::MAX - 5_000, count: AtomicU64::new(0) };
        let given: std::collections::HashSet<String> = (0..10_000).map(|_| ids.next().to_string()).collect();
        assert_eq!(given.len(), 10_000);
        assert!(given.iter().all(|id| id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())));
    }

    #[test]
    fn digits_are_those_of_the_number() {
        assert_eq!(&hexadecimal(0x0123_4567_89ab_cdef), b"0123456789abcdef");
        assert_eq!(&hexadecimal(0xa), b"000000000000000a");
    }
}
