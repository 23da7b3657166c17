//! The report of an import: counts, rejected lines with their faults, and the position of the log at the end.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cli_output::{Failure, Output, count, say};
use daemon::signals::Signal;
use indicatif::ProgressBar;
use schemas::command::{ImportLine, LineForm, LineOutcome, LineResult};
use schemas::ids::Position;
use schemas::import::Fault;
use serde::Serialize;

use super::pictures::{NamedPicture, UploadOutcome};
use crate::cli::{ImportArgs, MaxRejected};

/// The number of rejected lines that are shown if they are not written to a file.
const SHOWN: u64 = 20;

/// The counts so far, and where rejected lines are written.
pub struct Report {
    counts: Counts,
    began: Instant,
    output: Output,
    /// The file, as it was named.
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
    /// Members that changed records no longer have, and pictures.
    members_removed: u64,
    pictures_removed: u64,
    pictures: u64,
    pictures_refused: u64,
    /// Records and characters that were repaired; absent without `--repair-text`.
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

/// A rejected line in the file that `--rejects` names.
#[derive(Serialize)]
struct Reject<'a> {
    line: u64,
    faults: &'a [Fault],
    record: &'a str,
    /// How much of a record it is; absent for a whole record.
    #[serde(skip_serializing_if = "is_whole_record")]
    form: LineForm,
}

fn is_whole_record(form: &LineForm) -> bool {
    *form == LineForm::Record
}

pub struct End {
    status: ExitCode,
    /// The kind of the failure, and its reason.
    failure: Option<(&'static str, String)>,
    /// Whether lines may have been imported without a reply that says so.
    is_unknown: bool,
}

impl End {
    pub fn failed(reason: String) -> End {
        End { status: ExitCode::FAILURE, failure: Some(("failed", reason)), is_unknown: false }
    }

    pub fn interrupted(signal: Signal, reason: String) -> End {
        End { status: signal.exit_status(), failure: Some(("interrupted", reason)), is_unknown: false }
    }

    /// Says whether lines may have been imported without a reply that says so.
    pub fn with_unknown(self, is_unknown: bool) -> End {
        End { is_unknown, ..self }
    }

