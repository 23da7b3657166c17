//! The site in a real browser: Chromium opens every page of a real `loggia up`, with a keyboard, without JavaScript, at
//! the width of a telephone, in the dark, and checked by axe. `bin/setup --test` installs it; its actions are in the
//! scripts next to this file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and ends its tasks with itself"
)]

mod faulty_page;
mod installed;
mod pages;
mod readers;
mod served;
mod visits;
mod walk;
