//! The header `traceparent` of W3C Trace Context, level 1, parsed and formatted.
//!
//! `traces` propagates it and records spans below it; `schemas` and the event log keep it beside an event. It is a crate of its own so
//! that these need nothing that records spans.
//!
//! ```
//! use traceparent::Traceparent;
//!
//! let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
//! let header: Traceparent = text.parse()?;
//! assert!(header.is_sampled());
//! assert_eq!(header.to_string(), text);
//! # Ok::<(), traceparent::InvalidTraceparent>(())
//! ```

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// The name of the header, in HTTP and in NATS.
pub const HEADER: &str = "traceparent";

/// The length of a header of version 00, in bytes.
const LENGTH: usize = 55;

/// The trace of a piece of work, and the span that caused it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Traceparent {
    trace: u128,
    parent: u64,
    flags: u8,
}

/// The text is not a `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidTraceparent;

impl Traceparent {
    /// Creates one from the ids; `None` if one of them is zero, which the standard reserves.
    pub fn new(trace: [u8; 16], parent: [u8; 8], is_sampled: bool) -> Option<Traceparent> {
        let (trace, parent) = (u128::from_be_bytes(trace), u64::from_be_bytes(parent));
        (trace != 0 && parent != 0).then_some(Traceparent { trace, parent, flags: is_sampled.into() })
    }

    /// Parses the values of the header; `None` if it is absent, malformed, or present more than once.
    pub fn from_header<'h>(values: impl IntoIterator<Item = &'h [u8]>) -> Option<Traceparent> {
        let mut values = values.into_iter();
        let only = values.next()?;
        if values.next().is_some() { None } else { Traceparent::read(only) }
    }

    fn read(bytes: &[u8]) -> Option<Traceparent> {
        let (known, rest) = bytes.split_at_checked(LENGTH)?;
        let [version @ .., b'-'] = known.get(..3)? else { return None };
        let version = number(version)?;
        // Later versions may have more fields after another hyphen.
        let is_whole = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.is_empty() || rest.starts_with(b"-"),
        };
        if !is_whole || known[35] != b'-' || known[52] != b'-' {
            return None;
        }
        let (trace, parent) = (number(&known[3..35])?, u64::try_from(number(&known[36..52])?).ok()?);
        let flags = u8::try_from(number(&known[53..])?).ok()?;
        // Version 00, which is sent on, defines only the first flag.
        (trace != 0 && parent != 0).then_some(Traceparent { trace, parent, flags: flags & 1 })
    }

    /// Returns the id of the trace as bytes.
    pub fn trace(&self) -> [u8; 16] {
        self.trace.to_be_bytes()
    }

    /// Returns the id of the span that caused the work, as bytes.
    pub fn parent(&self) -> [u8; 8] {
        self.parent.to_be_bytes()
    }

    /// Returns whether the sender records the trace.
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }

    /// Returns the id of the trace as logs show it: 32 hexadecimal digits.
    pub fn trace_id(&self) -> impl fmt::Display + fmt::Debug + use<> {
        TraceId(self.trace)
    }
}

/// Parses lower-case hexadecimal digits.
fn number(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number: u128, digit| {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(digit))
    })
}

struct TraceId(u128);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Deserializes an optional member; a string that is not a `traceparent` counts as absent.
///
/// # Errors
///
/// If the member is not a string.
pub fn deserialize_lenient<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Traceparent>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

impl FromStr for Traceparent {
    type Err = InvalidTraceparent;

    fn from_str(text: &str) -> Result<Self, InvalidTraceparent> {
        Traceparent::read(text.as_bytes()).ok_or(InvalidTraceparent)
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

impl fmt::Debug for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for InvalidTraceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text is not a traceparent of W3C Trace Context")
    }
}

impl std::error::Error for InvalidTraceparent {}

impl TryFrom<String> for Traceparent {
    type Error = InvalidTraceparent;

    fn try_from(text: String) -> Result<Self, InvalidTraceparent> {
        text.parse()
    }
}

impl From<Traceparent> for String {
    fn from(traceparent: Traceparent) -> String {
        traceparent.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn the_example_of_the_standard_is_parsed_and_formatted() {
        let traceparent: Traceparent = SAMPLE.parse().unwrap();
        assert_eq!(traceparent.to_string(), SAMPLE);
        assert_eq!(traceparent.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert!(traceparent.is_sampled());
        let again = Traceparent::new(traceparent.trace(), traceparent.parent(), true);
        assert_eq!(again, Some(traceparent));
    }

    #[test]
    fn unknown_flags_and_versions_are_accepted() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let plain = format!("00-{trace}-{parent}-00");
        for (text, as_read) in [
            (format!("00-{trace}-{parent}-ff"), SAMPLE),
            (format!("00-{trace}-{parent}-02"), &plain),
            (format!("cc-{trace}-{parent}-01"), SAMPLE),
            (format!("cc-{trace}-{parent}-01-what.comes"), SAMPLE),
        ] {
            assert_eq!(
                text.parse::<Traceparent>().map(|read| read.to_string()).as_deref(),
                Ok(as_read),
                "{text}"
            );
        }
    }

    #[test]
    fn malformed_headers_are_rejected() {
        let bad = [
            "",
            "00",
            &SAMPLE[..54],
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "0X-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ];
        for text in bad {
            assert_eq!(text.parse::<Traceparent>(), Err(InvalidTraceparent), "{text}");
        }
    }

    #[test]
    fn a_repeated_header_counts_as_absent() {
        let sample = SAMPLE.as_bytes();
        assert_eq!(Traceparent::from_header([sample]), SAMPLE.parse().ok());
        assert_eq!(Traceparent::from_header([sample, sample]), None);
        assert_eq!(Traceparent::from_header([&b"\xff"[..]]), None);
        assert_eq!(Traceparent::from_header([]), None);
    }

    proptest! {
        #[test]
        fn formatting_and_parsing_round_trip(trace in 1u128.., parent in 1u64.., sampled in any::<bool>()) {
            let made = Traceparent::new(trace.to_be_bytes(), parent.to_be_bytes(), sampled).unwrap();
            prop_assert_eq!(made.to_string().parse(), Ok(made));
        }

        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Traceparent::from_header([&bytes[..]]);
        }
    }
}
