//! `loggia import`: imports records from a file, creating or updating projects by slug, in batches that bound the memory.

mod afterwards;
mod batches;
mod end;
mod missing;
pub(super) mod picture_files;
mod pictures;
mod report;

use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cli_output::{Output, sentence};
use daemon::signals::{Interrupted, Signal, Signals};
use futures::StreamExt;
use import_file::{Batch, ImportFile, Places, RejectedLine};
use mapping::Mapping;
use record_files::SourceOptions;
use schemas::command::{Command, CommandReply, ImportLine, ImportOptions, LineOutcome, LineResult};
use schemas::ids::{Actor, CommandId, Position};
use schemas::import::Fault;
use write::derived_id::derived_id;

use crate::cli::ImportArgs;
use crate::config::Config;
use crate::kept_mappings::{self, NamedMapping};
use crate::session::{self, Session};
use batches::BatchReader;
use end::{End, resume_hint};
use missing::{Done, Sender, SourceCheck};
use pictures::{NamedPicture, PictureUploader};
use report::{Report, SentLines};

/// How long an interrupted import waits for the replies to the lines and pictures that it has sent.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Imports the file, and reports the outcome of its lines.
pub async fn run(
    config: &Config,
    args: &ImportArgs,
    output: Output,
    mut signals: Signals,
) -> Result<ExitCode> {
    let actor = session::actor(&args.act.actor)?;
    let named = args.mapping.as_deref().map(|named| kept_mappings::find(config, named)).transpose()?;
    let file = import_file(args, named.as_ref())?;
    let missing = SourceCheck::of(config, args, file.mapping.as_ref(), output)?;
    let folder = file.folder();
    let mut reader = BatchReader::start(file, args.strict && named.is_some());
    // Before anything is opened: a file that cannot be read must not create a data folder.
    let first = tokio::select! {
        biased;
        signal = signals.next() => return Err(Interrupted(signal).into()),
        first = reader.next() => first?,
    };
    let mut report = Report::new(args, output)?;
    let opening = async {
        match args.dry_run {
            true => Session::open_for_dry_run(config).await,
            false => Session::open(config).await,
        }
    };
    let session = signals.clone().interruptible(opening).await?;
    let id = session.id(&args.act.id);
    let pictures = PictureUploader::new(&session, actor.clone(), id, folder);
    let (options, strict) = (options(args), args.strict);
    let import = Import { session: &session, actor, id, options, strict, pictures, missing };
    let ended = import.run(first, &mut reader, &mut report, &mut signals).await;
    session.close().await;
    let (status, is_complete) = ended?;
    if !is_complete || args.dry_run {
        return Ok(status);
    }
    // A file of rejected records has not all columns of the source.
    let whole = reader.end().filter(|end| end.ids.is_some());
    if let (Some(NamedMapping { kept: Some((name, _)), .. }), Some(end)) = (&named, whole) {
        kept_mappings::remember_file(config, name, &args.file, &end.columns)?;
    }
    match args.no_wait {
        true => {
            afterwards::say_what_lacks(&report, output);
            Ok(status)
        }
        false => afterwards::wait_for_readers(config, &report, output, &mut signals).await.map(|()| status),
    }
}

fn options(args: &ImportArgs) -> ImportOptions {
    // How much of a record a line is depends on the file, and each batch says it.
    ImportOptions { dry_run: args.dry_run, ignore_unknown: args.ignore_unknown, ..ImportOptions::default() }
}

/// Returns which file is imported and how it is read. Fails if the mapping has faults; then nothing was read.
fn import_file(args: &ImportArgs, named: Option<&NamedMapping>) -> Result<ImportFile> {
    let mapping = named.map(|named| Mapping::parse(&named.shown, &named.text)).transpose()?;
    let said = SourceOptions {
        format: args.format.map(Into::into),
        encoding: args.encoding.map(Into::into),
        sheet: args.sheet.clone(),
        ..SourceOptions::default()
    };
    Ok(ImportFile {
        path: args.file.clone(),
        said,
        mapping,
        last_file: named.and_then(|named| named.kept.clone()).and_then(|(_, last_file)| last_file),
        columns: args.columns.clone(),
        is_whole: args.replace,
        is_patch: args.patch,
        repairs: args.repair_text,
    })
}

/// How an import ended, if nothing failed.
enum Ended {
    Complete,
    /// Before the line at this place, which was rejected by the check of a strict import.
    BeforeLine(String),
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
    missing: Option<SourceCheck<'a>>,
}

