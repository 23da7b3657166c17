#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod colours;
mod fetch;
mod server;
