//! `loggia import --suggest`: writes a first mapping of a file. Nothing is imported.

use std::fs::{File, OpenOptions};
use std::io::{Cursor, ErrorKind, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use cli_output::{Output, count, say};
use import_file::ImportFile;
use mapping::suggest::{Sample, Suggestion, record_path, suggest};
use mapping::{column_name, row};
use record_files::{Content, Source, SourceFormat, SourceOptions};
use serde_json::{Map, Value, json};

use crate::cli::ImportArgs;

/// The most records that are compared.
const MAX_RECORDS: usize = 5_000;

/// The most text of records that is kept, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// How much of a JSON file is read to find where its records are, in bytes.
const START: u64 = 1 << 20;

/// Writes a first mapping of the file to standard output, or to a file that does not exist yet. The status is 1 where it lacks a name or a
/// category, so that nothing can be imported with it.
pub fn run(args: &ImportArgs, output: Output) -> Result<ExitCode> {
    let said = SourceOptions {
        format: args.format.map(Into::into),
        encoding: args.encoding.map(Into::into),
        sheet: args.sheet.clone(),
        ..SourceOptions::default()
    };
    let (source, options) = open(&args.file, said)?;
    let headings: Vec<String> = source.headings().iter().map(|heading| column_name(heading)).collect();
    let notes = source.notes().to_vec();
    let name = args.file.display().to_string();
    let Spread { records, read, unread, .. } = spread(source, &headings)?;
    if records.is_empty() {
        bail!("{name} has no record that can be read; a mapping needs one to see what its columns are");
    }
    let files = ImportFile { path: args.file.clone(), ..ImportFile::default() }.files_beside();
    let sample = Sample {
        file: &name,
        headings: &headings,
        records: &records,
        read,
        options: &options,
        notes: &notes,
        files: files.as_ref(),
    };
    let suggestion = suggest(&sample);
    write(&suggestion, args.suggestion.as_deref(), records.len(), output)?;
    if unread > 0 {
        say(&format!(
            "{} of {} records of {name} cannot be read and were not compared.",
            count(unread),
            count(read)
        ));
    }
    Ok(conclude(&suggestion, args))
}

/// Opens a file or folder, and finds where the records of a JSON file are.
fn open(file: &Path, said: SourceOptions) -> Result<(Source, SourceOptions)> {
    if file == Path::new("-") {
        let mut start = Vec::new();
        let mut input = std::io::stdin();
        (&mut input).take(START).read_to_end(&mut start).context("standard input cannot be read")?;
        let is_json = start.trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'{' | b'['));
        let options = with_records(said, is_json, &start)?;
        let input = Box::new(Cursor::new(start).chain(input));
        return Ok((Source::from_reader(input, "standard input", &options)?, options));
    }
    let source = Source::open(file, &said)?;
    if source.format() != SourceFormat::Json || !file.is_file() {
        return Ok((source, said));
    }
    let mut start = Vec::new();
    let opened = File::open(file).with_context(|| format!("{} cannot be read", file.display()))?;
    opened
        .take(START)
        .read_to_end(&mut start)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let options = with_records(said, true, &start)?;
    Ok((Source::open(file, &options)?, options))
}

fn with_records(said: SourceOptions, is_json: bool, start: &[u8]) -> Result<SourceOptions> {
    let path = is_json.then(|| record_path(&String::from_utf8_lossy(start))).flatten();
    let records = path.map(|path| path.parse()).transpose()?;
    Ok(SourceOptions { records, ..said })
}

/// Records that are spread over a file.
#[derive(Default)]
struct Spread {
    records: Vec<Map<String, Value>>,
    /// The text of each, in bytes.
    sizes: Vec<usize>,
    /// The number of all records, and of those that cannot be read.
    read: u64,
    unread: u64,
}

/// Reads the whole file, and keeps every n-th record: n doubles whenever too many are kept.
fn spread(source: Source, headings: &[String]) -> Result<Spread> {
    let mut spread = Spread::default();
    let (mut step, mut bytes) = (1, 0);
    for record in source {
        let content = record?.content;
        spread.read += 1;
        let Some((record, size)) = content.ok().and_then(|content| parsed(content, headings)) else {
            spread.unread += 1;
            continue;
        };
        if !(spread.read - 1).is_multiple_of(step) {
            continue;
        }
        spread.records.push(record);
        spread.sizes.push(size);
        bytes += size;
        while spread.records.len() > 1 && (spread.records.len() > MAX_RECORDS || bytes > MAX_BYTES) {
            spread.halve();
            bytes = spread.sizes.iter().sum();
            step *= 2;
        }
    }
    Ok(spread)
}

impl Spread {
    /// Leaves out every second record.
    fn halve(&mut self) {
        let mut numbers = 0..self.records.len();
        self.records.retain(|_| numbers.next().is_some_and(|number| number.is_multiple_of(2)));
        let mut numbers = 0..self.sizes.len();
        self.sizes.retain(|_| numbers.next().is_some_and(|number| number.is_multiple_of(2)));
    }
}

/// Returns a record and the length of its text.
fn parsed(content: Content, headings: &[String]) -> Option<(Map<String, Value>, usize)> {
    match content {
        Content::Cells(cells) => {
            let size = cells.iter().map(String::len).sum();
            Some((row(headings, cells), size))
        }
        Content::Json(text) => Some((serde_json::from_str(&text).ok()?, text.len())),
    }
}

/// Writes the mapping to a new file, or to standard output.
fn write(suggestion: &Suggestion, file: Option<&Path>, records: usize, output: Output) -> Result<()> {
    let answer = |written: &Path| json!({"mapping": suggestion.toml, "missing": suggestion.missing, "records": records, "file": written});
    let Some(file) = file else {
        let mut value = answer(Path::new(""));
        value["file"] = Value::Null;
        return Ok(output.answer(&value, || suggestion.toml.trim_end().to_owned())?);
    };
    let written = OpenOptions::new().write(true).create_new(true).open(file);
    let written = written.and_then(|mut written| written.write_all(suggestion.toml.as_bytes()));
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists and stays as it is; name another file, or remove it", file.display())
        }
        written => written.with_context(|| format!("{} cannot be written", file.display()))?,
    }
    let (used, all) = suggestion.used;
    Ok(output.answer(&answer(file), || {
        format!(
            "{}: a first mapping, which reads {used} of {all} columns of {} records",
            file.display(),
            count(records as u64)
        )
    })?)
}

/// Says what to do next, and returns the status.
fn conclude(suggestion: &Suggestion, args: &ImportArgs) -> ExitCode {
    let file = args.suggestion.as_deref().unwrap_or(Path::new("works.toml")).display();
    for sentence in suggestion.missing.iter().chain(&suggestion.notes) {
        say(sentence);
    }
    let then = format!("loggia import {} --mapping {file} --dry-run", args.file.display());
    match (&suggestion.missing[..], &args.suggestion) {
        ([], None) => say(&format!("Save it as {file}, look at the lines with “check:”, then: {then}")),
        ([], Some(_)) => say(&format!("Look at its lines with “check:”, then: {then}")),
        _ => say(&format!("Nothing can be imported before that. Then: {then}")),
    }
    if suggestion.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests;
