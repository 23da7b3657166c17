//! A span: one piece of work, from its beginning to its end.

use std::time::Duration;

#[cfg(feature = "otlp")]
use crate::otlp::{self, Recorded};
use crate::{Kind, Traceparent};

/// One piece of work. It ends when it is dropped.
#[derive(Debug)]
pub struct Span {
    onward: Option<Traceparent>,
    #[cfg(feature = "otlp")]
    recorded: Option<Recorded>,
}

/// Returns whether spans are recorded and sent, so that what only serves them can be left out.
pub fn is_exporting() -> bool {
    #[cfg(feature = "otlp")]
    return otlp::is_exporting();
    #[cfg(not(feature = "otlp"))]
    false
}

impl Span {
    /// Begins a span below `parent`, or one of a trace of its own. It is named by what is done and to which kind of thing,
    /// as in `command import`: both are few and fixed.
    pub fn begin(kind: Kind, what: &'static str, which: &'static str, parent: Option<Traceparent>) -> Span {
        Span::begun_before(Duration::ZERO, kind, what, which, parent)
    }

    /// The same for work that began some time ago.
    pub fn begun_before(
        ago: Duration,
        kind: Kind,
        what: &'static str,
        which: &'static str,
        parent: Option<Traceparent>,
    ) -> Span {
        #[cfg(feature = "otlp")]
        {
            let recorded = otlp::begin(ago, kind, what, which, parent);
            let onward = recorded.as_ref().and_then(Recorded::traceparent).or(parent);
            Span { onward, recorded }
        }
        #[cfg(not(feature = "otlp"))]
        {
            let _ = (ago, kind, what, which);
            Span { onward: parent }
        }
    }

    /// The same for work of a trace only: without a parent there is no span.
    pub fn below(kind: Kind, what: &'static str, which: &'static str, parent: Option<Traceparent>) -> Span {
        if parent.is_some() {
            return Span::begin(kind, what, which, parent);
        }
        Span::carrying(None)
    }

    /// Records nothing: what is caused by the work is caused by the parent.
    pub fn carrying(parent: Option<Traceparent>) -> Span {
        Span {
            onward: parent,
            #[cfg(feature = "otlp")]
            recorded: None,
        }
    }

    /// Returns what is caused by this work carries: the span itself, or its parent where none is recorded.
    pub fn traceparent(&self) -> Option<Traceparent> {
        self.onward
    }

    /// Notes a number.
    pub fn count(&mut self, name: &'static str, value: u64) {
        #[cfg(feature = "otlp")]
        if let Some(recorded) = &mut self.recorded {
            recorded.count(name, value);
        }
        #[cfg(not(feature = "otlp"))]
        let _ = (name, value);
    }

    /// Notes a word of a fixed set, such as a route: never a name, a key or an address.
    pub fn label(&mut self, name: &'static str, value: &'static str) {
        #[cfg(feature = "otlp")]
        if let Some(recorded) = &mut self.recorded {
            recorded.label(name, value);
        }
        #[cfg(not(feature = "otlp"))]
        let _ = (name, value);
    }

    /// Marks the work as failed, with a word for how.
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
    fn where_nothing_is_recorded_a_trace_is_carried_on_and_none_begun() {
        let parent = Traceparent::new([1; 16], [1; 8], true);
        for parent in [parent, None] {
            assert_eq!(Span::begin(Kind::Internal, "command", "revise", parent).traceparent(), parent);
        }
        assert!(!is_exporting());
    }
}
