//! The records of a file or folder of any format, each with its place.

use std::fmt::{self, Debug, Display, Formatter};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use crate::folder::Listing;
use crate::nested::{Nested, NestedReader, Reach};
use crate::record::{Content, Refusal, SourceReason, SourceRecord};
use crate::source_error::SourceError;
use crate::workbook::{Sheet, WorkbookOptions};
use crate::{
    Encoding, Error, JsonReader, MAX_RECORD_BYTES, Numbered, Place, RecordPath, Table, TableOptions, decode,
    detection,
};

/// The number of bytes at the beginning of a file by which its format is found.
const START: usize = 1 << 12;

/// The most elements without a record at the path before the path itself is what is wrong.
const MAX_ABSENT: usize = 1_000;

/// A format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFormat {
    /// Cells with headings, with the delimiters and encodings that spreadsheet programs write.
    Csv,
    /// An array, one object a line (NDJSON), or objects over several lines.
    Json,
    /// A folder with one JSON file a record.
    Folder,
    /// A workbook of Excel.
    Xlsx,
}

impl FromStr for SourceFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<SourceFormat, String> {
        match text.to_ascii_lowercase().as_str() {
            "csv" | "tsv" => Ok(SourceFormat::Csv),
            "json" | "ndjson" | "jsonl" => Ok(SourceFormat::Json),
            "folder" => Ok(SourceFormat::Folder),
            "xlsx" => Ok(SourceFormat::Xlsx),
            _ => Err(format!("“{text}” is not a format; write csv, json, ndjson, xlsx or folder")),
        }
    }
}

impl Display for SourceFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SourceFormat::Csv => "csv",
            SourceFormat::Json => "json",
            SourceFormat::Folder => "folder",
            SourceFormat::Xlsx => "xlsx",
        })
    }
}

/// What is known about a source before it is read; the rest is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOptions {
    /// The format.
    pub format: Option<SourceFormat>,
    /// The encoding of CSV or JSON.
    pub encoding: Option<Encoding>,
    /// The delimiter of CSV, an ASCII character.
    pub delimiter: Option<u8>,
    /// The name of the sheet with the records.
    pub sheet: Option<String>,
    /// The row of the headings in a sheet, or their line in CSV, from 1.
    pub headings: Option<u64>,
    /// The path from the file to its records, in JSON.
    pub records: Option<RecordPath>,
}

type Records = Box<dyn Iterator<Item = Result<SourceRecord, SourceError>> + Send>;

/// The records of a file or folder, of which a few are in memory at a time. It ends after an error.
///
/// ```
/// use record_files::{Content, Source, SourceOptions};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("works.csv");
/// std::fs::write(&file, b"Titel;Ort\nHaus;Z\xfcrich\n")?;
/// let mut source = Source::open(&file, &SourceOptions::default())?;
/// assert_eq!(source.headings(), ["Titel", "Ort"]);
/// let record = source.next().transpose()?.expect("one row follows the headings");
/// assert_eq!(record.place.number(), 2);
/// assert_eq!(record.content.unwrap(), Content::Cells(vec!["Haus".into(), "Zürich".into()]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Source {
    format: SourceFormat,
    headings: Vec<String>,
    notes: Vec<String>,
    records: Records,
    /// Whether an error ended it: what reads on after one may return it again for ever.
    is_over: bool,
}

