//! Where a log is, or is to be.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

#[cfg(feature = "eventstore")]
use super::kurrent::Address;

/// A place that holds a log, or is to hold one.
#[derive(Debug, Clone)]
pub enum LogPlace {
    /// A folder with a SQLite file.
    Sqlite(PathBuf),
    /// A stream in EventStoreDB or KurrentDB.
    #[cfg(feature = "eventstore")]
    EventStoreDb(Address),
}

impl FromStr for LogPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<LogPlace, String> {
        if let Some(folder) = text.strip_prefix("sqlite:").filter(|folder| !folder.is_empty()) {
            return Ok(LogPlace::Sqlite(folder.trim_start_matches("//").into()));
        }
        elsewhere(text)
    }
}

#[cfg(feature = "eventstore")]
fn elsewhere(text: &str) -> Result<LogPlace, String> {
    match Address::is_meant(text) {
        true => text.parse().map(LogPlace::EventStoreDb).map_err(|error| format!("{error}")),
        false => Err("sqlite:DIR or esdb://HOST:PORT is wanted".into()),
    }
}

#[cfg(not(feature = "eventstore"))]
fn elsewhere(text: &str) -> Result<LogPlace, String> {
    match ["esdb", "kurrent", "kdb"].iter().any(|scheme| text.starts_with(scheme)) {
        true => {
            Err("this loggia was built without EventStoreDB; build it with `--features eventstore`".into())
        }
        false => Err("sqlite:DIR is wanted".into()),
    }
}

/// Without user and password.
impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogPlace::Sqlite(folder) => write!(f, "the SQLite store in {}", folder.display()),
            #[cfg(feature = "eventstore")]
            LogPlace::EventStoreDb(address) => write!(f, "{address}"),
        }
    }
}
