//! `loggia import`: imports records from a file, creating or updating projects by slug, in batches that bound the memory.

mod content;
mod csv_lines;
mod encoding;
mod lines;
pub mod pictures;
mod reading;
mod repair;
mod report;
mod rows;

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use schemas::command::{Command, CommandReply, ImportLine, ImportOptions, LineForm, LineOutcome, LineResult};
use schemas::ids::{Actor, CommandId, Position};
use schemas::record::PictureSource;

use crate::cli::{ImportArgs, ImportFormat};
use crate::config::Config;
use crate::output::{Output, sentence};
use crate::session::{self, Session};
use crate::signals::{Asked, Interrupted, Signals};
use pictures::Pictures;
use reading::{Batch, Reading, Refused};
use report::{End, Report};
use write::derived_id::derived_id;

/// How long an import that is interrupted waits for what became of the lines that are under way.
const PATIENCE: Duration = Duration::from_secs(10);

/// Imports the file, and says what became of its lines.
pub async fn run(
    config: &Config,
    args: &ImportArgs,
    output: Output,
    mut signals: Signals,
) -> Result<ExitCode> {
    let actor = session::actor(&args.act.actor)?;
    let format = format(args)?;
    let options = options(args, format);
    let mut reading = Reading::start(args, format, options.lines);
    // Before anything is opened: a file that cannot be read makes no data folder.
    let first = tokio::select! {
        biased;
        asked = signals.next() => return Err(Interrupted(asked).into()),
        first = reading.next() => first?,
    };
    let report = Report::new(args, output)?;
    let opening = async {
        match args.dry_run {
            true => Session::trying(config).await,
            false => Session::open(config).await,
        }
    };
    let session = signals.clone().unless_asked(opening).await?;
    let id = session.id(&args.act.id);
    let pictures = Pictures::new(&session, actor.clone(), id, &args.file);
    let import = Import { session: &session, actor, id, options, strict: args.strict, pictures };
    let finished = import.finish(first, &mut reading, report, &mut signals).await;
    session.close().await;
    finished
}

/// What to do for the lines that were not reached.
fn again(id: CommandId) -> String {
    format!("run it again with --id {id} for the rest: no line is carried out twice")
}

fn options(args: &ImportArgs, format: ImportFormat) -> ImportOptions {
    let lines = match format {
        ImportFormat::Csv if args.replace => LineForm::Cells,
        ImportFormat::Csv => LineForm::Patch,
        ImportFormat::Ndjson if args.patch => LineForm::Patch,
        ImportFormat::Ndjson => LineForm::Record,
    };
    ImportOptions { dry_run: args.dry_run, ignore_unknown: args.ignore_unknown, lines }
}

fn format(args: &ImportArgs) -> Result<ImportFormat> {
    let ending = args.file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let told = match ending.as_str() {
        "csv" | "tsv" => Some(ImportFormat::Csv),
        "ndjson" | "jsonl" | "json" => Some(ImportFormat::Ndjson),
        _ if args.file == Path::new("-") => Some(ImportFormat::Ndjson),
        _ => None,
    };
    let Some(format) = args.format.or(told) else {
        bail!(
            "the ending of {} does not tell its format; say --format ndjson or --format csv",
            args.file.display()
        );
    };
    Ok(format)
}

/// How an import came to its end, where nothing failed.
enum Ended {
    Whole,
    /// Before this line.
    Strict(u64),
    /// Because something was refused that nothing spoke against before: a picture, or a line that another change made
    /// impossible meanwhile.
    Faulty,
    TooManyRejected,
    Interrupted(Asked),
}

struct Import<'a> {
    session: &'a Session,
    actor: Actor,
    /// The id of the whole; those of its batches and lines are made from it.
    id: CommandId,
    options: ImportOptions,
    strict: bool,
    pictures: Pictures<'a>,
}

