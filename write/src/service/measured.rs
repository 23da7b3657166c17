//! What a command service counts of the commands that it carries out: how they ended, and how long they took.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schemas::command::{Answer, LineOutcome, LineResult, RefusalKind};

/// Upper bounds in seconds of the times that commands take; what is above the last has no bound.
pub const BOUNDS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 10.0, f64::INFINITY];

/// How commands end, in the order of [`Commands::ended`].
pub const OUTCOMES: [&str; 4] = ["done", "rejected", "conflict", "unavailable"];

/// What becomes of the lines of imports, in the order of [`Measured::lines`].
pub const LINES: [&str; 4] = ["new", "changed", "same", "rejected"];

/// Counts of a command service.
#[derive(Debug, Default)]
pub struct Measured {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    commands: BTreeMap<&'static str, Commands>,
    lines: [u64; LINES.len()],
}

/// Counts of the commands of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Commands {
    /// How many ended in each way of [`OUTCOMES`].
    pub ended: [u64; OUTCOMES.len()],
    /// How many took at most each bound of [`BOUNDS`] and longer than the one before.
    pub buckets: [u64; BOUNDS.len()],
    /// How long all of them took.
    pub took: Duration,
}

impl Measured {
    /// Counts commands of these names from now on, so that what ends first is seen as a rise from zero.
    pub(crate) fn start_at_zero(&self, names: &[&'static str]) {
        let mut counts = self.counts();
        for name in names {
            counts.commands.entry(name).or_default();
        }
    }

    /// Returns the counts of each command that is served or was carried out, by name.
    pub fn commands(&self) -> Vec<(&'static str, Commands)> {
        self.counts().commands.iter().map(|(name, commands)| (*name, *commands)).collect()
    }

    /// Returns how many lines of imports ended in each way of [`LINES`].
    pub fn lines(&self) -> [u64; LINES.len()] {
        self.counts().lines
    }

    pub(super) fn note(&self, name: &'static str, answer: &Answer, took: Duration) {
        let mut counts = self.counts();
        let commands = counts.commands.entry(name).or_default();
        commands.ended[outcome(answer)] += 1;
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len() - 1);
        commands.buckets[bucket] += 1;
        commands.took += took;
    }

    pub(super) fn note_lines(&self, lines: &[LineOutcome]) {
        let mut counts = self.counts();
        for (sum, count) in counts.lines.iter_mut().zip(count_lines(lines)) {
            *sum += count;
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic while the lock was held leaves plain numbers.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of an answer in [`OUTCOMES`].
fn outcome(answer: &Answer) -> usize {
    match answer {
        Answer::Refused(refusal) => match refusal.kind {
            RefusalKind::Rejected => 1,
            RefusalKind::Conflict => 2,
            RefusalKind::Unavailable => 3,
        },
        _ => 0,
    }
}

/// Returns how many of these lines ended in each way of [`LINES`].
pub(crate) fn count_lines(lines: &[LineOutcome]) -> [u64; LINES.len()] {
    let mut counts = [0; LINES.len()];
    for line in lines {
        counts[line_outcome(line)] += 1;
    }
    counts
}

/// The place of a line in [`LINES`].
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
    use schemas::command::Refusal;
    use schemas::ids::Position;

    use super::*;

    #[test]
    fn commands_are_counted_by_outcome_and_time_and_imports_by_line() {
        let measured = Measured::default();
        let refused = |kind| Answer::Refused(Refusal { kind, detail: String::new(), faults: Vec::new() });
        measured.note("revise", &Answer::Accepted, Duration::from_millis(1));
        measured.note("revise", &refused(RefusalKind::Rejected), Duration::from_millis(2));
        measured.note("revise", &refused(RefusalKind::Unavailable), Duration::from_secs(60));
        let line = |number, result| LineOutcome { number, result };
        let rejected = || LineResult::Rejected { faults: Vec::new() };
        let slug: schemas::slug::Slug = "bridge".parse().unwrap();
        let lines = vec![line(1, LineResult::New { slug }), line(2, rejected()), line(3, rejected())];
        measured.note_lines(&lines);
        let imported = Answer::Imported { position: Position(1), lines };
        measured.note("import", &imported, Duration::from_millis(300));
        let revise = Commands {
            ended: [1, 1, 0, 1],
            buckets: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            took: Duration::from_millis(60_003),
        };
        let import = Commands {
            ended: [1, 0, 0, 0],
            buckets: [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
            took: Duration::from_millis(300),
        };
        measured.start_at_zero(&["attach", "revise"]);
        let none = Commands::default();
        assert_eq!(measured.commands(), [("attach", none), ("import", import), ("revise", revise)]);
        assert_eq!(measured.lines(), [1, 0, 0, 2]);
    }
}
