//! What an import tells: counts, the lines it did not take and why, and where the log is at its end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use schemas::command::{ImportLine, LineOutcome, LineResult};
use schemas::ids::Position;
use schemas::import::Fault;
use serde::Serialize;

use crate::cli::ImportArgs;
use crate::output::{Output, count, say};

use super::pictures::{Brought, Wanted};
use super::repair::Repaired;

/// How many refused lines are shown where no file takes them.
const SHOWN: u64 = 20;

/// The counts so far, and where refused lines go.
pub struct Report {
    counts: Counts,
    began: Instant,
    output: Output,
    strict: bool,
    dry_run: bool,
    rejects: Option<BufWriter<File>>,
    progress: ProgressBar,
}

/// The last line of `import --json`.
#[derive(Debug, Default, Clone, Serialize)]
struct Counts {
    new: u64,
    changed: u64,
    same: u64,
    rejected: u64,
    /// Members of changed records that are recorded no more, and pictures.
    members_removed: u64,
    pictures_removed: u64,
    pictures: u64,
    pictures_refused: u64,
    /// Records and characters that were mended, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired_records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired_characters: Option<u64>,
    seconds: f64,
    position: Position,
}

/// A refused line in the file of rejects.
#[derive(Serialize)]
struct Reject<'a> {
    line: u64,
    faults: &'a [Fault],
    record: &'a str,
}

impl Report {
    /// Nothing yet.
    pub fn new(args: &ImportArgs, output: Output) -> Result<Report> {
        let rejects = args.rejects.as_ref().map(|path| {
            File::create(path)
                .map(BufWriter::new)
                .with_context(|| format!("{} cannot be written", path.display()))
        });
        let none = args.repair_text.then_some(0);
        let counts = Counts { repaired_records: none, repaired_characters: none, ..Counts::default() };
        Ok(Report {
            counts,
            began: Instant::now(),
            output,
            strict: args.strict,
            dry_run: args.dry_run,
            rejects: rejects.transpose()?,
            progress: output.progress(0, "records"),
        })
    }

    /// Whether refused lines are written with their text.
    pub fn keeps_texts(&self) -> bool {
        self.rejects.is_some()
    }

    /// Takes the outcomes of one batch, and its lines where their texts are kept.
    pub fn batch(
        &mut self,
        position: Position,
        lines: Vec<LineOutcome>,
        texts: Option<&[ImportLine]>,
    ) -> Result<()> {
        self.counts.position = position;
        self.progress.inc(lines.len() as u64);
        for outcome in lines {
            if self.dry_run {
                self.difference(&outcome)?;
            }
            match outcome.result {
                LineResult::New { .. } => self.counts.new += 1,
                LineResult::Changed { removed, removed_pictures, .. } => {
                    self.counts.changed += 1;
                    self.counts.members_removed += removed.len() as u64;
                    self.counts.pictures_removed += removed_pictures.len() as u64;
                }
                LineResult::Same { .. } => self.counts.same += 1,
                LineResult::Rejected { faults } => {
                    let text =
                        texts.and_then(|texts| texts.iter().find(|line| line.number == outcome.number));
                    self.rejected(outcome.number, text.map_or("", |line| &line.text), &faults)?;
                }
            }
            if self.is_strict_and_rejected() {
                break;
            }
        }
        Ok(())
    }

    /// Shows what a line would change.
    fn difference(&self, outcome: &LineOutcome) -> Result<()> {
        if matches!(outcome.result, LineResult::Same { .. } | LineResult::Rejected { .. }) {
            return Ok(());
        }
        self.output.answer(outcome, || match &outcome.result {
            LineResult::New { slug } => format!("line {}: new {slug}", outcome.number),
            LineResult::Changed { slug, members, removed, removed_pictures, .. } => {
                let removed: Vec<&str> = removed.iter().chain(removed_pictures).map(String::as_str).collect();
                let removed = match removed[..] {
                    [] => String::new(),
                    _ => format!("; taken away: {}", removed.join(", ")),
                };
                format!("line {}: changed {slug}: {}{removed}", outcome.number, members.join(", "))
            }
            LineResult::Same { .. } | LineResult::Rejected { .. } => String::new(),
        })
    }

