//! Skips tests that cannot run here.

use std::fmt::Display;
use std::io::Write;

/// Reports on the real standard error that the current test was skipped, and why.
///
/// `eprintln!` would not do: the test harness hides the output of tests that pass.
pub fn skipped(reason: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED {test}: it tested nothing, because {reason}\n");
}

/// Reports that a requirement of a test is missing: a failure in continuous integration (`CI` is set), elsewhere the
/// test is [`skipped`].
#[track_caller]
pub fn absent(what: impl Display) {
    assert!(std::env::var_os("CI").is_none(), "{what}");
    skipped(what);
}
