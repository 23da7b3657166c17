//! A file in batches for the write side.

use std::collections::HashMap;

use record_files::Place;
use schemas::command::{ImportLine, LineForm, MAX_IMPORT_LINES};
use schemas::import::{Fault, WrittenPicture};
use schemas::record::PictureSource;
use serde_json::{Map, Value};

use crate::content::Prepared;
use crate::findings::Findings;
use crate::import_file::ImportFile;
use crate::lacks::Lacks;
use crate::lines::{Line, Lines, Record, Rejection};
use crate::read_error::ReadError;
use crate::record_ids::RecordIds;
use crate::unusable_pictures::RefusedPicture;

/// The size of a batch in bytes, which bounds the memory of an import. The command client splits batches to fit into messages.
const BATCH_BYTES: usize = 4 << 20;

/// How many of the records that a mapping made are kept to be shown.
const PREVIEWS: usize = 3;

/// The lines of one command, and those that are rejected already.
#[derive(Debug, Default)]
pub struct Batch {
    /// The lines for the write side.
    pub lines: Vec<ImportLine>,
    /// The picture files that lines name, by line number.
    pub files: HashMap<u64, Vec<WrittenPicture>>,
    /// How much of a record each line is.
    pub form: LineForm,
    /// The lines that have not the file's format, and the records of which the mapping made none.
    pub rejected: Vec<RejectedLine>,
    /// The pictures that are left out of their records, by line number.
    pub refused: Vec<(u64, RefusedPicture)>,
    /// The number of characters that were repaired, by line number.
    pub repaired: Vec<(u64, u64)>,
    /// What each line does not have, by its number.
    pub lacks: HashMap<u64, Lacks>,
    /// Where the lines are.
    pub places: Places,
    /// The first records that the mapping made, as they will be, by line number.
    pub previews: Vec<(u64, Map<String, Value>)>,
}

/// A line that is rejected.
#[derive(Debug)]
pub struct RejectedLine {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Its text, or its source record as JSON.
    pub text: String,
    /// Why.
    pub faults: Vec<Fault>,
    /// Whether the mapping made no record of it: its text has the columns of the source.
    pub is_unmapped: bool,
    /// Its pictures whose files do not exist, as in [`ImportLine`].
    pub absent_pictures: Vec<PictureSource>,
}

impl RejectedLine {
    /// Returns a line that was sent, or would be, and is rejected; without its text where that was not kept.
    pub fn sent(number: u64, line: Option<&ImportLine>, faults: Vec<Fault>) -> RejectedLine {
        RejectedLine {
            number,
            text: line.map_or_else(String::new, |line| line.text.clone()),
            faults,
            is_unmapped: false,
            absent_pictures: line.map_or_else(Vec::new, |line| line.absent_pictures.clone()),
        }
    }
}

/// Where lines are that are not just a line of the file: in a sheet, at a path, in a folder.
#[derive(Debug, Default)]
pub struct Places(HashMap<u64, String>);

impl Places {
    /// Returns where a line is, if not just in a line.
    pub fn get(&self, number: u64) -> Option<&str> {
        self.0.get(&number).map(String::as_str)
    }

    /// Returns where a line is, as a sentence about it begins.
    pub fn of(&self, number: u64) -> String {
        self.get(number).map_or_else(|| format!("line {number}"), str::to_owned)
    }

    fn add(&mut self, place: &Place) -> u64 {
        let number = place.number();
        match place {
            Place::Line { .. } => {}
            Place::Element { .. } | Place::Row { .. } | Place::File { .. } => {
                self.0.insert(number, place.to_string());
            }
        }
        number
    }
}

/// The batches of a file, read as they are needed.
#[derive(Debug)]
pub struct Batches<'m> {
    lines: Lines<'m>,
    /// A line that was read and is in no batch yet.
    held: Option<Line>,
    notes: Vec<String>,
    repairs: bool,
    previews: usize,
}

impl<'m> Batches<'m> {
    /// Opens a file, and reads its first record.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or its columns are not those that are expected.
    pub fn open(file: &'m ImportFile) -> Result<Batches<'m>, ReadError> {
        let mut lines = Lines::open(file)?;
        let mut notes = lines.notes().to_vec();
        let held = lines.next()?;
        let has_path = file.source_options(false).records.is_some();
        if matches!(held, Some(Line { place: Place::Element { .. }, .. })) && !has_path {
            notes.insert(
                0,
                format!("{} is a JSON array; each of its elements is read as a record", file.name()),
            );
        }
        Ok(Batches { lines, held, notes, repairs: file.repairs, previews: 0 })
    }

    /// Returns sentences about what was found and not said: the encoding, the sheet, what of a folder is not read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the columns of a table, or the paths that a mapping found in JSON.
    pub fn columns(&self) -> Vec<String> {
        self.lines.columns()
    }

    /// Takes the ids of the records that were read; `None` without a mapping, and for a file of rejected lines, which has only some
    /// records.
    pub fn take_ids(&mut self) -> Option<RecordIds> {
        self.lines.take_ids()
    }

    /// Returns what is said about the records so far; nothing without a mapping.
    pub fn findings(&self) -> Findings {
        self.lines.findings()
    }

    /// Returns the next batch; `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read any further.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, ReadError> {
        let mut batch = Batch::default();
        let mut bytes = 0;
        while batch.lines.len() + batch.rejected.len() < MAX_IMPORT_LINES && bytes < BATCH_BYTES {
            let line = match self.held.take() {
                Some(line) => line,
                None => match self.lines.next()? {
                    Some(line) => line,
                    None => break,
                },
            };
            if let Ok(Record { form, .. }) = &line.record {
                if !batch.lines.is_empty() && *form != batch.form {
                    self.held = Some(line);
                    break;
                }
                batch.form = *form;
            }
            bytes += self.add(&mut batch, line);
        }
        Ok((!batch.lines.is_empty() || !batch.rejected.is_empty()).then_some(batch))
    }

    /// Adds a line to a batch. Returns its length in bytes.
    fn add(&mut self, batch: &mut Batch, Line { place, record }: Line) -> usize {
        let number = batch.places.add(&place);
        let Record { content, form: _, mapped, refused, absent_pictures } = match record {
            Ok(record) => record,
            Err(Rejection { text, faults, is_unmapped }) => {
                let length = text.len();
                batch.rejected.push(RejectedLine {
                    number,
                    text,
                    faults,
                    is_unmapped,
                    absent_pictures: Vec::new(),
                });
                return length;
            }
        };
        let Prepared { text, files, repaired, refused: unusable, lacks } = content.prepare(self.repairs);
        batch.repaired.extend((repaired > 0).then_some((number, repaired)));
        batch.files.extend((!files.is_empty()).then_some((number, files)));
        batch.refused.extend(refused.into_iter().chain(unusable).map(|picture| (number, picture)));
        batch.lacks.insert(number, lacks);
        if let Some(record) = mapped
            && self.previews < PREVIEWS
        {
            self.previews += 1;
            batch.previews.push((number, record));
        }
        let of_pictures = absent_pictures.iter().flat_map(PictureSource::strings);
        let length = text.len() + of_pictures.map(str::len).sum::<usize>();
        batch.lines.push(ImportLine { number, text, absent_pictures });
        length
    }
}

#[cfg(test)]
mod tests;
