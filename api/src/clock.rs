//! The clock of a node: what month it is decides whose allowance a call is taken from.

use std::sync::Arc;

use jiff::Timestamp;

/// Tells the time; a test sets its own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The system's clock.
#[expect(clippy::disallowed_methods, reason = "the one clock of the node, for which tests put another")]
pub fn system() -> Clock {
    Arc::new(Timestamp::now)
}