    /// Takes a line that was not taken.
    pub fn rejected(&mut self, number: u64, text: &str, faults: &[Fault]) -> Result<()> {
        self.counts.rejected += 1;
        if let Some(file) = &mut self.rejects {
            serde_json::to_writer(&mut *file, &Reject { line: number, faults, record: text })?;
            file.write_all(b"\n").context("the file of rejects cannot be written")?;
        } else if self.counts.rejected <= SHOWN {
            self.progress.suspend(|| {
                for fault in faults {
                    let field = if fault.field.is_empty() { "the line" } else { &fault.field };
                    say(&format!("line {number}: {field} {}", fault.reason));
                }
            });
        } else if self.counts.rejected == SHOWN + 1 {
            self.progress.suspend(|| {
                say("more lines cannot be taken; --rejects FILE keeps them all with their faults")
            });
        }
        Ok(())
    }

    /// Takes what became of pictures. Their records stay, whatever becomes of them.
    pub fn pictures(&mut self, brought: Vec<(Wanted, Brought)>) {
        for (wanted, brought) in brought {
            match brought {
                Brought::Attached => self.counts.pictures += 1,
                Brought::Refused(reason) => {
                    self.counts.pictures_refused += 1;
                    if self.counts.pictures_refused <= SHOWN {
                        let (line, source) = (wanted.line, &wanted.picture.source);
                        self.progress.suspend(|| {
                            say(&format!("line {line}: the picture {source} is not attached: {reason}"))
                        });
                    }
                }
            }
        }
    }

    /// Takes what was mended in the lines of a batch.
    pub fn repaired(&mut self, repaired: Repaired) {
        let counts = [
            (&mut self.counts.repaired_records, repaired.records),
            (&mut self.counts.repaired_characters, repaired.characters),
        ];
        for (count, more) in counts {
            *count = count.map(|count| count + more);
        }
    }

    /// Whether the import must end here.
    pub fn is_strict_and_rejected(&self) -> bool {
        self.strict && self.counts.rejected + self.counts.pictures_refused > 0
    }

    /// Prints the counts. An import that was cut short is a failure.
    pub fn finish(mut self, cut_short: Option<&str>) -> Result<ExitCode> {
        self.progress.finish_and_clear();
        if let Some(mut file) = self.rejects.take() {
            file.flush().context("the file of rejects cannot be written")?;
        }
        self.counts.seconds = self.began.elapsed().as_secs_f64();
        self.output.answer(&self.counts, || self.sentence())?;
        if let Some(why) = cut_short {
            say(why);
            return Ok(ExitCode::FAILURE);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn sentence(&self) -> String {
        let Counts { new, changed, same, rejected, pictures, pictures_refused, position, .. } = &self.counts;
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = (new + changed + same + rejected) as f64 / seconds.max(1e-9);
        let would = if self.dry_run { "dry run, nothing was written: " } else { "" };
        let illustrated = match (pictures, pictures_refused) {
            (0, 0) => String::new(),
            (_, 0) => format!("; {} pictures attached", count(*pictures)),
            _ => format!("; {} pictures attached, {} not", count(*pictures), count(*pictures_refused)),
        };
        let repaired = match (self.counts.repaired_records, self.counts.repaired_characters) {
            (Some(records), Some(characters)) => {
                format!("; {} characters mended in {} records", count(characters), count(records))
            }
            _ => String::new(),
        };
        let removed = match (self.counts.members_removed, self.counts.pictures_removed) {
            (0, 0) => String::new(),
            (members, pictures) => {
                format!("; {} members and {} pictures taken away", count(members), count(pictures))
            }
        };
        // Where no line was sent, nothing was heard of the log.
        let reached = match *position {
            Position::START => String::new(),
            position => format!("; the log is at {position}"),
        };
        format!(
            "{would}{} new, {} changed, {} same, {} rejected{removed}{illustrated}{repaired} in {seconds:.1} s ({} records/s){reached}",
            count(*new),
            count(*changed),
            count(*same),
            count(*rejected),
            count(rate as u64),
        )
    }
}
