//! The records of a file, one after the other, with their numbers and places: as lines for the write side, or rejected.

use record_files::{
    Content as SourceContent, Place, Reason, Refusal, Source, SourceFormat, SourceReason, SourceRecord,
};
use schemas::command::LineForm;
use schemas::import::{Fault, MAX_LINE_BYTES, parse_json};
use schemas::record::PictureSource;
use serde_json::{Map, Value};

use crate::columns::{ColumnMap, Columns};
use crate::content::Content;
use crate::findings::Findings;
use crate::import_file::ImportFile;
use crate::mapped::{MappedRecord, MappedRecords};
use crate::read_error::ReadError;
use crate::record_ids::RecordIds;
use crate::rejects::{RejectedBefore, is_file_of_rejects, rejected_before};
use crate::unusable_pictures::RefusedPicture;

// The write side rejects a line of NDJSON that is too long for it, so the reader must not cut it shorter.
const _: () = assert!(record_files::MAX_RECORD_BYTES == MAX_LINE_BYTES);

/// The records of a file.
#[derive(Debug)]
pub(crate) struct Lines<'m> {
    source: Source,
    reading: Reading<'m>,
    form: LineForm,
}

/// What records are made of.
#[derive(Debug)]
enum Reading<'m> {
    /// Import records in JSON.
    Records,
    /// The cells of a table, by its headings.
    Columns(Columns),
    /// Whatever the file has, by a mapping.
    Mapped(Box<MappedRecords<'m>>),
}

/// A record, or why there is none.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) place: Place,
    pub(crate) record: Result<Record, Rejection>,
}

/// A record for the write side.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) content: Content,
    /// How much of a record it is.
    pub(crate) form: LineForm,
    /// The record that a mapping made, as it will be.
    pub(crate) mapped: Option<Map<String, Value>>,
    /// The pictures that the mapping left out.
    pub(crate) refused: Vec<RefusedPicture>,
    /// The pictures that a pattern names and whose files do not exist.
    pub(crate) absent_pictures: Vec<PictureSource>,
}

/// Why there is no record.
#[derive(Debug)]
pub(crate) struct Rejection {
    /// Its text, or its source record as JSON.
    pub(crate) text: String,
    pub(crate) faults: Vec<Fault>,
    /// Whether the mapping made no record of it.
    pub(crate) is_unmapped: bool,
}

