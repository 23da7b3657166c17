use std::time::SystemTime;

/// Returns the seed of a randomised test, from `LOGGIA_TEST_SEED` or the clock, and prints it so that a failed run can
/// be repeated.
pub fn seed() -> u64 {
    let seed = match std::env::var("LOGGIA_TEST_SEED") {
        Ok(set) => set.parse().expect("LOGGIA_TEST_SEED must be a whole number from 0 to 2^64 - 1"),
        Err(_) => from_clock(),
    };
    eprintln!("this run is repeated with LOGGIA_TEST_SEED={seed}");
    seed
}

fn from_clock() -> u64 {
    let since =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock stands after 1970");
    u64::try_from(since.as_nanos() % u128::from(u64::MAX)).expect("a remainder of a u64 fits into one")
}
