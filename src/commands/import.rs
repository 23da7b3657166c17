//! `loggia import`: imports records from a file, creating or updating projects by slug, in batches that bound the memory.

mod batches;
mod columns;
mod content;
pub(super) mod picture_files;
mod pictures;
mod report;
mod source;

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cli_output::{Output, sentence};
use daemon::signals::{Interrupted, Signal, Signals};
use schemas::command::{Command, CommandReply, ImportLine, ImportOptions, LineForm, LineOutcome, LineResult};
use schemas::ids::{Actor, CommandId, Position};
use schemas::import::WrittenPicture;
use write::derived_id::derived_id;

use crate::cli::{ImportArgs, ImportFormat};
use crate::config::Config;
use crate::session::{self, Session};
use batches::{Batch, BatchReader, RejectedLine};
use pictures::PictureUploader;
use report::{End, Report};

/// How long an interrupted import waits for the reply to the lines that it has sent.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Imports the file, and reports the outcome of its lines.
pub async fn run(
    config: &Config,
    args: &ImportArgs,
    output: Output,
    mut signals: Signals,
) -> Result<ExitCode> {
    let actor = session::actor(&args.act.actor)?;
    let format = format(args)?;
    let options = options(args, format);
    let mut reader = BatchReader::start(args, format, options.lines);
    // Before anything is opened: a file that cannot be read must not create a data folder.
    let first = tokio::select! {
        biased;
        signal = signals.next() => return Err(Interrupted(signal).into()),
        first = reader.next() => first?,
    };
    let report = Report::new(args, output)?;
    let opening = async {
        match args.dry_run {
            true => Session::open_for_dry_run(config).await,
            false => Session::open(config).await,
        }
    };
    let session = signals.clone().interruptible(opening).await?;
    let id = session.id(&args.act.id);
    let pictures = PictureUploader::new(&session, actor.clone(), id, &args.file);
    let import = Import { session: &session, actor, id, options, strict: args.strict, pictures };
    let status = import.run(first, &mut reader, report, &mut signals).await;
    session.close().await;
    status
}

/// Returns how to import the lines that were not reached.
fn resume_hint(id: CommandId) -> String {
    format!("run it again with --id {id} for the rest: no line is imported twice")
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
    let by_extension = match ending.as_str() {
        "csv" | "tsv" => Some(ImportFormat::Csv),
        "ndjson" | "jsonl" | "json" => Some(ImportFormat::Ndjson),
        _ if args.file == Path::new("-") => Some(ImportFormat::Ndjson),
        _ => None,
    };
    let Some(format) = args.format.or(by_extension) else {
        bail!(
            "the extension of {} does not show its format; name it with --format ndjson or --format csv",
            args.file.display()
        );
    };
    Ok(format)
}

/// How an import ended, if nothing failed.
enum Ended {
    Complete,
    /// Before this line, which was rejected by the check of a strict import.
    BeforeLine(u64),
    /// At a rejection that the check of a strict import did not predict: of a picture, or of a line that another change made
    /// invalid meanwhile.
    UnpredictedRejection,
    TooManyRejected,
    Interrupted(Signal),
}

struct Import<'a> {
    session: &'a Session,
    actor: Actor,
    /// The id of the import; those of its batches and lines are derived from it.
    id: CommandId,
    options: ImportOptions,
    strict: bool,
    pictures: PictureUploader<'a>,
}

