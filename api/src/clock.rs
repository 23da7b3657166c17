//! The clock of a node: what month it is decides whose allowance a call is taken from.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

/// Tells the time; a test sets its own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The system's clock.
#[expect(clippy::disallowed_methods, reason = "the one clock of the node, for which tests put another")]
pub fn system() -> Clock {
    Arc::new(Timestamp::now)
}

/// The system's clock, set ahead.
pub fn ahead(by: SignedDuration) -> Clock {
    let system = system();
    Arc::new(move || {
        let now = system();
        now.saturating_add(by).unwrap_or(now)
    })
}