impl<'m> Lines<'m> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or its columns are not those that are expected.
    pub(crate) fn open(file: &'m ImportFile) -> Result<Lines<'m>, ReadError> {
        let is_of_rejects = file.mapping.is_some() && is_file_of_rejects(&file.path);
        let options = file.source_options(is_of_rejects);
        let source = match file.is_standard_input() {
            true => Source::from_reader(Box::new(std::io::stdin()), "-", &options)?,
            false => Source::open(&file.path, &options)?,
        };
        let form = file.form(source.format());
        let is_table = matches!(source.format(), SourceFormat::Csv | SourceFormat::Xlsx);
        let reading = match &file.mapping {
            Some(mapping) => {
                let records = MappedRecords::new(mapping, file, source.headings(), form, is_of_rejects)?;
                Reading::Mapped(Box::new(records))
            }
            None if is_table => Reading::Columns(columns(file, source.headings())?),
            None if file.columns.is_some() => {
                let name = file.name();
                return Err(ReadError::Faulty(format!(
                    "--columns renames the headings of a table, and {name} has none; name the paths of its members in a mapping"
                )));
            }
            None => Reading::Records,
        };
        Ok(Lines { source, reading, form })
    }

    /// Returns sentences about what was found and not said.
    pub(crate) fn notes(&self) -> &[String] {
        self.source.notes()
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read any further.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, ReadError> {
        let Some(SourceRecord { place, content }) = self.source.next().transpose()? else { return Ok(None) };
        let record = match content {
            Ok(content) => self.record(content),
            Err(Refusal { text, reason }) => {
                let faults = line_fault(format!("{reason}{}", hint(&reason)));
                Err(Rejection { text, faults, is_unmapped: false })
            }
        };
        if let (Err(Rejection { is_unmapped: false, .. }), Reading::Mapped(records)) =
            (&record, &mut self.reading)
        {
            records.add_unread();
        }
        Ok(Some(Line { place, record }))
    }

    /// Returns the columns of a table, or the paths that a mapping found in JSON.
    pub(crate) fn columns(&self) -> Vec<String> {
        match &self.reading {
            Reading::Mapped(records) => records.columns(),
            Reading::Records | Reading::Columns(_) => self.source.headings().to_vec(),
        }
    }

    /// Takes the ids of the records that were read; `None` without a mapping, and for a file of rejected lines, which has only some
    /// records.
    pub(crate) fn take_ids(&mut self) -> Option<RecordIds> {
        match &mut self.reading {
            Reading::Mapped(records) => records.take_ids(),
            Reading::Records | Reading::Columns(_) => None,
        }
    }

    /// Returns what is said about all records; nothing without a mapping.
    pub(crate) fn findings(&self) -> Findings {
        match &self.reading {
            Reading::Mapped(records) => records.findings(),
            Reading::Records | Reading::Columns(_) => Findings::default(),
        }
    }

    fn record(&mut self, content: SourceContent) -> Result<Record, Rejection> {
        let form = self.form;
        let plain = |content| Record {
            content,
            form,
            mapped: None,
            refused: Vec::new(),
            absent_pictures: Vec::new(),
        };
        match (&mut self.reading, content) {
            (Reading::Columns(columns), SourceContent::Cells(cells)) => {
                Ok(plain(Content::Members(columns.members(&cells))))
            }
            (Reading::Mapped(records), SourceContent::Cells(cells)) => {
                let row = records.row(cells);
                mapped(records, row, form)
            }
            (reading, SourceContent::Json(text)) => {
                let before = rejected_before(&text);
                match (reading, before) {
                    (Reading::Mapped(records), Some(RejectedBefore { content, is_unmapped: true, .. })) => {
                        mapped(records, members(content)?, form)
                    }
                    (_, Some(RejectedBefore { is_unmapped: true, .. })) => {
                        let reason = "has the columns of its source; import it with the mapping with which it was rejected";
                        Err(Rejection { text, faults: line_fault(reason.to_owned()), is_unmapped: false })
                    }
                    // Rejected by the write side: its record was mapped before, or needs no mapping.
                    (_, Some(RejectedBefore { content, form: own, absent_pictures, .. })) => {
                        let form = own.unwrap_or(LineForm::Record);
                        Ok(Record { form, absent_pictures, ..plain(content) })
                    }
                    (Reading::Mapped(records), None) => mapped(records, members(Content::Text(text))?, form),
                    (Reading::Records | Reading::Columns(_), None) => Ok(plain(Content::Text(text))),
                }
            }
            // A file without headings has no cells.
            (Reading::Records, SourceContent::Cells(cells)) => Ok(plain(Content::Text(cells.join(" | ")))),
        }
    }
}

/// Maps a source record.
fn mapped(
    records: &mut MappedRecords<'_>,
    source: Map<String, Value>,
    form: LineForm,
) -> Result<Record, Rejection> {
    match records.map(&source) {
        Ok(MappedRecord { record, content, refused, absent_pictures }) => {
            Ok(Record { content, form, mapped: Some(record), refused, absent_pictures })
        }
        Err(faults) => Err(Rejection { text: Value::Object(source).to_string(), faults, is_unmapped: true }),
    }
}

/// Returns the members of a source record in JSON.
fn members(content: Content) -> Result<Map<String, Value>, Rejection> {
    let (text, reason) = match content {
        Content::Members(members) => return Ok(members),
        Content::Text(text) => match parse_json(&text) {
            Ok(Value::Object(members)) => return Ok(members),
            Ok(_) => (text, "is not a JSON object".to_owned()),
            Err(error) => (text, format!("is not JSON: {error}")),
        },
    };
    Err(Rejection { text, faults: line_fault(reason), is_unmapped: false })
}

/// Returns the columns of a table without a mapping.
fn columns(file: &ImportFile, headings: &[String]) -> Result<Columns, ReadError> {
    let renamed = file.columns.as_deref().map(ColumnMap::read).transpose()?.unwrap_or_default();
    let columns = Columns::new(&file.name(), headings, &renamed)?;
    if !headings.is_empty() && !columns.have_key() {
        let name = file.name();
        return Err(ReadError::Faulty(format!(
            "{name} has no column name, id or slug; its columns are {}. Say which is which with --mapping FILE, \
             or let --suggest write a first mapping",
            headings.join(", ")
        )));
    }
    Ok(columns)
}

/// Returns what to do about a line, where its reason does not say.
fn hint(reason: &SourceReason) -> &'static str {
    match reason {
        SourceReason::Lines(Reason::NotUtf8 { .. }) => ", or name its encoding with --encoding",
        _ => "",
    }
}

fn line_fault(reason: String) -> Vec<Fault> {
    vec![Fault { field: String::new(), reason }]
}