impl Source {
    /// Opens a file or folder.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read as its format, or does not have the headings or the path that the options name.
    pub fn open(path: &Path, options: &SourceOptions) -> Result<Source, SourceError> {
        let name = path.display().to_string();
        let unreadable = |source| SourceError::Unreadable { file: name.clone(), source };
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            return folder(path, options);
        }
        let mut file = File::open(path).map_err(unreadable)?;
        if !metadata.is_file() {
            // A pipe that a shell made of another command's output is read once, from its beginning.
            return Source::from_reader(Box::new(file), &name, options);
        }
        let mut start = Vec::new();
        (&file).take(START as u64).read_to_end(&mut start).map_err(unreadable)?;
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        let format = format(path, &start, options)?;
        check_options(&name, format, options)?;
        match format {
            SourceFormat::Xlsx => workbook(file, name, options),
            SourceFormat::Folder => {
                Err(SourceError::Unreadable { file: name, source: std::io::ErrorKind::NotADirectory.into() })
            }
            SourceFormat::Csv => {
                let encoding = match options.encoding {
                    Some(encoding) => encoding,
                    None => detection::of_file(&file).map_err(unreadable)?,
                };
                file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
                text(Box::new(file), &name, format, encoding, options)
            }
            SourceFormat::Json => {
                // JSON is UTF-8 unless its beginning shows otherwise (RFC 8259).
                let found = detection::by_mark_or_zeros(&start).unwrap_or(Encoding::Utf8);
                text(Box::new(file), &name, format, options.encoding.unwrap_or(found), options)
            }
        }
    }

    /// Reads CSV or JSON from a stream, which is named in sentences. The encoding is found by its beginning.
    ///
    /// # Errors
    ///
    /// Fails as [`Source::open`] does, and for a workbook.
    pub fn from_reader(
        mut input: Box<dyn Read + Send>,
        name: &str,
        options: &SourceOptions,
    ) -> Result<Source, SourceError> {
        let unreadable = |source| SourceError::Unreadable { file: name.to_owned(), source };
        let mut start = Vec::new();
        (&mut input).take(START as u64).read_to_end(&mut start).map_err(unreadable)?;
        let format = format(Path::new(""), &start, options)
            .map_err(|_| SourceError::UnknownFormat { file: name.to_owned() })?;
        check_options(name, format, options)?;
        let found = match format {
            SourceFormat::Csv => detection::of_start(&start),
            SourceFormat::Json => detection::by_mark_or_zeros(&start).unwrap_or(Encoding::Utf8),
            SourceFormat::Folder | SourceFormat::Xlsx => {
                return Err(SourceError::Stream { file: name.to_owned() });
            }
        };
        let input = Box::new(std::io::Cursor::new(start).chain(input));
        text(input, name, format, options.encoding.unwrap_or(found), options)
    }

    /// Returns the format.
    pub fn format(&self) -> SourceFormat {
        self.format
    }

    /// Returns the headings, in the order of the columns; none in JSON.
    pub fn headings(&self) -> &[String] {
        &self.headings
    }

    /// Returns sentences about what was found and not said: the encoding, the sheet, what of a folder is not read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Iterator for Source {
    type Item = Result<SourceRecord, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let record = self.records.next();
        self.is_over = !matches!(record, Some(Ok(_)));
        record
    }
}

impl Debug for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Source { format, headings, notes, records: _, is_over: _ } = self;
        f.debug_struct("Source")
            .field("format", format)
            .field("headings", headings)
            .field("notes", notes)
            .finish()
    }
}

