#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod colours;
mod fetch;
mod server;
