//! Traces by the rules of W3C Trace Context: which trace a piece of work belongs to, and the spans of one process.
//!
//! Without the feature `otlp` a [`Traceparent`] that came is carried on, and nothing else: no span is recorded and no
//! trace is begun. With it, and once [`otlp::start`] was called, each [`Span`] is recorded and sent to a collector.

mod ambient;
mod kind;
#[cfg(feature = "otlp")]
pub mod otlp;
mod runs;
mod span;
mod traceparent;

pub use ambient::{Within, current, within};
pub use kind::Kind;
pub use runs::Runs;
pub use span::{Span, is_exporting};
pub use traceparent::{HEADER, InvalidTraceparent, Traceparent, lenient};

/// Returns how many spans were dropped since the start of the process, because the collector was away or slow.
pub fn dropped() -> u64 {
    #[cfg(feature = "otlp")]
    return otlp::dropped();
    #[cfg(not(feature = "otlp"))]
    0
}
