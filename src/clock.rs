//! The clock of this process: the machine's, or as far ahead of it as the setting `clock_offset` says.

use std::sync::OnceLock;

use jiff::{SignedDuration, Timestamp};
use schemas::clock::Clock;

/// Set once, before anything asks for the time.
static OFFSET: OnceLock<SignedDuration> = OnceLock::new();

/// Sets the clock of this process ahead of the machine's. Only the first call has an effect.
pub fn set_ahead(by: SignedDuration) {
    let _ = OFFSET.set(by);
}

/// Warns where the clock is not the machine's.
pub fn warn_if_off() {
    let by = ahead();
    if !by.is_zero() {
        tracing::warn!(
            "clock_offset is set: the clock of this process is {by:#} off, and calls count for the month that it says; \
             for rehearsals only"
        );
    }
}

/// Returns the clock of this process.
pub fn system() -> Clock {
    Clock::ahead(ahead())
}

/// Returns it as the API takes it.
pub fn of_api() -> api::clock::Clock {
    api::clock::ahead(ahead())
}

/// Returns the time, for what only shows it.
pub fn now() -> Timestamp {
    system().now()
}

fn ahead() -> SignedDuration {
    OFFSET.get().copied().unwrap_or_default()
}