    fn complete() -> End {
        End { status: ExitCode::SUCCESS, failure: None, is_unknown: false }
    }
}

impl Report {
    /// Returns an empty report, and creates the file of rejected lines.
    pub fn new(args: &ImportArgs, output: Output) -> Result<Report> {
        let rejects = args.rejects.as_deref().map(|path| {
            require_other_file(path, &args.file)?;
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

    /// Returns whether rejected lines are written with their text.
    pub fn keeps_texts(&self) -> bool {
        self.rejects.is_some()
    }

    /// Adds the outcomes of one batch. `texts` are its lines, if rejected lines are written with their text.
    pub fn batch(
        &mut self,
        position: Position,
        lines: Vec<LineOutcome>,
        texts: Option<&[ImportLine]>,
        form: LineForm,
    ) -> Result<()> {
        self.set_position(position);
        self.progress.inc(lines.len() as u64);
        for outcome in lines {
            if self.dry_run {
                self.show_difference(&outcome)?;
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

    fn show_difference(&self, outcome: &LineOutcome) -> Result<()> {
        if matches!(outcome.result, LineResult::Same { .. } | LineResult::Rejected { .. }) {
            return Ok(());
        }
        Ok(self.output.answer(outcome, || match &outcome.result {
            LineResult::New { slug } => format!("line {}: new {slug}", outcome.number),
            LineResult::Changed { slug, members, removed, removed_pictures, .. } => {
                let removed: Vec<&str> = removed.iter().chain(removed_pictures).map(String::as_str).collect();
                let removed = match removed[..] {
                    [] => String::new(),
                    _ => format!("; removed: {}", removed.join(", ")),
                };
                format!("line {}: changed {slug}: {}{removed}", outcome.number, members.join(", "))
            }
            LineResult::Same { .. } | LineResult::Rejected { .. } => String::new(),
        })?)
    }

    pub fn rejected(&mut self, number: u64, text: &str, faults: &[Fault], form: LineForm) -> Result<()> {
        self.counts.rejected += 1;
        if let Some(file) = &mut self.rejects {
            // In one write, so that the file ends with a complete line whenever the import ends.
            let mut line = serde_json::to_vec(&Reject { line: number, faults, record: text, form })?;
            line.push(b'\n');
            file.write_all(&line).context("the file of rejected lines cannot be written")?;
        } else if self.counts.rejected <= SHOWN {
            self.progress.suspend(|| {
                for fault in faults {
                    let field = if fault.field.is_empty() { "the line" } else { &fault.field };
                    say(&format!("line {number}: {field} {}", fault.reason));
                }
            });
        } else if self.counts.rejected == SHOWN + 1 {
            self.progress.suspend(|| {
                say("more lines are rejected; --rejects FILE writes all of them with their faults")
            });
        }
        Ok(())
    }

    /// Adds the outcomes of pictures. Their records are imported in any case.
    pub fn pictures(&mut self, outcomes: Vec<(NamedPicture, UploadOutcome)>) {
        for (named, outcome) in outcomes {
            match outcome {
                UploadOutcome::Attached => self.counts.pictures += 1,
                UploadOutcome::Refused(reason) => {
                    self.counts.pictures_refused += 1;
                    if self.counts.pictures_refused <= SHOWN {
                        let (line, source) = (named.line, &named.named.picture.source);
                        self.progress.suspend(|| {
                            say(&format!("line {line}: the picture {source} is not attached: {reason}"))
                        });
                    }
                }
            }
        }
    }

    /// Adds the numbers of repaired characters, each with the number of its line.
    pub fn repaired<'m>(&mut self, repaired: impl Iterator<Item = &'m (u64, u64)>) {
        let (mut records, mut all) = (0, 0);
        for (_, characters) in repaired {
            records += 1;
            all += characters;
        }
        for (count, more) in
            [(&mut self.counts.repaired_records, records), (&mut self.counts.repaired_characters, all)]
        {
            *count = count.map(|count| count + more);
        }
    }

    pub fn set_position(&mut self, position: Position) {
        self.counts.position = position;
    }

    /// Returns the last known position of the log; [`Position::START`] if no line was sent.
    pub fn position(&self) -> Position {
        self.counts.position
    }

    /// Returns whether any line or picture was rejected.
    pub fn has_rejections(&self) -> bool {
        self.counts.rejected + self.counts.pictures_refused > 0
    }

    /// Returns whether more lines were rejected than `--max-rejected` allows.
    pub fn has_too_many_rejected(&self) -> bool {
        self.max_rejected.is_some_and(|most| most.is_exceeded(self.counts.rejected, self.lines()))
    }

    /// Returns how many lines were rejected and how many `--max-rejected` allows, as a part of a sentence.
    pub fn too_many_rejected(&self) -> String {
        let allowed = self.max_rejected.map(|most| most.to_string()).unwrap_or_default();
        format!(
            "{} of {} lines are rejected, and --max-rejected allows {allowed}",
            count(self.counts.rejected),
            count(self.lines())
        )
    }

    fn lines(&self) -> u64 {
        let Counts { new, changed, same, rejected, .. } = &self.counts;
        new + changed + same + rejected
    }

    /// Returns how an import ended that reached the end of its file: as a failure if every line was rejected.
    pub fn end_of_file(&self) -> End {
        match self.counts.rejected {
            0 => End::complete(),
            rejected if rejected == self.lines() => End::failed("every line is rejected".into()),
            _ => End::complete(),
        }
    }

    /// Prints the counts, and why the import failed if it did. Returns the exit status.
    pub fn finish(mut self, end: End) -> Result<ExitCode> {
        self.progress.finish_and_clear();
        self.counts.seconds = self.began.elapsed().as_secs_f64();
        let End { status, failure, is_unknown } = end;
        let is_unread = failure.is_none();
        let reported = failure.as_ref().map(|(kind, detail)| Failure { kind, detail });
        self.output.answer(&Outcome { counts: &self.counts, failure: reported }, || match self.lines() {
            0 => self.nothing(is_unread, is_unknown),
            _ => self.sentence(),
        })?;
        if let Some((_, detail)) = failure {
            say(&detail);
        }
        Ok(status)
    }

    /// Returns the sentence about an import without the outcome of any line: nothing was there to be read, or it failed before.
    fn nothing(&self, is_unread: bool, is_unknown: bool) -> String {
        match (is_unread, is_unknown) {
            (true, _) => {
                format!("nothing was read: {} has no records; the log is at {}", self.source, self.position())
            }
            (false, true) => {
                format!("whether lines of {} are imported is not known", self.source)
            }
            (false, false) => format!("no line of {} is imported", self.source),
        }
    }

    fn sentence(&self) -> String {
        let Counts { new, changed, same, rejected, pictures, pictures_refused, position, .. } = &self.counts;
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = self.lines() as f64 / seconds.max(1e-9);
        let would = if self.dry_run { "dry run, nothing was written: " } else { "" };
        let attached = match (pictures, pictures_refused) {
            (0, 0) => String::new(),
            (_, 0) => format!("; {} pictures attached", count(*pictures)),
            _ => format!("; {} pictures attached, {} not", count(*pictures), count(*pictures_refused)),
        };
        let repaired = match (self.counts.repaired_records, self.counts.repaired_characters) {
            (Some(records), Some(characters)) => {
                format!("; {} characters repaired in {} records", count(characters), count(records))
            }
            _ => String::new(),
        };
        let removed = match (self.counts.members_removed, self.counts.pictures_removed) {
            (0, 0) => String::new(),
            (members, pictures) => {
                format!("; {} members and {} pictures removed", count(members), count(pictures))
            }
        };
        // If no line was sent, the position of the log is not known.
        let log = match *position {
            Position::START => String::new(),
            position => format!("; the log is at {position}"),
        };
        format!(
            "{would}{} new, {} changed, {} same, {} rejected{removed}{attached}{repaired} in {seconds:.1} s ({} records/s){log}",
            count(*new),
            count(*changed),
            count(*same),
            count(*rejected),
            count(rate as u64),
        )
    }
}

/// Checks that the file of rejected lines is not the imported file.
fn require_other_file(rejects: &Path, source: &Path) -> Result<()> {
    if let (Ok(rejects), Ok(source)) = (rejects.canonicalize(), source.canonicalize())
        && rejects == source
    {
        bail!("--rejects names the imported file; name another");
    }
    Ok(())
}
