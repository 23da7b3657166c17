//! The start and the end of a process, and its clock.

use jiff::SignedDuration;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::section::{Value, section};

section! {
    /// What a node starts from, how long it drains, and its clock.
    Process {
        snapshot: Option<SnapshotSource> = Value::optional => "snapshot"
            "What an empty read node starts from: a folder made by loggia snapshot, or http://TOKEN@… with the admin_listen address of \
             another node and the token in its file snapshot.token; unset: the first event." {
                shape: "DIR|URL",
                example: "http://TOKEN@10.0.0.7:9090",
                secret: true,
            },
        drain: Drain = Value::required => "drain"
            "How long a node that is stopping still serves, not ready, before it ends within 10 s; at most 60s." {
                shape: "SECONDS",
                example: "10s",
                default: Some("0s"),
            },
        clock_offset: ClockOffset = Value::required => "clock_offset"
            "Sets the clock of this process ahead (40d, 10m) or back (-10m), for rehearsals; 0s in production." {
                shape: "TIME",
                example: "40d",
                default: Some("0s"),
            },
    }
}

/// The longest drain, in seconds.
const LONGEST_DRAIN: u64 = 60;

/// How long a node that was told to stop goes on serving, so that whoever sends it requests can see that it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drain(pub Duration);

/// What an empty read node begins with.
#[derive(Clone, PartialEq, Eq)]
pub enum SnapshotSource {
    /// A snapshot in a folder.
    Folder(PathBuf),
    /// Another node.
    Node {
        /// Its operators' listener: `http://` or `https://` and the address, without a slash at the end.
        address: String,
        /// What it asks of those who want a snapshot.
        token: Option<String>,
    },
}

impl FromStr for Drain {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let seconds = text.strip_suffix('s').unwrap_or(text).parse::<u64>();
        match seconds {
            Ok(seconds) if seconds <= LONGEST_DRAIN => Ok(Drain(Duration::from_secs(seconds))),
            _ => Err(format!("whole seconds from 0s to {LONGEST_DRAIN}s are wanted")),
        }
    }
}

impl FromStr for SnapshotSource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(SnapshotSource::Folder(text.into()));
        };
        if !matches!(scheme, "http" | "https") {
            return Err("a folder, or an address that begins with http:// or https:// is wanted");
        }
        let (token, rest) = match rest.split_once('@') {
            Some((token, rest)) => (Some(token), rest),
            None => (None, rest),
        };
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '"' | '<' | '>');
        let is_token =
            |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if rest.is_empty() || !rest.chars().all(plain) || !token.is_none_or(is_token) {
            return Err("a folder, or an address such as http://TOKEN@10.0.0.7:9090 is wanted");
        }
        let address = format!("{scheme}://{}", rest.trim_end_matches('/'));
        Ok(SnapshotSource::Node { address, token: token.map(str::to_owned) })
    }
}

/// Without the token.
impl fmt::Display for SnapshotSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SnapshotSource::Folder(folder) => folder.display().fmt(f),
            SnapshotSource::Node { address, .. } => address.fmt(f),
        }
    }
}

/// Without the token.
impl fmt::Debug for SnapshotSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SnapshotSource({self})")
    }
}

/// The furthest that a clock may be set off, in days.
const FURTHEST: i64 = 366;

/// How far the clock of a process is ahead of the machine's, or behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset(pub SignedDuration);

impl FromStr for ClockOffset {
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
        let offset = offset.map(SignedDuration::from_secs);
        offset
            .filter(|offset| {
                offset.unsigned_abs() <= SignedDuration::from_hours(FURTHEST * 24).unsigned_abs()
            })
            .map(ClockOffset)
            .ok_or_else(|| format!("a time such as 40d, 10m or -90s is wanted, of at most {FURTHEST} days"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drain_is_some_seconds() {
        let seconds = |text: &str| text.parse::<Drain>().map(|drain| drain.0.as_secs());
        assert_eq!(["0s", "5", " 60s"].map(seconds), [Ok(0), Ok(5), Ok(60)]);
        for wrong in ["", "s", "5ss", "61s", "-1", "1m", "1.5s"] {
            assert_eq!(seconds(wrong), Err("whole seconds from 0s to 60s are wanted".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn a_snapshot_is_a_folder_or_a_node() {
        let node = |address: &str, token: Option<&str>| {
            Ok(SnapshotSource::Node { address: address.to_owned(), token: token.map(str::to_owned) })
        };
        assert_eq!("http://10.0.0.7:9090/".parse(), node("http://10.0.0.7:9090", None));
        assert_eq!("http://s3cret@10.0.0.7:9090".parse(), node("http://10.0.0.7:9090", Some("s3cret")));
        assert_eq!("https://a.example/b".parse(), node("https://a.example/b", None));
        let shown = "http://s3cret@a".parse::<SnapshotSource>().map(|source| format!("{source} {source:?}"));
        assert_eq!(shown.as_deref(), Ok("http://a SnapshotSource(http://a)"), "the token is hidden");
        assert_eq!("/srv/snap".parse(), Ok(SnapshotSource::Folder("/srv/snap".into())));
        for wrong in ["ftp://a", "http://", "http://u:p@a", "http://@a", "http://t@", "https://a?b"] {
            assert!(wrong.parse::<SnapshotSource>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_clock_is_set_ahead_or_back() {
        let seconds = |text: &str| text.parse::<ClockOffset>().map(|offset| offset.0.as_secs());
        let expected = [Ok(0), Ok(3_456_000), Ok(600), Ok(-90), Ok(7_200)];
        assert_eq!(["0s", "+40d", " 10m", "-90s", "2h"].map(seconds), expected);
        for wrong in ["", "s", "40", "d40", "1w", "367d", "-367d", "1.5h", "9223372036854775807d", "ä"] {
            let refused = "a time such as 40d, 10m or -90s is wanted, of at most 366 days";
            assert_eq!(seconds(wrong), Err(refused.to_owned()), "{wrong}");
        }
    }
}
