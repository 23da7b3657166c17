//! The clock of this process: the machine's, or ahead of it by the setting `clock_offset`.

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use schemas::clock::Clock;

static CLOCK: LazyLock<Clock> = LazyLock::new(Clock::system);

/// Sets the clock of this process ahead.
pub fn set_ahead(by: SignedDuration) {
    CLOCK.advance(by);
}

/// Warns if the clock is not the machine's.
pub fn warn_if_off() {
    let by = CLOCK.offset();
    if !by.is_zero() {
        tracing::warn!(
            "clock_offset is set: the clock of this process is {by:#} off, and calls count for the month that it says; \
             for rehearsals only"
        );
    }
}

/// Returns the clock of this process.
pub fn system() -> Clock {
    CLOCK.clone()
}

/// Returns the time of the clock of this process.
pub fn now() -> Timestamp {
    CLOCK.now()
}
