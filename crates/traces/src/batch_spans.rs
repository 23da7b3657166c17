//! Spans of entries of a log that are processed in batches: one per trace and batch, not one per entry.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Kind, Span, Traceparent, is_exporting};

/// The most spans in progress; entries of further traces have no span.
const MAX_SPANS: usize = 256;

/// The spans in progress. An import of many lines is one trace, so one span per batch.
#[derive(Debug, Default)]
pub struct BatchSpans {
    spans: VecDeque<BatchSpan>,
}

#[derive(Debug)]
struct BatchSpan {
    traceparent: Traceparent,
    began: Instant,
    entries: u64,
    last: u64,
}

impl BatchSpans {
    /// Starts spans for entries, given as position, in ascending order, and trace. Without an exporter the iterator is not read.
    pub fn start(&mut self, entries: impl IntoIterator<Item = (u64, Option<Traceparent>)>) {
        if is_exporting() {
            self.add(entries);
        }
    }

    fn add(&mut self, entries: impl IntoIterator<Item = (u64, Option<Traceparent>)>) {
        let (began, earlier) = (Instant::now(), self.spans.len());
        for (number, traceparent) in entries {
            let Some(traceparent) = traceparent else { continue };
            // From the end: adjacent entries are mostly of one trace.
            let is_room = self.spans.len() < MAX_SPANS;
            let known =
                self.spans.iter_mut().skip(earlier).rev().find(|span| span.traceparent == traceparent);
            match known {
                Some(span) => (span.entries, span.last) = (span.entries + 1, number),
                None if is_room => {
                    self.spans.push_back(BatchSpan { traceparent, began, entries: 1, last: number });
                }
                None => {}
            }
        }
    }

    /// Ends the spans whose last entry is at or before this position.
    pub fn end(&mut self, up_to: u64, kind: Kind, what: &'static str, which: &'static str) {
        if self.spans.is_empty() {
            return;
        }
        for batch in self.take(up_to) {
            let mut span =
                Span::started_before(batch.began.elapsed(), kind, what, which, Some(batch.traceparent));
            span.count("loggia.events", batch.entries);
            span.count("loggia.position", batch.last);
        }
    }

    fn take(&mut self, up_to: u64) -> Vec<BatchSpan> {
        let (done, open) = self.spans.drain(..).partition(|span| span.last <= up_to);
        self.spans = open;
        Vec::from_iter::<VecDeque<BatchSpan>>(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traceparent(number: u64) -> Option<Traceparent> {
        Traceparent::new([7; 16], number.to_be_bytes(), true)
    }

    fn taken(spans: &mut BatchSpans, up_to: u64) -> Vec<(Option<Traceparent>, u64, u64)> {
        spans.take(up_to).iter().map(|span| (Some(span.traceparent), span.entries, span.last)).collect()
    }

    #[test]
    fn entries_of_one_trace_are_one_span_per_batch() {
        let mut spans = BatchSpans::default();
        spans.add([(1, traceparent(1)), (2, None), (3, traceparent(2)), (4, traceparent(1))]);
        spans.add([(5, traceparent(1)), (6, traceparent(1))]);
        assert_eq!(taken(&mut spans, 2), []);
        assert_eq!(taken(&mut spans, 5), [(traceparent(1), 2, 4), (traceparent(2), 1, 3)]);
        assert_eq!(taken(&mut spans, 6), [(traceparent(1), 2, 6)]);
    }

    #[test]
    fn the_spans_in_progress_are_bounded() {
        let mut spans = BatchSpans::default();
        spans.add((1..=2 * MAX_SPANS as u64).map(|number| (number, traceparent(number))));
        assert_eq!(taken(&mut spans, u64::MAX).len(), MAX_SPANS);
    }

    #[test]
    fn without_an_exporter_nothing_is_recorded() {
        let mut spans = BatchSpans::default();
        spans.start([(1, traceparent(1))]);
        assert_eq!(taken(&mut spans, u64::MAX), []);
    }
}
