//! Counts and durations of commands, and the outcomes of imported lines.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemas::command::{CommandReply, FailureKind, LineOutcome, LineResult};

/// The upper bounds of the buckets of [`CommandCounts::buckets`], in seconds.
pub const BOUNDS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0, f64::INFINITY];

/// The outcomes of commands, in the order of [`CommandCounts::outcomes`].
pub const OUTCOMES: [&str; 4] = ["done", "rejected", "conflict", "unavailable"];

/// The outcomes of imported lines, in the order of [`CommandMetrics::lines`].
pub const LINE_OUTCOMES: [&str; 4] = ["new", "changed", "same", "rejected"];

/// The metrics of the commands of one write side.
#[derive(Debug, Default)]
pub struct CommandMetrics {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    commands: BTreeMap<&'static str, CommandCounts>,
    lines: [u64; LINE_OUTCOMES.len()],
}

/// Counts of the commands of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CommandCounts {
    /// The number of commands by outcome, in the order of [`OUTCOMES`].
    pub outcomes: [u64; OUTCOMES.len()],
    /// The number of commands that took at most each bound of [`BOUNDS`] and longer than the one before.
    pub buckets: [u64; BOUNDS.len()],
    /// The sum of their durations.
    pub duration: Duration,
}

impl CommandMetrics {
    /// Reports commands of these names from now on, so that the first one is seen as a rise from zero.
    pub(crate) fn start_at_zero(&self, names: impl IntoIterator<Item = &'static str>) {
        let mut counts = self.counts();
        for name in names {
            counts.commands.entry(name).or_default();
        }
    }

    /// Returns the counts of each command that is served or was executed, by name.
    pub fn commands(&self) -> Vec<(&'static str, CommandCounts)> {
        self.counts().commands.iter().map(|(name, commands)| (*name, *commands)).collect()
    }

    /// Returns the number of imported lines by outcome, in the order of [`LINE_OUTCOMES`]; those of dry runs do not count.
    pub fn lines(&self) -> [u64; LINE_OUTCOMES.len()] {
        self.counts().lines
    }

    pub(super) fn count(&self, name: &'static str, reply: &CommandReply, duration: Duration) {
        let mut counts = self.counts();
        let commands = counts.commands.entry(name).or_default();
        commands.outcomes[outcome(reply)] += 1;
        let seconds = duration.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len() - 1);
        commands.buckets[bucket] += 1;
        commands.duration += duration;
    }

    pub(super) fn count_lines(&self, lines: &[LineOutcome]) {
        let mut counts = self.counts();
        for (sum, count) in counts.lines.iter_mut().zip(line_counts(lines)) {
            *sum += count;
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic while the lock was held leaves plain numbers.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the index of a reply in [`OUTCOMES`].
fn outcome(reply: &CommandReply) -> usize {
    match reply {
        CommandReply::Failed(failure) => match failure.kind {
            FailureKind::Rejected => 1,
            FailureKind::Conflict => 2,
            FailureKind::Unavailable => 3,
        },
        _ => 0,
    }
}

/// Returns the number of these lines by outcome, in the order of [`LINE_OUTCOMES`].
pub(crate) fn line_counts(lines: &[LineOutcome]) -> [u64; LINE_OUTCOMES.len()] {
    let mut counts = [0; LINE_OUTCOMES.len()];
    for line in lines {
        counts[line_outcome(line)] += 1;
    }
    counts
}

/// Returns the index of a line in [`LINE_OUTCOMES`].
fn line_outcome(line: &LineOutcome) -> usize {
    match line.result {
        LineResult::New { .. } => 0,
        LineResult::Changed { .. } => 1,
        LineResult::Same { .. } => 2,
        LineResult::Rejected { .. } => 3,
    }
}

#[cfg(test)]
mod tests {
    use schemas::command::CommandFailure;
    use schemas::ids::Position;

    use super::*;

    #[test]
    fn commands_are_counted_by_outcome_and_time_and_imports_by_line() {
        let metrics = CommandMetrics::default();
        let refused =
            |kind| CommandReply::Failed(CommandFailure { kind, detail: String::new(), faults: Vec::new() });
        metrics.count("revise", &CommandReply::Accepted, Duration::from_millis(1));
        metrics.count("revise", &refused(FailureKind::Rejected), Duration::from_millis(2));
        metrics.count("revise", &refused(FailureKind::Unavailable), Duration::from_secs(60));
        let line = |number, result| LineOutcome { number, result };
        let rejected = || LineResult::Rejected { faults: Vec::new() };
        let slug: schemas::slug::Slug = "bridge".parse().unwrap();
        let lines = vec![line(1, LineResult::New { slug }), line(2, rejected()), line(3, rejected())];
        metrics.count_lines(&lines);
        let imported = CommandReply::Imported { position: Position(1), lines };
        metrics.count("import", &imported, Duration::from_millis(300));
        let revise = CommandCounts {
            outcomes: [1, 1, 0, 1],
            buckets: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            duration: Duration::from_millis(60_003),
        };
        let import = CommandCounts {
            outcomes: [1, 0, 0, 0],
            buckets: [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
            duration: Duration::from_millis(300),
        };
        metrics.start_at_zero(["attach", "revise"]);
        let none = CommandCounts::default();
        assert_eq!(metrics.commands(), [("attach", none), ("import", import), ("revise", revise)]);
        assert_eq!(metrics.lines(), [1, 0, 0, 2]);
    }
}
