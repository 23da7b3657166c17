//! Which build this is.

/// The release.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from; none in builds for tests, and where neither git nor `LOGGIA_COMMIT` tells it.
pub const COMMIT: Option<&str> = option_env!("LOGGIA_COMMIT");

/// The features that it was built with, with commas.
pub const FEATURES: &str = match (cfg!(feature = "eventstore"), cfg!(feature = "otlp")) {
    (true, true) => "eventstore,otlp",
    (true, false) => "eventstore",
    (false, true) => "otlp",
    (false, false) => "none",
};

/// What `loggia --version` prints behind the name.
pub fn long_version() -> String {
    format!("{VERSION} (commit {}; features: {FEATURES})", COMMIT.unwrap_or("unknown"))
}