impl Import<'_> {
    /// Imports all lines, and reports their outcome. Returns the exit status, and whether the whole file is imported.
    async fn run(
        &self,
        first: Option<Batch>,
        reader: &mut BatchReader,
        report: &mut Report,
        signals: &mut Signals,
    ) -> Result<(ExitCode, bool)> {
        let ended = self.import_all(first, reader, report, signals).await;
        let is_complete = matches!(ended, Ok(Ended::Complete));
        if let Some(end) = reader.end() {
            report.add_notes(&end.findings.sentences);
        }
        if matches!(ended, Ok(Ended::Complete | Ended::BeforeLine(_))) && report.position() == Position::START
        {
            // No line was sent, so an empty command asks for the position of the log.
            let (position, _) = self.command(0, Vec::new(), self.options).await?;
            report.set_position(position);
        }
        let end = match ended {
            Ok(Ended::Complete) => match self.check_missing(reader, report).await {
                Ok(None) => report.end_of_file(),
                Ok(Some(refusal)) => End::failed(refusal),
                Err(error) => End::failed(sentence(&*error)),
            },
            Ok(Ended::BeforeLine(line)) => End::failed(format!(
                "stopped before {line}, which is rejected (--strict); {}",
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
            Ok(Ended::Interrupted(signal)) => End::interrupted(signal, report.unsent(), self.id),
            // What was done before the error stays done, so its counts are reported.
            Err(error) => End::of_error(&error, report.unsent()),
        };
        let is_complete = is_complete && end.is_success();
        Ok((report.finish(end)?, is_complete))
    }

    /// Lists the projects that the file of a source does not have any more, and withdraws them if the command says so. Returns why they
    /// are not withdrawn, if it does.
    async fn check_missing(&self, reader: &BatchReader, report: &mut Report) -> Result<Option<String>> {
        let (Some(check), Some(end)) = (&self.missing, reader.end()) else { return Ok(None) };
        let sender = Sender { session: self.session, actor: &self.actor, id: self.id };
        let Done { missing, position, note, refusal } = check.finish(end.ids.as_ref(), &sender).await?;
        report.missing(missing, position);
        report.add_notes(note.as_slice());
        Ok(refusal)
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
            let importing = self.import_batch(number, batch, report, signals.clone());
            let replied = within_reply_timeout(importing, signals).await;
            let (ended, signal) = match replied {
                Ok((ended, signal)) => (ended?, signal),
                // The lines have their reply, and only pictures have none.
                Err(signal) if report.unsent().is_some() => return Ok(Ended::Interrupted(signal)),
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

    /// Imports the lines of a batch. Returns how the import ends, if it ends with them. After a signal no more pictures are sent.
    async fn import_batch(
        &self,
        number: usize,
        mut batch: Batch,
        report: &mut Report,
        signals: Signals,
    ) -> Result<Option<Ended>> {
        let options = ImportOptions { lines: batch.form, ..self.options };
        let mut first_rejected = None;
        if self.strict {
            let refused = first_refused(&batch);
            let checked = self.first_rejected(number, &batch.lines, options, report).await?;
            let rejected = std::mem::take(&mut batch.rejected).into_iter().chain(refused).chain(checked);
            first_rejected = rejected.min_by_key(|line| line.number);
            if let Some(RejectedLine { number, .. }) = &first_rejected {
                batch.lines.retain(|line| line.number < *number);
            }
        }
        let end = first_rejected.as_ref().map_or(u64::MAX, |line| line.number);
        report.repaired(batch.repaired.iter().filter(|(number, _)| *number < end));
        report.refused_pictures(batch.refused.iter().filter(|(number, _)| *number < end), &batch.places);
        for line in batch.rejected.iter().chain(&first_rejected) {
            report.rejected(line, &batch.places, batch.form)?;
        }
        if !batch.lines.is_empty() {
            let pictures = self.send(number, &mut batch, options, report).await?;
            self.send_pictures(pictures, &batch.places, report, signals).await?;
        }
        if report.unsent().is_some() {
            // The signal ends the import.
            return Ok(None);
        }
        Ok(match first_rejected {
            Some(line) => Some(Ended::BeforeLine(batch.places.of(line.number))),
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
            Some(RejectedLine::sent(outcome.number, line, faults))
        };
        Ok(outcomes.into_iter().filter_map(rejected).min_by_key(|line| line.number))
    }

    /// Sends the lines of a batch. Returns the pictures of those that are imported.
    async fn send(
        &self,
        number: usize,
        batch: &mut Batch,
        options: ImportOptions,
        report: &mut Report,
    ) -> Result<Vec<NamedPicture>> {
        let lines = std::mem::take(&mut batch.lines);
        let texts = report.keeps_texts().then(|| lines.clone());
        let (position, outcomes) = self.command(number, lines, options).await?;
        let pictures = self.pictures.of_imported_lines(&batch.files, &outcomes);
        let Batch { form, places, lacks, previews, .. } = &*batch;
        let sent = SentLines { form: *form, places, lacks, previews, texts: texts.as_deref() };
        report.batch(position, outcomes, &sent)?;
        Ok(pictures)
    }

    /// Sends pictures, as far as a signal or an error lets it: the report has those that are left.
    async fn send_pictures(
        &self,
        pictures: Vec<NamedPicture>,
        places: &Places,
        report: &mut Report,
        signals: Signals,
    ) -> Result<()> {
        if self.options.dry_run {
            report.absent_files(self.pictures.absent(pictures).await);
            return Ok(());
        }
        report.set_unsent(&pictures);
        let mut outcomes = pin!(self.pictures.upload(&pictures, signals));
        for (index, picture) in pictures.iter().enumerate() {
            let Some(outcome) = outcomes.next().await else { break };
            report.picture(picture, outcome?, places);
            report.set_unsent(&pictures[index + 1..]);
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

/// Returns the first line of a batch that a strict import does not take because a picture of it cannot be used.
fn first_refused(batch: &Batch) -> Option<RejectedLine> {
    let (number, picture) = batch.refused.iter().min_by_key(|(number, _)| *number)?;
    let line = batch.lines.iter().find(|line| line.number == *number);
    let reason = format!("names {}, which {}", picture.source, picture.reason);
    let faults = vec![Fault { field: "pictures".to_owned(), reason }];
    Some(RejectedLine::sent(*number, line, faults))
}

/// Completes a future, and returns its output with the signal that came meanwhile. Fails with the signal if the future
/// takes more than 10 seconds after it.
async fn within_reply_timeout<T>(
    future: impl Future<Output = T>,
    signals: &mut Signals,
) -> Result<(T, Option<Signal>), Signal> {
    let mut future = pin!(future);
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
