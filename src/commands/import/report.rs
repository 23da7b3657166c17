//! What an import tells: counts, the lines it did not take and why, and where the log is at its end.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use schemas::command::{ImportLine, LineForm, LineOutcome, LineResult};
use schemas::ids::Position;
use schemas::import::Fault;
use serde::Serialize;

use crate::cli::{ImportArgs, MaxRejected};
use crate::output::{Failure, Output, count, say};
use crate::signals::Asked;

use super::pictures::{Brought, Wanted};

/// How many refused lines are shown where no file takes them.
const SHOWN: u64 = 20;

/// The counts so far, and where refused lines go.
pub struct Report {
    counts: Counts,
    began: Instant,
    output: Output,
    /// The file as it was named.
    source: String,
    dry_run: bool,
    max_rejected: Option<MaxRejected>,
    rejects: Option<File>,
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

#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(flatten)]
    counts: &'a Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure<'a>>,
}

/// A refused line in the file of rejects.
#[derive(Serialize)]
struct Reject<'a> {
    line: u64,
    faults: &'a [Fault],
    record: &'a str,
    /// How much of a record it says, where that is not all.
    #[serde(skip_serializing_if = "is_whole")]
    form: LineForm,
}

fn is_whole(form: &LineForm) -> bool {
    *form == LineForm::Record
}

/// How an import ended.
pub struct End {
    status: ExitCode,
    /// What kind of failure it is, and why.
    failure: Option<(&'static str, String)>,
}

impl End {
    /// An import that failed.
    pub fn failed(why: String) -> End {
        End { status: ExitCode::FAILURE, failure: Some(("failed", why)) }
    }

    /// An import that a signal ended.
    pub fn interrupted(asked: Asked, why: String) -> End {
        End { status: asked.status(), failure: Some(("interrupted", why)) }
    }
}

impl Report {
    /// Nothing yet.
    pub fn new(args: &ImportArgs, output: Output) -> Result<Report> {
        let rejects = args.rejects.as_deref().map(|path| {
            refuse_source(path, &args.file)?;
            File::create(path).with_context(|| format!("{} cannot be written", path.display()))
        });
        let none = args.repair_text.then_some(0);
        let counts = Counts { repaired_records: none, repaired_characters: none, ..Counts::default() };
        Ok(Report {
            counts,
            began: Instant::now(),
            output,
            source: args.file.display().to_string(),
            dry_run: args.dry_run,
            max_rejected: args.max_rejected,
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
        form: LineForm,
    ) -> Result<()> {
        self.reached(position);
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
                    self.rejected(outcome.number, text.map_or("", |line| &line.text), &faults, form)?;
                }
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
    pub fn rejected(&mut self, number: u64, text: &str, faults: &[Fault], form: LineForm) -> Result<()> {
        self.counts.rejected += 1;
        if let Some(file) = &mut self.rejects {
            // A line at a time, so that the file ends with a whole one whenever the import ends.
            let mut line = serde_json::to_vec(&Reject { line: number, faults, record: text, form })?;
            line.push(b'\n');
            file.write_all(&line).context("the file of rejects cannot be written")?;
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

    /// Takes how many characters were mended in which lines.
    pub fn mended<'m>(&mut self, mended: impl Iterator<Item = &'m (u64, u64)>) {
        let (mut records, mut all) = (0, 0);
        for (_, characters) in mended {
            records += 1;
            all += characters;
        }
        for (count, more) in
            [(&mut self.counts.repaired_records, records), (&mut self.counts.repaired_characters, all)]
        {
            *count = count.map(|count| count + more);
        }
    }

    /// Takes where the log is.
    pub fn reached(&mut self, position: Position) {
        self.counts.position = position;
    }

    /// Returns where the log is, as far as that was heard.
    pub fn position(&self) -> Position {
        self.counts.position
    }

    /// Returns whether anything was refused.
    pub fn is_faulty(&self) -> bool {
        self.counts.rejected + self.counts.pictures_refused > 0
    }

    /// Returns whether more lines were refused than the operator allows.
    pub fn has_too_many_rejected(&self) -> bool {
        self.max_rejected.is_some_and(|most| most.is_exceeded(self.counts.rejected, self.lines()))
    }

    /// Says how many lines were refused, and how many the operator allows.
    pub fn too_many(&self) -> String {
        let allowed = self.max_rejected.map(|most| most.to_string()).unwrap_or_default();
        format!(
            "{} of {} lines cannot be taken, and --max-rejected allows {allowed}",
            count(self.counts.rejected),
            count(self.lines())
        )
    }

    fn lines(&self) -> u64 {
        let Counts { new, changed, same, rejected, .. } = &self.counts;
        new + changed + same + rejected
    }

    /// Returns how an import ended that came to the end of its file.
    pub fn verdict(&self) -> End {
        match self.counts.rejected {
            0 => End { status: ExitCode::SUCCESS, failure: None },
            rejected if rejected == self.lines() => End::failed("no line could be taken".into()),
            _ => End { status: ExitCode::SUCCESS, failure: None },
        }
    }

    /// Prints the counts, and why the import failed if it did.
    pub fn finish(mut self, end: End) -> Result<ExitCode> {
        self.progress.finish_and_clear();
        self.counts.seconds = self.began.elapsed().as_secs_f64();
        let End { status, failure } = end;
        let why = failure.as_ref().map(|(kind, detail)| Failure { kind, detail, faults: &[] });
        self.output.answer(&Outcome { counts: &self.counts, failure: why }, || self.sentence())?;
        if let Some((_, detail)) = failure {
            say(&detail);
        }
        Ok(status)
    }

    fn sentence(&self) -> String {
        let Counts { new, changed, same, rejected, pictures, pictures_refused, position, .. } = &self.counts;
        if self.lines() == 0 {
            return format!("nothing was read: {} has no records; the log is at {position}", self.source);
        }
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = self.lines() as f64 / seconds.max(1e-9);
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

/// Refuses to write over the very file that is imported.
fn refuse_source(rejects: &Path, source: &Path) -> Result<()> {
    if let (Ok(rejects), Ok(source)) = (rejects.canonicalize(), source.canonicalize())
        && rejects == source
    {
        bail!("--rejects names the file that is imported; name another");
    }
    Ok(())
}
