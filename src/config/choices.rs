//! Settings that are one of a few words, or a list.

use std::path::PathBuf;
use std::str::FromStr;

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Whoever has a key; calls are counted.
    Keys,
    /// Everybody; nothing is counted.
    Off,
}

/// What becomes of calls while NATS cannot count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metering {
    /// They are answered from what is left as last known, and counted afterwards.
    Spool,
    /// They are refused.
    Refuse,
}

/// A text of the site: one line of 1 to `LONGEST` characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteText<const LONGEST: usize>(pub String);

/// Where pictures may be fetched from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureAddresses {
    /// From public addresses.
    Public,
    /// From any, the operator's own network included.
    Any,
}

/// The hosts that pictures may be fetched from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(pub Vec<String>);

/// On how many servers of a NATS cluster a stream is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replicas(pub usize);

/// What makes the vectors of projects that bring none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vectors {
    /// The encoders that need no model.
    BuiltIn,
    /// Nothing.
    Off,
    /// The models in this folder.
    Models(PathBuf),
}

impl<const LONGEST: usize> FromStr for SiteText<LONGEST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let length = text.chars().count();
        if length == 0 || length > LONGEST || text.chars().any(char::is_control) {
            return Err(format!("one line of at most {LONGEST} characters is wanted, and it has {length}"));
        }
        Ok(SiteText(text.to_owned()))
    }
}

impl FromStr for PictureAddresses {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "public" => Ok(PictureAddresses::Public),
            "any" => Ok(PictureAddresses::Any),
            _ => Err("public or any is wanted"),
        }
    }
}

impl FromStr for Replicas {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // An even number bears no more failures than the odd one below it.
        match text.trim().parse() {
            Ok(replicas @ (1 | 3 | 5)) => Ok(Replicas(replicas)),
            _ => Err("1, 3 or 5 is wanted"),
        }
    }
}

impl FromStr for Hosts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hosts: Vec<String> = text.split(',').map(|host| host.trim().to_owned()).collect();
        let plain = |host: &String| {
            !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        };
        match hosts.iter().find(|host| !plain(host)) {
            None => Ok(Hosts(hosts)),
            Some(wrong) => Err(format!(
                "“{wrong}” is no host; names such as images.example.org, separated by commas, are wanted"
            )),
        }
    }
}

impl FromStr for Vectors {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "builtin" => Vectors::BuiltIn,
            "off" => Vectors::Off,
            folder => Vectors::Models(folder.into()),
        })
    }
}

impl FromStr for Auth {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "keys" => Ok(Auth::Keys),
            "off" => Ok(Auth::Off),
            _ => Err("keys or off is wanted"),
        }
    }
}

impl FromStr for Metering {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "spool" => Ok(Metering::Spool),
            "refuse" => Ok(Metering::Refuse),
            _ => Err("spool or refuse is wanted"),
        }
    }
}