impl Import<'_> {
    /// Sends all lines, and says what became of them.
    async fn finish(
        &self,
        first: Option<Batch>,
        reading: &mut Reading,
        mut report: Report,
        signals: &mut Signals,
    ) -> Result<ExitCode> {
        let ended = self.all(first, reading, &mut report, signals).await;
        if matches!(ended, Ok(Ended::Whole | Ended::Strict(_))) && report.position() == Position::START {
            // No line was sent: the log is asked where it is.
            let (position, _) = self.command(0, Vec::new(), self.options).await?;
            report.reached(position);
        }
        let end = match ended {
            Ok(Ended::Whole) => report.verdict(),
            Ok(Ended::Strict(line)) => End::failed(format!(
                "stopped before line {line}, which cannot be taken (--strict); {}",
                if self.options.dry_run {
                    "nothing was written"
                } else {
                    "the lines before it are written, and none after"
                }
            )),
            Ok(Ended::Faulty) => End::failed(
                "stopped at a picture or a line that was refused (--strict); what is counted here is done"
                    .into(),
            ),
            Ok(Ended::TooManyRejected) => End::failed(format!(
                "stopped: {}; what is counted here is done, {}",
                report.too_many(),
                again(self.id)
            )),
            Ok(Ended::Interrupted(asked)) => End::interrupted(
                asked,
                format!("interrupted by {}; what is counted here is done, {}", asked.name(), again(self.id)),
            ),
            // What was done before stays done, so its counts are told.
            Err(error) => match error.downcast_ref() {
                Some(Interrupted(asked)) => End::interrupted(*asked, sentence(&error)),
                None => End::failed(sentence(&error)),
            },
        };
        report.finish(end)
    }

    async fn all(
        &self,
        first: Option<Batch>,
        reading: &mut Reading,
        report: &mut Report,
        signals: &mut Signals,
    ) -> Result<Ended> {
        let mut next = first;
        for number in 0.. {
            let Some(batch) = next else { break };
            let taking = self.take(number, batch, report);
            let (ended, asked) = match unless_late(taking, signals).await {
                Ok((ended, asked)) => (ended?, asked),
                Err(asked) => {
                    return Err(Interrupted(asked)).with_context(|| {
                        format!(
                            "what became of the last lines that were sent is not known; {}",
                            again(self.id)
                        )
                    });
                }
            };
            if let Some(ended) = ended.or(asked.map(Ended::Interrupted)) {
                return Ok(ended);
            }
            next = tokio::select! {
                biased;
                asked = signals.next() => return Ok(Ended::Interrupted(asked)),
                read = reading.next() => read?,
            };
        }
        Ok(Ended::Whole)
    }

    /// Sends the lines of a batch. Returns how the import ends, where it ends with them.
    async fn take(&self, number: usize, batch: Batch, report: &mut Report) -> Result<Option<Ended>> {
        let Batch { mut lines, files, form, mut refused, mended } = batch;
        let options = ImportOptions { lines: form, ..self.options };
        let mut fault = None;
        if self.strict {
            refused.truncate(1);
            let first = self.first_fault(number, &lines, options, report).await?;
            fault = refused.pop().into_iter().chain(first).min_by_key(|fault| fault.number);
            if let Some(Refused { number, .. }) = &fault {
                lines.retain(|line| line.number < *number);
            }
        }
        let until = fault.as_ref().map_or(u64::MAX, |fault| fault.number);
        report.mended(mended.iter().filter(|(number, _)| *number < until));
        for Refused { number, text, faults } in refused.iter().chain(&fault) {
            report.rejected(*number, text, faults, form)?;
        }
        if !lines.is_empty() {
            self.send(number, lines, &files, options, report).await?;
        }
        Ok(match fault {
            Some(fault) => Some(Ended::Strict(fault.number)),
            None if self.strict && report.is_faulty() => Some(Ended::Faulty),
            None if report.has_too_many_rejected() => Some(Ended::TooManyRejected),
            None => None,
        })
    }

    /// Returns the first of these lines that cannot be taken, without writing anything. A write side of any version knows
    /// how to do that.
    async fn first_fault(
        &self,
        batch: usize,
        lines: &[ImportLine],
        options: ImportOptions,
        report: &mut Report,
    ) -> Result<Option<Refused>> {
        if lines.is_empty() {
            return Ok(None);
        }
        let options = ImportOptions { dry_run: true, ..options };
        let (position, outcomes) = self.command(batch, lines.to_vec(), options).await?;
        report.reached(position);
        let refused = |outcome: LineOutcome| {
            let LineResult::Rejected { faults } = outcome.result else { return None };
            let line = lines.iter().find(|line| line.number == outcome.number);
            let text = line.map_or_else(String::new, |line| line.text.clone());
            Some(Refused { number: outcome.number, text, faults })
        };
        Ok(outcomes.into_iter().filter_map(refused).min_by_key(|fault| fault.number))
    }

    async fn send(
        &self,
        batch: usize,
        lines: Vec<ImportLine>,
        files: &HashMap<u64, Vec<PictureSource>>,
        options: ImportOptions,
        report: &mut Report,
    ) -> Result<()> {
        let texts = report.keeps_texts().then(|| lines.clone());
        let (position, lines) = self.command(batch, lines, options).await?;
        let wanted = self.pictures.of(files, &lines);
        report.batch(position, lines, texts.as_deref(), options.lines)?;
        if !self.options.dry_run {
            report.pictures(self.pictures.bring(wanted).await?);
        }
        Ok(())
    }

    async fn command(
        &self,
        batch: usize,
        lines: Vec<ImportLine>,
        options: ImportOptions,
    ) -> Result<(Position, Vec<LineOutcome>)> {
        let command = Command::Import { lines, options };
        let id = derived_id(self.id, "batch", batch);
        let sent = self.session.send_as(id, self.actor.clone(), Some(self.id), command).await;
        match sent.with_context(|| again(self.id))? {
            CommandReply::Imported { position, lines } => Ok((position, lines)),
            CommandReply::Failed(refusal) => {
                bail!("{}; what was reported before is done, {}", refusal.detail, again(self.id))
            }
            _ => bail!("the write side answered an import with something else; are both of one version?"),
        }
    }
}

/// Does work to its end, and returns the signal that came meanwhile. Behind a signal the work may take a while; its error is
/// the signal then.
async fn unless_late<T>(
    work: impl Future<Output = T>,
    signals: &mut Signals,
) -> Result<(T, Option<Asked>), Asked> {
    let mut work = std::pin::pin!(work);
    let asked = tokio::select! {
        biased;
        done = &mut work => return Ok((done, None)),
        asked = signals.next() => asked,
    };
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => Ok((done, Some(asked))),
        Err(_) => Err(asked),
    }
}
