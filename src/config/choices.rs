//! Settings that are one of a few words, or a list.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use tracing_subscriber::EnvFilter;

use super::table;

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// Whoever has a key; calls are counted.
    Keys,
    /// Everybody; nothing is counted.
    Off,
}

/// Where a listener listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddress(pub SocketAddr);

/// A whole number of which 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeNumber(pub u32);

/// What is logged: levels, and levels of parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter(pub String);

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// A line an event, for people.
    Text,
    /// A JSON object a line.
    Json,
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

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().map(ListenAddress).map_err(|_| {
            "an IP address and a port such as 127.0.0.1:8080 are wanted; 0.0.0.0:8080 stands for all addresses of this \
             machine"
        })
    }
}

impl FromStr for WholeNumber {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().map(WholeNumber).map_err(|_| "a whole number such as 20 is wanted; 0 is no limit")
    }
}

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
        const WANTED: &str = "a level such as info is wanted, or levels of parts such as warn,loggia=debug";
        let words = text.split(',').map(str::trim);
        // The library takes any other word for the name of a part, of which all is logged, and of the others nothing.
        let mut bare = words.filter(|word| !word.is_empty() && !word.contains(['=', '[']));
        if let Some(word) = bare.find(|word| !LEVELS.contains(&word.to_ascii_lowercase().as_str())) {
            let nearest = table::nearest(word, LEVELS.into_iter());
            let meant = nearest.map(|nearest| format!(" (did you mean {nearest}?)")).unwrap_or_default();
            return Err(format!("“{word}” is no level{meant}; {WANTED}"));
        }
        EnvFilter::try_new(text).map_err(|error| format!("{error}; {WANTED}"))?;
        Ok(LogFilter(text.to_owned()))
    }
}

impl FromStr for LogFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err("text or json is wanted"),
        }
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
            word if word.eq_ignore_ascii_case("builtin") => Vectors::BuiltIn,
            word if word.eq_ignore_ascii_case("off") => Vectors::Off,
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
