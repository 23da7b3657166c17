//! Properties of any history: commands agree with a naive model, a replay equals the live models however it is batched,
//! and duplicate delivery changes nothing. For the honesty of search answers see `honest`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking, prints its messages, and its tasks end with it"
)]

mod history;
mod honest;
mod model;
mod replay;
