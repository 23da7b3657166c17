//! Where a log is, as the setting `store` names it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

#[cfg(feature = "eventstore")]
use super::kurrent::Address;

/// Where a log is, or is to be created.
#[derive(Debug, Clone)]
pub enum LogLocation {
    /// A folder with a SQLite file.
    Sqlite(PathBuf),
    /// A stream in EventStoreDB or KurrentDB.
    #[cfg(feature = "eventstore")]
    EventStoreDb(Address),
}

impl FromStr for LogLocation {
    type Err = String;

    fn from_str(text: &str) -> Result<LogLocation, String> {
        if let Some(folder) = text.strip_prefix("sqlite:").filter(|folder| !folder.is_empty()) {
            return Ok(LogLocation::Sqlite(folder.trim_start_matches("//").into()));
        }
        remote(text)
    }
}

#[cfg(feature = "eventstore")]
fn remote(text: &str) -> Result<LogLocation, String> {
    match Address::has_scheme(text) {
        true => text.parse().map(LogLocation::EventStoreDb).map_err(|error| format!("{error}")),
        false => Err("expected sqlite:DIR or esdb://HOST:PORT".into()),
    }
}

#[cfg(not(feature = "eventstore"))]
fn remote(text: &str) -> Result<LogLocation, String> {
    match ["esdb", "kurrent", "kdb"].iter().any(|scheme| text.starts_with(scheme)) {
        true => {
            Err("this loggia was built without EventStoreDB; start it with `bin/up --features eventstore`, or build it with bin/release".into())
        }
        false => Err("expected sqlite:DIR".into()),
    }
}

/// Without user and password.
impl fmt::Display for LogLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogLocation::Sqlite(folder) => write!(f, "the SQLite store in {}", folder.display()),
            #[cfg(feature = "eventstore")]
            LogLocation::EventStoreDb(address) => write!(f, "{address}"),
        }
    }
}
