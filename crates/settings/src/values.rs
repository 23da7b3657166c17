//! Values that many programs have settings for. Their errors complete the sentence "… cannot be used: ".

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use jiff::SignedDuration;

/// The address on which a listener listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddress(pub SocketAddr);

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().map(ListenAddress).map_err(|_| {
            "expected an IP address and a port such as 127.0.0.1:8080; 0.0.0.0:8080 means all addresses of this \
             machine"
        })
    }
}

/// Names of hosts, separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostNames(pub Vec<String>);

impl FromStr for HostNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let is_name = |name: &String| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        };
        match names.iter().find(|name| !is_name(name)) {
            None => Ok(HostNames(names)),
            Some(wrong) => Err(format!(
                "“{wrong}” is not a host; expected names such as images.example.org, separated by commas"
            )),
        }
    }
}

/// A number of bytes with a binary unit, from `KiB` to `TiB`; not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl FromStr for ByteSize {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let unit = match text[digits..].trim() {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1_u64 << 40,
            _ => 0,
        };
        match text[..digits].parse::<u64>().ok().and_then(|number| number.checked_mul(unit)) {
            Some(bytes) if bytes > 0 => Ok(ByteSize(bytes)),
            _ => Err("expected a size such as 512MiB or 2GiB"),
        }
    }
}

/// A whole number of which 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub u32);

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().map(Limit).map_err(|_| "expected a whole number such as 20; 0 means no limit")
    }
}

/// Whole seconds, at most `MOST`, with or without the unit `s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seconds<const MOST: u64>(pub Duration);

impl<const MOST: u64> FromStr for Seconds<MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let seconds = text.strip_suffix('s').unwrap_or(text).parse::<u64>();
        match seconds {
            Ok(seconds) if seconds <= MOST => Ok(Seconds(Duration::from_secs(seconds))),
            _ => Err(format!("expected whole seconds from 0s to {MOST}s")),
        }
    }
}

/// How far a clock is ahead of another, or behind it: at most `MOST_DAYS`, in seconds, minutes, hours or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOffset<const MOST_DAYS: i64>(pub SignedDuration);

impl<const MOST_DAYS: i64> FromStr for TimeOffset<MOST_DAYS> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (number, unit) = text.split_at(text.len() - text.chars().last().map_or(0, char::len_utf8));
        let seconds = match unit {
            "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3_600),
            "d" => Some(86_400),
            _ => None,
        };
        let offset = seconds.and_then(|unit| number.parse::<i64>().ok()?.checked_mul(unit));
        let most = SignedDuration::from_hours(MOST_DAYS * 24).unsigned_abs();
        offset
            .map(SignedDuration::from_secs)
            .filter(|offset| offset.unsigned_abs() <= most)
            .map(TimeOffset)
            .ok_or_else(|| {
                format!("expected a duration such as 40d, 10m or -90s, of at most {MOST_DAYS} days")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_unit() {
        let bytes = |text: &str| text.parse::<ByteSize>().map(|size| size.0);
        assert_eq!(["1KiB", " 512 MiB", "2GiB"].map(bytes), [Ok(1 << 10), Ok(512 << 20), Ok(2 << 30)]);
        for wrong in ["", "2", "GiB", "0GiB", "-1GiB", "1.5GiB", "2GB", "99999999999TiB"] {
            assert_eq!(bytes(wrong), Err("expected a size such as 512MiB or 2GiB"), "{wrong}");
        }
    }

    #[test]
    fn seconds_are_whole_and_bounded() {
        let seconds = |text: &str| text.parse::<Seconds<60>>().map(|seconds| seconds.0.as_secs());
        assert_eq!(["0s", "5", " 60s"].map(seconds), [Ok(0), Ok(5), Ok(60)]);
        for wrong in ["", "s", "5ss", "61s", "-1", "1m", "1.5s"] {
            assert_eq!(seconds(wrong), Err("expected whole seconds from 0s to 60s".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn a_time_offset_is_ahead_or_behind() {
        let seconds = |text: &str| text.parse::<TimeOffset<366>>().map(|offset| offset.0.as_secs());
        let expected = [Ok(0), Ok(3_456_000), Ok(600), Ok(-90), Ok(7_200)];
        assert_eq!(["0s", "+40d", " 10m", "-90s", "2h"].map(seconds), expected);
        for wrong in ["", "s", "40", "d40", "1w", "367d", "-367d", "1.5h", "9223372036854775807d", "ä"] {
            let error = "expected a duration such as 40d, 10m or -90s, of at most 366 days";
            assert_eq!(seconds(wrong), Err(error.to_owned()), "{wrong}");
        }
    }
}
