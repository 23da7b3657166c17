//! The environment of tests: optional requirements, seeds, the shared records and free ports.

use std::collections::hash_map::RandomState;
use std::fmt::Display;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

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

/// Returns the folder of real records for tests: `LOGGIA_SHARED_DATA`, or `shared/data` next to the checkout.
///
/// The records are not part of the project, so without them tests are skipped everywhere, with a message.
pub fn shared_data() -> Option<PathBuf> {
    let next_to_checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("LOGGIA_SHARED_DATA").map_or(next_to_checkout, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(format_args!("there is no folder {} (LOGGIA_SHARED_DATA may name another)", folder.display()));
    None
}

/// Returns the folder of the weights of the encoders: `LOGGIA_WEIGHTS`, or `.tools/models` in the checkout. Without them the test is
/// [`absent`].
pub fn weights() -> Option<PathBuf> {
    let in_checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/models");
    let folder = std::env::var_os("LOGGIA_WEIGHTS").map_or(in_checkout, PathBuf::from);
    if ["efficientnet-lite0.f16", "potion-base-8m.i8"].iter().all(|file| folder.join(file).is_file()) {
        return Some(folder);
    }
    absent(format_args!("there are no weights in {}; run bin/setup, then bin/test", folder.display()));
    None
}

/// Returns the seed of a randomised test, from `LOGGIA_TEST_SEED` or the clock, and prints it so that a failed run can
/// be repeated.
pub fn seed() -> u64 {
    let seed = match std::env::var("LOGGIA_TEST_SEED") {
        Ok(set) => set.parse().expect("LOGGIA_TEST_SEED must be a whole number from 0 to 2^64 - 1"),
        Err(_) => from_clock(),
    };
    eprintln!("set LOGGIA_TEST_SEED={seed} to repeat this run");
    seed
}

fn from_clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is after 1970");
    u64::try_from(since.as_nanos() % u128::from(u64::MAX)).expect("a remainder of a u64 fits into one")
}

/// The locks of the ports that this process was given, which it keeps until it ends.
static RESERVED: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Returns a free port below the ephemeral range, so that no outgoing connection takes it while its server is down. Nobody else is
/// given it while this process runs: a server binds it some time later, and other tests run beside this one.
pub fn free_port() -> u16 {
    let user = rustix::process::getuid().as_raw();
    let folder = std::env::temp_dir().join(format!("loggia-test-ports-{user}"));
    std::fs::create_dir_all(&folder).expect("a folder for the locks of ports");
    loop {
        let random = RandomState::new().build_hasher().finish();
        let port = 10_240 + u16::try_from(random % 20_000).expect("a small number");
        let lock = File::create(folder.join(port.to_string())).expect("a file for the lock of a port");
        if lock.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            RESERVED.lock().expect("no test fails with the lock").push(lock);
            return port;
        }
    }
}
