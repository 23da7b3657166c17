//! Where an event store is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

#[cfg(feature = "eventstore")]
use write::event_store::kurrent::Address;

/// A place that holds a log.
#[derive(Debug, Clone)]
pub enum StoreAt {
    /// A folder with a SQLite file.
    Sqlite(PathBuf),
    /// A stream in EventStoreDB or KurrentDB.
    #[cfg(feature = "eventstore")]
    EventStoreDb(Address),
}

impl FromStr for StoreAt {
    type Err = String;

    fn from_str(text: &str) -> Result<StoreAt, String> {
        if let Some(folder) = text.strip_prefix("sqlite:").filter(|folder| !folder.is_empty()) {
            return Ok(StoreAt::Sqlite(folder.trim_start_matches("//").into()));
        }
        elsewhere(text)
    }
}

#[cfg(feature = "eventstore")]
fn elsewhere(text: &str) -> Result<StoreAt, String> {
    match Address::is_meant(text) {
        true => text.parse().map(StoreAt::EventStoreDb).map_err(|error| format!("{error}")),
        false => Err("sqlite:DIR or esdb://HOST:PORT is wanted".into()),
    }
}

#[cfg(not(feature = "eventstore"))]
fn elsewhere(text: &str) -> Result<StoreAt, String> {
    match ["esdb", "kurrent", "kdb"].iter().any(|scheme| text.starts_with(scheme)) {
        true => {
            Err("this loggia was built without EventStoreDB; build it with `--features eventstore`".into())
        }
        false => Err("sqlite:DIR is wanted".into()),
    }
}

/// Without user and password.
impl fmt::Display for StoreAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreAt::Sqlite(folder) => write!(f, "the SQLite store in {}", folder.display()),
            #[cfg(feature = "eventstore")]
            StoreAt::EventStoreDb(address) => write!(f, "{address}"),
        }
    }
}
