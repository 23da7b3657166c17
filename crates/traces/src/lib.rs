//! Distributed traces by W3C Trace Context: propagation of `traceparent`, and the spans of one process.
//!
//! Every part of the service uses it: the API reads the header, commands and events carry it, relay and projections record batch
//! spans. Without the feature `otlp` a [`Traceparent`] is only propagated: no span is recorded and no trace is started. With it,
//! and once `otlp::start` was called, each [`Span`] is recorded and sent to a collector. Spans never block the work: a full queue
//! drops them and counts the loss ([`dropped`]).
//!
//! - [`Traceparent`]: the header, parsed and formatted.
//! - [`Span`]: one piece of work; [`scope`] and [`current`]: the trace of the running task.
//! - [`BatchSpans`]: spans of entries of a log that are processed in batches.
//! - `otlp`: recording with the OpenTelemetry SDK, and export by OTLP over HTTP.
//!
//! ```
//! use traces::{Kind, Span, Traceparent};
//!
//! let parent: Traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse()?;
//! let span = Span::start(Kind::Internal, "command", "import", Some(parent));
//! // Without an exporter, later work belongs to the parent.
//! assert_eq!(span.traceparent(), Some(parent));
//! # Ok::<(), traces::InvalidTraceparent>(())
//! ```

mod batch_spans;
#[cfg(feature = "otlp")]
pub mod otlp;
mod scope;
mod span;

pub use batch_spans::BatchSpans;
pub use scope::{Scope, current, scope};
pub use span::{Span, is_exporting};
pub use traceparent::{HEADER, InvalidTraceparent, Traceparent};

/// The kind of a span, as in OpenTelemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers a request of another process.
    Server,
    /// Sends a message that is processed later.
    Producer,
    /// Processes such a message.
    Consumer,
    /// Anything else.
    Internal,
}

/// Returns the number of spans dropped since the start of the process because the collector was unreachable or slow.
pub fn dropped() -> u64 {
    #[cfg(feature = "otlp")]
    return otlp::dropped();
    #[cfg(not(feature = "otlp"))]
    0
}