impl Import<'_> {
    /// Imports all lines, and reports their outcome.
    async fn run(
        &self,
        first: Option<Batch>,
        reader: &mut BatchReader,
        mut report: Report,
        signals: &mut Signals,
    ) -> Result<ExitCode> {
        let ended = self.import_all(first, reader, &mut report, signals).await;
        if matches!(ended, Ok(Ended::Complete | Ended::BeforeLine(_))) && report.position() == Position::START
        {
            // No line was sent, so an empty command asks for the position of the log.
            let (position, _) = self.command(0, Vec::new(), self.options).await?;
            report.set_position(position);
        }
        let end = match ended {
            Ok(Ended::Complete) => report.end_of_file(),
            Ok(Ended::BeforeLine(line)) => End::failed(format!(
                "stopped before line {line}, which is rejected (--strict); {}",
                if self.options.dry_run {
                    "nothing was written"
                } else {
                    "the lines before it are imported, and none after it"
                }
            )),
            Ok(Ended::UnpredictedRejection) => End::failed(
                "stopped at a picture or a line that was rejected (--strict); what is counted here is done"
                    .into(),
            ),
            Ok(Ended::TooManyRejected) => End::failed(format!(
                "stopped: {}; what is counted here is done, {}",
                report.too_many_rejected(),
                resume_hint(self.id)
            )),
            Ok(Ended::Interrupted(signal)) => End::interrupted(
                signal,
                format!(
                    "interrupted by {}; what is counted here is done, {}",
                    signal.name(),
                    resume_hint(self.id)
                ),
            ),
            // What was done before the error stays done, so its counts are reported.
            Err(error) => match error.downcast_ref() {
                Some(Interrupted(signal)) => End::interrupted(*signal, sentence(&*error)),
                None => End::failed(sentence(&*error)),
            }
            .with_unknown(!session::is_surely_undone(&error)),
        };
        report.finish(end)
    }

    async fn import_all(
        &self,
        first: Option<Batch>,
        reader: &mut BatchReader,
        report: &mut Report,
        signals: &mut Signals,
    ) -> Result<Ended> {
        let mut next = first;
        for number in 0.. {
            let Some(batch) = next else { break };
            let importing = self.import_batch(number, batch, report);
            let (ended, signal) = match within_reply_timeout(importing, signals).await {
                Ok((ended, signal)) => (ended?, signal),
                Err(signal) => {
                    return Err(Interrupted(signal)).with_context(|| {
                        format!(
                            "whether the last lines that were sent are imported is not known; {}",
                            resume_hint(self.id)
                        )
                    });
                }
            };
            if let Some(ended) = ended.or(signal.map(Ended::Interrupted)) {
                return Ok(ended);
            }
            next = tokio::select! {
                biased;
                signal = signals.next() => return Ok(Ended::Interrupted(signal)),
                batch = reader.next() => batch?,
            };
        }
        Ok(Ended::Complete)
    }

    /// Imports the lines of a batch. Returns how the import ends, if it ends with them.
    async fn import_batch(&self, number: usize, batch: Batch, report: &mut Report) -> Result<Option<Ended>> {
        let Batch { mut lines, files, form, mut rejected, repaired } = batch;
        let options = ImportOptions { lines: form, ..self.options };
        let mut first_rejected = None;
        if self.strict {
            rejected.truncate(1);
            let first = self.first_rejected(number, &lines, options, report).await?;
            first_rejected = rejected.pop().into_iter().chain(first).min_by_key(|line| line.number);
            if let Some(RejectedLine { number, .. }) = &first_rejected {
                lines.retain(|line| line.number < *number);
            }
        }
        let end = first_rejected.as_ref().map_or(u64::MAX, |line| line.number);
        report.repaired(repaired.iter().filter(|(number, _)| *number < end));
        for RejectedLine { number, text, faults } in rejected.iter().chain(&first_rejected) {
            report.rejected(*number, text, faults, form)?;
        }
        if !lines.is_empty() {
            self.send(number, lines, &files, options, report).await?;
        }
        Ok(match first_rejected {
            Some(line) => Some(Ended::BeforeLine(line.number)),
            None if self.strict && report.has_rejections() => Some(Ended::UnpredictedRejection),
            None if report.has_too_many_rejected() => Some(Ended::TooManyRejected),
            None => None,
        })
    }

    /// Returns the first of these lines that the write side would reject, by a dry run, which a write side of any version can do.
    async fn first_rejected(
        &self,
        batch: usize,
        lines: &[ImportLine],
        options: ImportOptions,
        report: &mut Report,
    ) -> Result<Option<RejectedLine>> {
        if lines.is_empty() {
            return Ok(None);
        }
        let options = ImportOptions { dry_run: true, ..options };
        let (position, outcomes) = self.command(batch, lines.to_vec(), options).await?;
        report.set_position(position);
        let rejected = |outcome: LineOutcome| {
            let LineResult::Rejected { faults } = outcome.result else { return None };
            let line = lines.iter().find(|line| line.number == outcome.number);
            let text = line.map_or_else(String::new, |line| line.text.clone());
            Some(RejectedLine { number: outcome.number, text, faults })
        };
        Ok(outcomes.into_iter().filter_map(rejected).min_by_key(|line| line.number))
    }

    async fn send(
        &self,
        batch: usize,
        lines: Vec<ImportLine>,
        files: &HashMap<u64, Vec<WrittenPicture>>,
        options: ImportOptions,
        report: &mut Report,
    ) -> Result<()> {
        let texts = report.keeps_texts().then(|| lines.clone());
        let (position, lines) = self.command(batch, lines, options).await?;
        let pictures = self.pictures.of_imported_lines(files, &lines);
        report.batch(position, lines, texts.as_deref(), options.lines)?;
        if !self.options.dry_run {
            report.pictures(self.pictures.upload(pictures).await?);
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
        match sent.with_context(|| resume_hint(self.id))? {
            CommandReply::Imported { position, lines } => Ok((position, lines)),
            CommandReply::Failed(refusal) => {
                bail!("{}; what was reported before is done, {}", refusal.detail, resume_hint(self.id))
            }
            _ => bail!("the reply to the import is of another kind; do both have the same version?"),
        }
    }
}

/// Completes a future, and returns its output with the signal that came meanwhile. Fails with the signal if the future
/// takes more than 10 seconds after it.
async fn within_reply_timeout<T>(
    future: impl Future<Output = T>,
    signals: &mut Signals,
) -> Result<(T, Option<Signal>), Signal> {
    let mut future = std::pin::pin!(future);
    let signal = tokio::select! {
        biased;
        output = &mut future => return Ok((output, None)),
        signal = signals.next() => signal,
    };
    match tokio::time::timeout(REPLY_TIMEOUT, future).await {
        Ok(output) => Ok((output, Some(signal))),
        Err(_) => Err(signal),
    }
}
