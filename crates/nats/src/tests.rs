//! The nats-server of the tests. Without one they are skipped with a message; in continuous integration that is a failure.

#![allow(clippy::disallowed_methods, reason = "which nats-server to run comes from the environment")]

use std::io::Write;
use std::path::PathBuf;

/// Returns the nats-server to test with, if there is one.
pub(crate) async fn nats_server() -> Option<PathBuf> {
    let set = std::env::var_os("LOGGIA_NATS_SERVER").map(PathBuf::from);
    match crate::server::find_supported(set.as_deref()).await {
        Ok(found) => Some(found),
        Err(absent) if std::env::var_os("CI").is_some() => panic!("{absent}"),
        Err(absent) => {
            // Not eprintln!: the test harness hides the output of a passing test.
            let _ = writeln!(std::io::stderr(), "\n*** SKIPPED, and nothing tested, because {absent}\n");
            None
        }
    }
}
