//! The event store.

use event_log::LogLocation;

use super::section::{Value, section};

section! {
    /// The place of the event store.
    Store {
        place: Option<LogLocation> = Value::optional => "store"
            "The event store: sqlite:DIR, or esdb://USER:PASSWORD@HOST:PORT?tls=true; unset: SQLite in the data folder." {
                shape: "STORE",
                example: "sqlite:/srv/loggia/store",
                secret: true,
            },
    }
}
