//! A span: one piece of work, from start to end.

use std::time::Duration;

#[cfg(feature = "otlp")]
use crate::otlp::{self, SdkSpan};
use crate::{Kind, Traceparent};

/// One piece of work. It ends when it is dropped.
#[derive(Debug)]
pub struct Span {
    traceparent: Option<Traceparent>,
    #[cfg(feature = "otlp")]
    recorded: Option<SdkSpan>,
}

/// Returns whether spans are recorded and exported; otherwise work that only serves them can be skipped.
pub fn is_exporting() -> bool {
    #[cfg(feature = "otlp")]
    return otlp::is_exporting();
    #[cfg(not(feature = "otlp"))]
    false
}

impl Span {
    /// Starts a span below `parent`, or without a parent a new trace. Its name is `what` and `which`, as in `command import`: both
    /// from a small fixed set.
    pub fn start(kind: Kind, what: &'static str, which: &'static str, parent: Option<Traceparent>) -> Span {
        Span::started_before(Duration::ZERO, kind, what, which, parent)
    }

    /// Starts a span for work that began `ago` before now; otherwise like [`Span::start`].
    pub fn started_before(
        ago: Duration,
        kind: Kind,
        what: &'static str,
        which: &'static str,
        parent: Option<Traceparent>,
    ) -> Span {
        #[cfg(feature = "otlp")]
        {
            let recorded = otlp::start_span(ago, kind, what, which, parent);
            let traceparent = recorded.as_ref().and_then(SdkSpan::traceparent).or(parent);
            Span { traceparent, recorded }
        }
        #[cfg(not(feature = "otlp"))]
        {
            let _ = (ago, kind, what, which);
            Span { traceparent: parent }
        }
    }

    /// Starts a span below `parent`; without a parent nothing is recorded.
    pub fn child_of(
        kind: Kind,
        what: &'static str,
        which: &'static str,
        parent: Option<Traceparent>,
    ) -> Span {
        if parent.is_some() {
            return Span::start(kind, what, which, parent);
        }
        Span::unrecorded(None)
    }

    /// Returns a span that is not recorded and only propagates its parent.
    pub fn unrecorded(parent: Option<Traceparent>) -> Span {
        Span {
            traceparent: parent,
            #[cfg(feature = "otlp")]
            recorded: None,
        }
    }

    /// Returns the parent for work that this work causes: the span itself, or its parent if it is not recorded.
    pub fn traceparent(&self) -> Option<Traceparent> {
        self.traceparent
    }

    /// Sets an attribute to a number.
    pub fn count(&mut self, name: &'static str, value: u64) {
        #[cfg(feature = "otlp")]
        if let Some(recorded) = &mut self.recorded {
            recorded.count(name, value);
        }
        #[cfg(not(feature = "otlp"))]
        let _ = (name, value);
    }

    /// Sets an attribute to a word of a fixed set, such as a route; never to a name, a key or an address.
    pub fn label(&mut self, name: &'static str, value: &'static str) {
        #[cfg(feature = "otlp")]
        if let Some(recorded) = &mut self.recorded {
            recorded.label(name, value);
        }
        #[cfg(not(feature = "otlp"))]
        let _ = (name, value);
    }

    /// Sets the status to failed, with a description from a fixed set.
    pub fn failed(&mut self, how: &'static str) {
        #[cfg(feature = "otlp")]
        if let Some(recorded) = &mut self.recorded {
            recorded.failed(how);
        }
        #[cfg(not(feature = "otlp"))]
        let _ = how;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_exporter_a_trace_is_propagated_and_none_started() {
        let parent = Traceparent::new([1; 16], [1; 8], true);
        for parent in [parent, None] {
            assert_eq!(Span::start(Kind::Internal, "command", "revise", parent).traceparent(), parent);
        }
        assert!(!is_exporting());
    }
}
