//! The report of an import: counts, rejected lines with their faults, and the position of the log at the end.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cli_output::{Failure, Output, count, say};
use import_file::{Lacking, Lacks, Places, Refusals, RefusedPicture, Reject, RejectedLine, record_lines};
use indicatif::ProgressBar;
use schemas::command::{ImportLine, LineForm, LineOutcome, LineResult};
use schemas::ids::Position;
use serde::Serialize;
use serde_json::{Map, Value};

use super::end::End;
use super::missing::Missing;
use super::pictures::{NamedPicture, Unsent, UploadOutcome, pictures_that_stay};
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
    /// Whether a mapping made the records: then a fault that many have is said once, and a dry run shows the first records.
    is_mapped: bool,
    refusals: Refusals,
    /// The records that the mapping rejects. They are among what is said about all records, where the file is read to its end.
    unmapped: Refusals,
    /// What is said about all records.
    notes: Vec<String>,
    /// The picture files that a dry run did not find, and the first of them.
    absent_files: (u64, Option<String>),
    /// The pictures of imported lines that are still to be sent.
    unsent: Option<Unsent>,
}

/// The lines of a batch that were sent, and what is known about them besides.
pub struct SentLines<'b> {
    pub form: LineForm,
    pub places: &'b Places,
    pub lacks: &'b HashMap<u64, Lacks>,
    pub previews: &'b [(u64, Map<String, Value>)],
    /// The lines, if rejected ones are written with their text.
    pub texts: Option<&'b [ImportLine]>,
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
    /// The pictures that are attached now, and those that their projects have already: from the same file, or with a file that is not there.
    pictures: u64,
    pictures_same: u64,
    pictures_without_file: u64,
    pictures_refused: u64,
    /// Records and characters that were repaired; absent without `--repair-text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired_records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired_characters: Option<u64>,
    /// What the imported records lack; of records that existed before only if their lines are whole records.
    lacking: Lacking,
    /// The projects of the source that the file does not have; absent for a file of no source.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
    seconds: f64,
    position: Position,
}

#[derive(Serialize)]
struct Outcome<'a> {
    #[serde(flatten)]
    counts: &'a Counts,
    /// What is said about the records of a mapping.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Failure<'a>>,
}

