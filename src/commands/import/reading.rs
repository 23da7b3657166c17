//! Reads the file of an import on a thread of its own: one that is silent, such as a terminal, holds nothing up.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, Read};
use std::iter::Peekable;
use std::path::Path;

use anyhow::{Context, Result};
use schemas::command::{ImportLine, LineForm, MAX_IMPORT_LINES};
use schemas::import::Fault;
use schemas::record::PictureSource;
use tokio::sync::mpsc;

use super::content::Prepared;
use super::csv_lines::CsvLines;
use super::encoding;
use super::lines::{NdjsonLines, SourceLine};
use crate::cli::{ImportArgs, ImportFormat};

/// The bytes of a batch, which bound the memory of an import. The client of commands cuts batches to the size of messages.
const BATCH_BYTES: usize = 4 << 20;

/// Lines for one command, and those that the file's format broke.
#[derive(Debug, Default)]
pub struct Batch {
    /// What the write side is to read.
    pub lines: Vec<ImportLine>,
    /// The files of pictures that lines name, by their numbers.
    pub files: HashMap<u64, Vec<PictureSource>>,
    /// How much of a record each of them says.
    pub form: LineForm,
    /// What it need not read.
    pub refused: Vec<Refused>,
    /// How many characters were mended in which lines.
    pub mended: Vec<(u64, u64)>,
}

/// A line that is not taken, and why.
#[derive(Debug)]
pub struct Refused {
    /// Its number.
    pub number: u64,
    /// What it says.
    pub text: String,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
}

/// The batches of a file as they come.
pub struct Reading(mpsc::Receiver<Result<Batch>>);

impl Reading {
    /// Begins to read. `form` is how much of a record a line says that does not say it itself.
    pub fn start(args: &ImportArgs, format: ImportFormat, form: LineForm) -> Reading {
        // One batch is sent, one waits, one is read.
        let (sender, receiver) = mpsc::channel(1);
        let args = args.clone();
        // Not one of the runtime's threads: the process ends without it.
        std::thread::spawn(move || {
            let mut lines = match open(&args, format) {
                Ok(lines) => lines.peekable(),
                Err(error) => return drop(sender.blocking_send(Err(error))),
            };
            loop {
                let batch = next_batch(&mut lines, form, args.repair_text);
                let is_last = match &batch {
                    Ok(batch) if batch.lines.is_empty() && batch.refused.is_empty() => return,
                    read => read.is_err(),
                };
                if sender.blocking_send(batch).is_err() || is_last {
                    return;
                }
            }
        });
        Reading(receiver)
    }

    /// Returns the next lines; `None` at the end of the file.
    pub async fn next(&mut self) -> Result<Option<Batch>> {
        self.0.recv().await.transpose()
    }
}

type Lines = Box<dyn Iterator<Item = Result<SourceLine>> + Send>;

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

/// Reads lines of one form, for one command.
fn next_batch(lines: &mut Peekable<Lines>, form: LineForm, repairs: bool) -> Result<Batch> {
    let mut batch = Batch { form, ..Batch::default() };
    let mut bytes = 0;
    while batch.lines.len() + batch.refused.len() < MAX_IMPORT_LINES && bytes < BATCH_BYTES {
        if let Some(Ok(SourceLine::Record { form: said, .. })) = lines.peek() {
            let said = said.unwrap_or(form);
            if !batch.lines.is_empty() && said != batch.form {
                break;
            }
            batch.form = said;
        }
        match lines.next().transpose()? {
            None => break,
            Some(SourceLine::Record { number, content, .. }) => {
                let Prepared { text, files, repaired } = content.prepare(repairs);
                batch.mended.extend((repaired > 0).then_some((number, repaired)));
                batch.files.extend((!files.is_empty()).then_some((number, files)));
                bytes += text.len();
                batch.lines.push(ImportLine { number, text });
            }
            Some(SourceLine::Unreadable { number, text, reason }) => {
                bytes += text.len();
                let faults = vec![Fault { field: String::new(), reason }];
                batch.refused.push(Refused { number, text, faults });
            }
        }
    }
    Ok(batch)
}
