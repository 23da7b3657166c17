//! Settings of nodes that are one of several.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The longest drain, in seconds.
const LONGEST_DRAIN: u64 = 60;

/// How long a node that was told to stop goes on serving, so that whoever sends it requests can see that it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drain(pub Duration);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

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

impl FromStr for Size {
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
            Some(bytes) if bytes > 0 => Ok(Size(bytes)),
            _ => Err("a size such as 512MiB or 2GiB is wanted"),
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
    fn a_size_has_a_unit() {
        let bytes = |text: &str| text.parse::<Size>().map(|size| size.0);
        assert_eq!(["1KiB", " 512 MiB", "2GiB"].map(bytes), [Ok(1 << 10), Ok(512 << 20), Ok(2 << 30)]);
        for wrong in ["", "2", "GiB", "0GiB", "-1GiB", "1.5GiB", "2GB", "99999999999TiB"] {
            assert_eq!(bytes(wrong), Err("a size such as 512MiB or 2GiB is wanted"), "{wrong}");
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
}
