//! What must hold for any history: the commands agree with a naive model, a replay gives what is live however it is cut,
//! and an event delivered twice changes nothing. What a search says of itself is true: see `honest`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, speaks to whoever runs it, and ends its tasks with itself"
)]

mod history;
mod honest;
mod model;
mod replay;
