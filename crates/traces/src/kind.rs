//! The kinds of spans, as OpenTelemetry has them.

/// What a span is to those around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers a request of another process.
    Server,
    /// Sends a message that is taken later.
    Producer,
    /// Takes such a message.
    Consumer,
    /// Anything else.
    Internal,
}