/// Returns the format that is named, or is shown by the name of the file or by its beginning.
fn format(path: &Path, start: &[u8], options: &SourceOptions) -> Result<SourceFormat, SourceError> {
    if let Some(format) = options.format {
        return Ok(format);
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let file = || path.display().to_string();
    let other = |kind| Err(SourceError::OtherFormat { file: file(), kind });
    match ending.as_str() {
        "csv" | "tsv" | "tab" => return Ok(SourceFormat::Csv),
        "json" | "ndjson" | "jsonl" => return Ok(SourceFormat::Json),
        "xlsx" | "xlsm" => return Ok(SourceFormat::Xlsx),
        "xls" => return other("a workbook of Excel 97 to 2003"),
        "xlsb" => return other("a binary workbook of Excel"),
        "ods" => return other("a spreadsheet of LibreOffice"),
        "numbers" => return other("a spreadsheet of Numbers"),
        _ => {}
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    match (start, text) {
        ([b'P', b'K', 3, 4, ..], _) => Ok(SourceFormat::Xlsx),
        (_, [b'{' | b'[', ..]) => Ok(SourceFormat::Json),
        _ if ending == "txt" => Ok(SourceFormat::Csv),
        _ => Err(SourceError::UnknownFormat { file: file() }),
    }
}

/// Refuses what is said about a source and does not belong to its format, since it would be ignored.
fn check_options(name: &str, format: SourceFormat, options: &SourceOptions) -> Result<(), SourceError> {
    use SourceFormat::{Csv, Folder, Json, Xlsx};
    let SourceOptions { format: _, encoding, delimiter, sheet, headings, records } = options;
    let unused = [
        ("an encoding", encoding.is_some(), &[Csv, Json][..], "CSV and JSON"),
        ("a delimiter", delimiter.is_some(), &[Csv], "CSV files"),
        ("a sheet", sheet.is_some(), &[Xlsx], "workbooks"),
        ("a row of headings", headings.is_some(), &[Csv, Xlsx], "CSV files and workbooks"),
        ("a path of records", records.is_some(), &[Json, Folder], "JSON files"),
    ];
    match unused.into_iter().find(|(_, is_said, formats, _)| *is_said && !formats.contains(&format)) {
        Some((option, _, _, formats)) => {
            Err(SourceError::UnusedOption { file: name.to_owned(), option, formats })
        }
        None => Ok(()),
    }
}

fn text(
    input: Box<dyn Read + Send>,
    name: &str,
    format: SourceFormat,
    encoding: Encoding,
    options: &SourceOptions,
) -> Result<Source, SourceError> {
    let file: Arc<str> = name.into();
    let faulty = |error| text_error(name, error);
    let reader = decode(input, encoding).map_err(faulty)?;
    let mut notes = Vec::new();
    if options.encoding.is_none() && encoding == Encoding::Windows1252 {
        notes.push(format!(
            "{name} is not UTF-8 and is read as Windows-1252; say otherwise if letters are wrong."
        ));
    }
    match (format, &options.records) {
        (SourceFormat::Csv, _) => {
            let (delimiter, headings_line) = (options.delimiter, options.headings);
            let table =
                Table::with_options(reader, TableOptions { delimiter, headings_line, skip_title: true })
                    .map_err(faulty)?;
            if table.headings_line() > 1 && options.headings.is_none() {
                let line = table.headings_line();
                notes.push(format!("The headings of {name} were found in line {line}."));
            }
            let headings = table.headings().to_vec();
            let records = table.map(move |row| match row {
                Ok(Numbered { line, record }) => {
                    let content = record.map(Content::Cells).map_err(Refusal::from);
                    Ok(SourceRecord { place: Place::Line { file: file.clone(), line }, content })
                }
                Err(error) => Err(text_error(&file, error)),
            });
            Ok(Source { format, headings, notes, records: Box::new(records), is_over: false })
        }
        (_, Some(path)) => {
            let records = nested_records(NestedReader::new(reader, path.clone()), file, path)?;
            Ok(Source { format, headings: Vec::new(), notes, records, is_over: false })
        }
        (_, None) => {
            let records = JsonReader::new(reader).map_err(faulty)?;
            let is_array = records.is_array();
            let records = (0..).zip(records).map(move |(index, record)| match record {
                Ok(Numbered { line, record }) => {
                    let file = file.clone();
                    let place = match is_array {
                        true => Place::Element { file, line, path: format!("[{index}]"), number: index + 1 },
                        false => Place::Line { file, line },
                    };
                    Ok(SourceRecord { place, content: json_content(record.map_err(Refusal::from)) })
                }
                Err(error) => Err(text_error(&file, error)),
            });
            Ok(Source { format, headings: Vec::new(), notes, records: Box::new(records), is_over: false })
        }
    }
}

fn text_error(name: &str, error: Error) -> SourceError {
    match error {
        Error::Unreadable(source) => SourceError::Unreadable { file: name.to_owned(), source },
        error => SourceError::Text { file: name.to_owned(), error },
    }
}

/// Returns a record, unless it was cut because it is too long.
fn json_content(text: Result<String, Refusal>) -> Result<Content, Refusal> {
    match text? {
        text if text.len() > MAX_RECORD_BYTES => {
            let excerpt = text.chars().take(200).collect();
            Err(Refusal { text: excerpt, reason: SourceReason::TooLong })
        }
        text => Ok(Content::Json(text)),
    }
}

/// Returns the records at a path. Fails if the path leads nowhere in the whole file, or in its first thousand elements.
fn nested_records<R: std::io::BufRead + Send + 'static>(
    mut reader: NestedReader<R>,
    file: Arc<str>,
    path: &RecordPath,
) -> Result<Records, SourceError> {
    let mut number = 0;
    let name = file.clone();
    let mut next = move |reader: &mut NestedReader<R>| {
        let nested = reader.read().map_err(|error| text_error(&file, error)).transpose()?;
        number += 1;
        let element = |line| Place::Element { file: file.clone(), line, path: reader.place(), number };
        Some(nested.map(|nested| match nested {
            Nested::Record(Numbered { line, record }) => {
                SourceRecord { place: element(line), content: json_content(record.map_err(Refusal::from)) }
            }
            Nested::Absent { line, rest, text } => {
                let reason = SourceReason::NoMember { path: rest };
                SourceRecord { place: element(line), content: Err(Refusal { text, reason }) }
            }
        }))
    };
    let mut first = Vec::new();
    while !reader.reach.is_found && first.len() < MAX_ABSENT {
        match next(&mut reader) {
            Some(record) => first.push(Ok(record?)),
            None => break,
        }
    }
    if !reader.reach.is_found {
        let found = found_instead(&reader.reach, path);
        return Err(SourceError::NoRecords { file: name.to_string(), path: path.to_string(), found });
    }
    Ok(Box::new(first.into_iter().chain(std::iter::from_fn(move || next(&mut reader)))))
}

/// Says what there is instead of a path.
fn found_instead(reach: &Reach, path: &RecordPath) -> String {
    match &reach.seen[..] {
        [] if reach.has_array => format!("there is an array where a member is named, as in [].{path}"),
        [] => "there is no object on its way".to_owned(),
        [member] => format!("there is the member {member}"),
        members => format!("there are the members {}", members.join(", ")),
    }
}

fn folder(path: &Path, options: &SourceOptions) -> Result<Source, SourceError> {
    let (name, format) = (path.display().to_string(), SourceFormat::Folder);
    if options.format.is_some_and(|said| said != format) {
        return Err(SourceError::Unreadable { file: name, source: std::io::ErrorKind::IsADirectory.into() });
    }
    check_options(&name, format, options)?;
    let listing = Listing::new(path)?;
    let notes = listing.note(&name).into_iter().collect();
    let records: Records = match &options.records {
        None => Box::new(listing.records().map(Ok)),
        Some(records) => {
            let records = records.clone();
            Box::new(listing.records().flat_map(move |record| nested_in_file(record, &records)))
        }
    };
    Ok(Source { format, headings: Vec::new(), notes, records, is_over: false })
}

/// Returns the records at a path of a file of a folder.
fn nested_in_file(record: SourceRecord, path: &RecordPath) -> Vec<Result<SourceRecord, SourceError>> {
    let SourceRecord { place, content: Ok(Content::Json(text)) } = &record else { return vec![Ok(record)] };
    let file: Arc<str> = match place {
        Place::File { file, .. } => file.clone(),
        other => other.to_string().into(),
    };
    let reader = BufReader::new(std::io::Cursor::new(text.clone().into_bytes()));
    match nested_records(NestedReader::new(reader, path.clone()), file, path) {
        Ok(records) => records.collect(),
        // A file that has nothing at the path is refused alone.
        Err(SourceError::NoRecords { path, .. }) => {
            let refusal = Refusal { text: text.clone(), reason: SourceReason::NoMember { path } };
            vec![Ok(SourceRecord { place: record.place, content: Err(refusal) })]
        }
        Err(error) => vec![Err(error)],
    }
}

fn workbook(file: File, name: String, options: &SourceOptions) -> Result<Source, SourceError> {
    let in_workbook = |file: &str, fault| SourceError::Workbook { file: file.to_owned(), fault };
    let WorkbookOptions { sheet, headings } =
        WorkbookOptions { sheet: options.sheet.clone(), headings: options.headings };
    let sheet =
        Sheet::open(file, WorkbookOptions { sheet, headings }).map_err(|fault| in_workbook(&name, fault))?;
    let is_found = options.sheet.is_none() || options.headings.is_none();
    let notes = sheet.note(&name).filter(|_| is_found).into_iter().collect();
    let (headings, sheet_name): (_, Arc<str>) = (sheet.headings.clone(), sheet.name.as_str().into());
    let file: Arc<str> = name.into();
    let records = sheet.map(move |row| match row {
        Ok((row, cells)) => Ok(SourceRecord {
            place: Place::Row { file: file.clone(), sheet: sheet_name.clone(), row },
            content: cells.map(Content::Cells),
        }),
        Err(fault) => Err(in_workbook(&file, fault)),
    });
    Ok(Source { format: SourceFormat::Xlsx, headings, notes, records: Box::new(records), is_over: false })
}

#[cfg(test)]
mod tests;
