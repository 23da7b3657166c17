//! What a test does that cannot say anything.

use std::fmt::Display;
use std::io::Write;

/// Says on the real standard error that the current test tested nothing, and why.
///
/// Not with `eprintln!`: the test harness would keep that to itself, since a skipped test passes.
pub fn skipped(reason: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED {test}: it tested nothing, because {reason}\n");
}

/// What a test needs is not here: in continuous integration (`CI` is set) that is a failure, elsewhere the test is
/// [`skipped`].
#[track_caller]
pub fn absent(what: impl Display) {
    assert!(std::env::var_os("CI").is_none(), "{what}");
    skipped(what);
}
