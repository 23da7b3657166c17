//! The site as people find it: a real Chromium looks at every page of a real `loggia up`, with a keyboard, without script,
//! at the width of a telephone, in the dark, and judged by axe. `bin/setup --test` brings it; what it does stands in the
//! scripts beside this file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and ends its tasks with itself"
)]

mod bad;
mod brought;
mod pages;
mod readers;
mod served;
mod walk;