/// The outcome of a line of a dry run, and the record that the mapping made of it.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    outcome: &'a LineOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a Map<String, Value>>,
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
            is_mapped: args.mapping.is_some(),
            refusals: Refusals::default(),
            unmapped: Refusals::default(),
            notes: Vec::new(),
            absent_files: (0, None),
            unsent: None,
        })
    }

    /// Returns whether rejected lines are written with their text.
    pub fn keeps_texts(&self) -> bool {
        self.rejects.is_some()
    }

    /// Adds the outcomes of one batch.
    pub fn batch(
        &mut self,
        position: Position,
        outcomes: Vec<LineOutcome>,
        sent: &SentLines<'_>,
    ) -> Result<()> {
        self.set_position(position);
        self.progress.inc(outcomes.len() as u64);
        for outcome in outcomes {
            if self.dry_run {
                self.show_difference(&outcome, sent)?;
            }
            if let Some(lacks) = sent.lacks.get(&outcome.number) {
                let is_whole = self.is_mapped || sent.form != LineForm::Patch;
                self.counts.lacking.add(*lacks, is_whole, &outcome.result);
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
                    let number = outcome.number;
                    let line = sent.texts.and_then(|texts| texts.iter().find(|line| line.number == number));
                    let line = RejectedLine::sent(number, line, faults);
                    self.rejected(&line, sent.places, sent.form)?;
                }
            }
        }
        Ok(())
    }

    fn show_difference(&self, outcome: &LineOutcome, sent: &SentLines<'_>) -> Result<()> {
        let record = sent.previews.iter().find(|(number, _)| *number == outcome.number);
        let record = record.map(|(_, record)| record);
        let is_change = matches!(outcome.result, LineResult::New { .. } | LineResult::Changed { .. });
        // Of a file of somebody else's columns the first records are shown whole, and for programs every change.
        let is_shown = record.is_some() || (is_change && (!self.is_mapped || self.output.is_json()));
        if !is_shown {
            return Ok(());
        }
        let place = sent.places.of(outcome.number);
        Ok(self.output.answer(&Shown { outcome, record }, || {
            let mut lines = vec![difference(&place, &outcome.result)];
            lines.extend(record.map(record_lines).unwrap_or_default());
            lines.join("\n")
        })?)
    }

    /// Adds a line that is rejected.
    pub fn rejected(&mut self, line: &RejectedLine, places: &Places, form: LineForm) -> Result<()> {
        let RejectedLine { number, text, faults, is_unmapped, absent_pictures } = line;
        self.counts.rejected += 1;
        if let Some(file) = &mut self.rejects {
            // In one write, so that the file ends with a complete line whenever the import ends.
            let (line, place) = (*number, places.get(*number));
            let (record, unmapped) = (text, *is_unmapped);
            let reject = Reject { line, place, faults, record, form, unmapped, absent_pictures };
            let mut line = serde_json::to_vec(&reject)?;
            line.push(b'\n');
            file.write_all(&line).context("the file of rejected lines cannot be written")?;
        }
        if self.is_mapped {
            let refusals = if *is_unmapped { &mut self.unmapped } else { &mut self.refusals };
            refusals.add(&places.of(*number), faults);
        } else if self.rejects.is_none() && self.counts.rejected <= SHOWN {
            let place = places.of(*number);
            let whole = if places.get(*number).is_some() { "the record" } else { "the line" };
            self.progress.suspend(|| {
                for fault in faults {
                    let field = if fault.field.is_empty() { whole } else { &fault.field };
                    say(&format!("{place}: {field} {}", fault.reason));
                }
            });
        } else if self.rejects.is_none() && self.counts.rejected == SHOWN + 1 {
            self.progress.suspend(|| {
                say("more lines are rejected; --rejects FILE writes all of them with their faults")
            });
        }
        Ok(())
    }

    /// Adds pictures that are left out of their records, by line number.
    pub fn refused_pictures<'p>(
        &mut self,
        pictures: impl Iterator<Item = &'p (u64, RefusedPicture)>,
        places: &Places,
    ) {
        for (number, RefusedPicture { source, reason }) in pictures {
            self.refused_picture(&places.of(*number), source, &format!("is left out: it {reason}"));
        }
    }

    /// Counts a picture. `what` completes a sentence about it.
    fn refused_picture(&mut self, place: &str, source: &str, what: &str) {
        self.counts.pictures_refused += 1;
        if self.counts.pictures_refused <= SHOWN {
            self.progress.suspend(|| say(&format!("{place}: the picture {source} {what}")));
        }
    }

    /// Adds sentences about all records.
    pub fn add_notes(&mut self, notes: &[String]) {
        self.notes.extend_from_slice(notes);
    }

    /// Adds picture files that a dry run did not find.
    pub fn absent_files(&mut self, names: Vec<String>) {
        let (number, first) = &mut self.absent_files;
        *number += names.len() as u64;
        *first = first.take().or(names.into_iter().next());
    }

    /// Adds the outcome of a picture. Its record is imported in any case.
    pub fn picture(&mut self, named: &NamedPicture, outcome: UploadOutcome, places: &Places) {
        match outcome {
            UploadOutcome::Attached(position) => {
                self.counts.pictures += 1;
                self.counts.position = self.counts.position.max(position);
            }
            UploadOutcome::Same => self.counts.pictures_same += 1,
            UploadOutcome::WithoutFile => self.counts.pictures_without_file += 1,
            UploadOutcome::Refused(reason) => {
                let (place, source) = (places.of(named.line), &named.named.picture.source);
                self.refused_picture(&place, source, &format!("is not attached: {reason}"));
            }
        }
    }

    /// Says which pictures of imported lines are still to be sent.
    pub fn set_unsent(&mut self, pictures: &[NamedPicture]) {
        self.unsent = Unsent::of(pictures);
    }

    /// Returns the pictures of imported lines that are still to be sent; `None` if there are none.
    pub fn unsent(&self) -> Option<&Unsent> {
        self.unsent.as_ref()
    }

    /// Returns what the imported records lack.
    pub fn lacking(&self) -> Lacking {
        self.counts.lacking
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

    /// Adds how many projects of the source are not in the file, and the position of the log after some were withdrawn.
    pub fn missing(&mut self, missing: Option<Missing>, position: Option<Position>) {
        self.counts.missing = missing;
        self.counts.position = position.unwrap_or(self.counts.position).max(self.counts.position);
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

    /// Prints the counts and what is said about all records, and why the import failed if it did. Returns the exit status.
    pub fn finish(&mut self, end: End) -> Result<ExitCode> {
        self.progress.finish_and_clear();
        self.counts.seconds = self.began.elapsed().as_secs_f64();
        if self.notes.is_empty() {
            self.notes = self.unmapped.sentences();
        }
        let refusals = self.refusals.sentences();
        self.notes.splice(0..0, refusals);
        if let (number, Some(first)) = &self.absent_files {
            let files = if *number == 1 { "picture file does" } else { "picture files do" };
            self.notes.push(format!(
                "Pictures: {} {files} not exist (for example {first}); they are looked for in the folder of the imported file.",
                count(*number)
            ));
        }
        self.notes.extend(pictures_that_stay(self.counts.pictures_without_file));
        // After an import it is among what to look at next.
        let lacking = self.counts.lacking.sentence().filter(|_| self.dry_run && self.is_mapped);
        self.notes.extend(lacking);
        let End { status, failure, is_unknown } = end;
        let is_unread = failure.is_none();
        let reported = failure.as_ref().map(|(kind, detail)| Failure { kind, detail });
        let outcome = Outcome { counts: &self.counts, notes: &self.notes, failure: reported };
        self.output.answer(&outcome, || {
            let sentence = match self.lines() {
                0 => self.nothing(is_unread, is_unknown),
                _ => self.sentence(),
            };
            std::iter::once(&sentence).chain(&self.notes).map(String::as_str).collect::<Vec<_>>().join("\n")
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
        let Counts { new, changed, same, rejected, position, .. } = &self.counts;
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = self.lines() as f64 / seconds.max(1e-9);
        let would = if self.dry_run { "dry run, nothing was written: " } else { "" };
        let pictures = self.pictures_part();
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
            "{would}{} new, {} changed, {} same, {} rejected{removed}{pictures}{repaired} in {seconds:.1} s ({} records/s){log}",
            count(*new),
            count(*changed),
            count(*same),
            count(*rejected),
            count(rate as u64),
        )
    }

    /// Returns what became of the pictures, as a part of a sentence.
    fn pictures_part(&self) -> String {
        let Counts { pictures, pictures_same, pictures_without_file, pictures_refused, .. } = &self.counts;
        let there = pictures_same + pictures_without_file;
        let counts = [(*pictures, "attached"), (there, "there already"), (*pictures_refused, "not attached")];
        let said = counts.iter().filter(|(number, _)| *number > 0);
        let said: Vec<String> = said.map(|(number, what)| format!("{} {what}", count(*number))).collect();
        if said.is_empty() { String::new() } else { format!("; pictures: {}", said.join(", ")) }
    }
}

/// Returns the sentence about what a line would do.
fn difference(place: &str, result: &LineResult) -> String {
    match result {
        LineResult::New { slug } => format!("{place}: new {slug}"),
        LineResult::Changed { slug, members, removed, removed_pictures, .. } => {
            let removed: Vec<&str> = removed.iter().chain(removed_pictures).map(String::as_str).collect();
            let removed = match removed[..] {
                [] => String::new(),
                _ => format!("; removed: {}", removed.join(", ")),
            };
            format!("{place}: changed {slug}: {}{removed}", members.join(", "))
        }
        LineResult::Same { slug, .. } => format!("{place}: same {slug}"),
        LineResult::Rejected { .. } => format!("{place}: rejected"),
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
