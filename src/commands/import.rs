//! `loggia import`: makes the catalog say what a file says, slug by slug, in batches that grow no memory.

mod csv_lines;
mod encoding;
mod lines;
pub mod pictures;
mod repair;
mod report;
mod rows;

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use futures::FutureExt;
use schemas::command::{Answer, Command, ImportLine, ImportOptions, LineForm};
use schemas::ids::{Actor, CommandId};
use schemas::import::Fault;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{ImportArgs, ImportFormat};
use crate::config::Config;
use crate::output::Output;
use crate::session::{self, Session};
use csv_lines::CsvLines;
use lines::{NdjsonLines, SourceLine};
use pictures::Pictures;
use repair::Repaired;
use report::Report;
use write::derived_id::derived_id;

/// Lines in one command, and their bytes: well below what one NATS message holds.
const BATCH_LINES: usize = 2_000;
const BATCH_BYTES: usize = 4 << 20;

/// Imports the file, and says what became of its lines.
pub async fn run(config: &Config, args: &ImportArgs, output: Output) -> Result<ExitCode> {
    let actor = session::actor(&args.act.actor)?;
    let format = format(args)?;
    let mut lines = open(args, format)?;
    let session = Session::open(config).await?;
    let id = session.id(&args.act.id);
    let pictures = Pictures::new(&session, actor.clone(), id, &args.file);
    let repairs = args.repair_text;
    let import = Import { session: &session, actor, id, options: options(args, format), repairs, pictures };
    let mut report = Report::new(args, output)?;
    let stopped = import.all(&mut lines, &mut report).await;
    session.close().await;
    match stopped {
        Ok(Ended::Whole) => report.finish(None),
        Ok(Ended::Strict) => report.finish(Some("stopped at the first line that cannot be taken (--strict)")),
        Ok(Ended::Interrupted) => {
            report.finish(Some(&format!("interrupted; what is counted here is done, {}", again(id))))
        }
        // What was done before stays done, so its counts are told.
        Err(error) => report.finish(Some(&format!("{error:#}"))),
    }
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

type Lines = Box<dyn Iterator<Item = Result<SourceLine>> + Send>;

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

fn open(args: &ImportArgs, format: ImportFormat) -> Result<Lines> {
    let input: Box<dyn Read + Send> = if args.file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(File::open(&args.file).with_context(|| format!("{} cannot be read", args.file.display()))?)
    };
    let reader: Box<dyn BufRead + Send> = encoding::decoded(input, args.encoding)?;
    match format {
        ImportFormat::Ndjson => Ok(Box::new(NdjsonLines::new(reader))),
        ImportFormat::Csv => Ok(Box::new(CsvLines::new(reader, &columns(args.columns.as_deref())?)?)),
    }
}

fn columns(path: Option<&Path>) -> Result<std::collections::BTreeMap<String, String>> {
    let Some(path) = path else { return Ok(Default::default()) };
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    serde_json::from_str(&text).with_context(|| {
        format!("{} is no column map; a JSON object such as {{\"Ort\": \"city\"}} is wanted", path.display())
    })
}

/// How an import came to its end.
enum Ended {
    Whole,
    Strict,
    Interrupted,
}

struct Import<'a> {
    session: &'a Session,
    actor: Actor,
    /// The id of the whole; those of its batches and lines are made from it.
    id: CommandId,
    options: ImportOptions,
    /// Whether texts are mended.
    repairs: bool,
    pictures: Pictures<'a>,
}

impl Import<'_> {
    async fn all(&self, lines: &mut Lines, report: &mut Report) -> Result<Ended> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut batch = next_batch(lines, self.repairs)?;
        for number in 0.. {
            let mut is_empty = true;
            for Unreadable { number, text, reason } in std::mem::take(&mut batch.unreadable) {
                is_empty = false;
                report.rejected(number, &text, &[Fault { field: String::new(), reason }])?;
            }
            if is_empty && batch.lines.is_empty() {
                return Ok(Ended::Whole);
            }
            report.repaired(batch.repaired);
            // The next lines are read while the write side is at work on these.
            let next = async { next_batch(lines, self.repairs) };
            let next = if batch.lines.is_empty() {
                next.await
            } else {
                let (sent, next) = tokio::join!(biased; self.send(number, batch.lines, report), next);
                sent?;
                next
            };
            if report.is_strict_and_rejected() {
                return Ok(Ended::Strict);
            }
            if interrupt.recv().now_or_never().is_some() {
                return Ok(Ended::Interrupted);
            }
            batch = next?;
        }
        Ok(Ended::Whole)
    }

    async fn send(&self, batch: usize, lines: Vec<ImportLine>, report: &mut Report) -> Result<()> {
        let illustrated: Vec<ImportLine> =
            lines.iter().filter(|line| Pictures::may_be_in(&line.text)).cloned().collect();
        let texts = report.keeps_texts().then(|| lines.clone());
        let command = Command::Import { lines, options: self.options };
        let id = derived_id(self.id, "batch", batch);
        let sent = self.session.send_as(id, self.actor.clone(), Some(self.id), command).await;
        match sent.with_context(|| again(self.id))? {
            Answer::Imported { position, lines } => {
                let wanted = self.pictures.of(&illustrated, &lines);
                report.batch(position, lines, texts.as_deref())?;
                if !self.options.dry_run {
                    report.pictures(self.pictures.bring(wanted).await?);
                }
                Ok(())
            }
            Answer::Refused(refusal) => {
                bail!("{}; what was reported before is done, {}", refusal.detail, again(self.id))
            }
            _ => bail!("the write side answered an import with something else; are both of one version?"),
        }
    }
}

/// Lines for one command, and those that the file's format broke.
struct Batch {
    lines: Vec<ImportLine>,
    unreadable: Vec<Unreadable>,
    repaired: Repaired,
}

struct Unreadable {
    number: u64,
    text: String,
    reason: String,
}

fn next_batch(lines: &mut Lines, repairs: bool) -> Result<Batch> {
    let mut batch = Batch { lines: Vec::new(), unreadable: Vec::new(), repaired: Repaired::default() };
    let mut bytes = 0;
    while batch.lines.len() + batch.unreadable.len() < BATCH_LINES && bytes < BATCH_BYTES {
        match lines.next().transpose()? {
            None => break,
            Some(SourceLine::Record(mut line)) => {
                if repairs {
                    batch.repaired.line(&mut line);
                }
                bytes += line.text.len();
                batch.lines.push(line);
            }
            Some(SourceLine::Unreadable { number, text, reason }) => {
                bytes += text.len();
                batch.unreadable.push(Unreadable { number, text, reason });
            }
        }
    }
    Ok(batch)
}
