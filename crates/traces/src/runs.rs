//! Spans of what is done to many entries of a log at once: one for each trace in a batch, not one for each entry.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Kind, Span, Traceparent, is_exporting};

/// How many traces are followed at once; the entries of further ones are done all the same, without a span.
const MOST: usize = 256;

/// The traces of entries that are under way. An import of many lines is one trace, and so one span a batch.
#[derive(Debug, Default)]
pub struct Runs {
    runs: VecDeque<Run>,
}

#[derive(Debug)]
struct Run {
    traceparent: Traceparent,
    began: Instant,
    entries: u64,
    last: u64,
}

impl Runs {
    /// Notes that work on these entries begins: the number of each, which rises, and its trace. Where nothing is exported
    /// it looks at none of them.
    pub fn begin(&mut self, entries: impl IntoIterator<Item = (u64, Option<Traceparent>)>) {
        if is_exporting() {
            self.note(entries);
        }
    }

    fn note(&mut self, entries: impl IntoIterator<Item = (u64, Option<Traceparent>)>) {
        let (began, before) = (Instant::now(), self.runs.len());
        for (number, traceparent) in entries {
            let Some(traceparent) = traceparent else { continue };
            // The next entry is mostly of the same trace.
            let is_room = self.runs.len() < MOST;
            let known = self.runs.iter_mut().skip(before).rev().find(|run| run.traceparent == traceparent);
            match known {
                Some(run) => (run.entries, run.last) = (run.entries + 1, number),
                None if is_room => {
                    self.runs.push_back(Run { traceparent, began, entries: 1, last: number });
                }
                None => {}
            }
        }
    }

    /// Ends the spans of entries up to this number.
    pub fn end(&mut self, up_to: u64, kind: Kind, what: &'static str, which: &'static str) {
        if self.runs.is_empty() {
            return;
        }
        for run in self.take(up_to) {
            let mut span = Span::begun_before(run.began.elapsed(), kind, what, which, Some(run.traceparent));
            span.count("loggia.events", run.entries);
            span.count("loggia.position", run.last);
        }
    }

    fn take(&mut self, up_to: u64) -> Vec<Run> {
        let (done, open) = self.runs.drain(..).partition(|run| run.last <= up_to);
        self.runs = open;
        Vec::from_iter::<VecDeque<Run>>(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traceparent(number: u64) -> Option<Traceparent> {
        Traceparent::new([7; 16], number.to_be_bytes(), true)
    }

    fn taken(runs: &mut Runs, up_to: u64) -> Vec<(Option<Traceparent>, u64, u64)> {
        runs.take(up_to).iter().map(|run| (Some(run.traceparent), run.entries, run.last)).collect()
    }

    #[test]
    fn entries_of_one_trace_are_one_span_a_batch() {
        let mut runs = Runs::default();
        runs.note([(1, traceparent(1)), (2, None), (3, traceparent(2)), (4, traceparent(1))]);
        runs.note([(5, traceparent(1)), (6, traceparent(1))]);
        assert_eq!(taken(&mut runs, 2), []);
        assert_eq!(taken(&mut runs, 5), [(traceparent(1), 2, 4), (traceparent(2), 1, 3)]);
        assert_eq!(taken(&mut runs, 6), [(traceparent(1), 2, 6)]);
    }

    #[test]
    fn the_traces_under_way_are_bounded() {
        let mut runs = Runs::default();
        runs.note((1..=2 * MOST as u64).map(|number| (number, traceparent(number))));
        assert_eq!(taken(&mut runs, u64::MAX).len(), MOST);
    }

    #[test]
    fn nothing_is_noted_where_nothing_is_exported() {
        let mut runs = Runs::default();
        runs.begin([(1, traceparent(1))]);
        assert_eq!(taken(&mut runs, u64::MAX), []);
    }
}
