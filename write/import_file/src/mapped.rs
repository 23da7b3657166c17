//! The application of a mapping to the records of a file.

use std::path::PathBuf;

use mapping::{Application, Mapped, Mapping, Rejected, column_name, no_column, row};
use schemas::command::LineForm;
use schemas::import::Fault;
use schemas::kept_mappings::LastFile;
use schemas::record::PictureSource;
use serde_json::{Map, Value};

use crate::content::Content;
use crate::findings::{Findings, PatternFiles};
use crate::import_file::ImportFile;
use crate::picture_path::exists;
use crate::read_error::ReadError;
use crate::record_ids::{IdsSoFar, RecordIds};
use crate::unusable_pictures::RefusedPicture;

/// A mapping that is applied to one record after the other.
#[derive(Debug)]
pub(crate) struct MappedRecords<'m> {
    mapping: &'m Mapping,
    application: Application<'m>,
    /// The headings of a table, as the mapping names them; none in JSON.
    columns: Vec<String>,
    ids: IdsSoFar,
    form: LineForm,
    /// The folder below which picture files are.
    folder: PathBuf,
    files: PatternFiles,
    /// Whether the file has only some of the records, of which nothing is said together.
    is_of_rejects: bool,
    last_file: Option<LastFile>,
}

/// A record of which the mapping made an import record.
#[derive(Debug)]
pub(crate) struct MappedRecord {
    /// The record as it will be where none is yet.
    pub(crate) record: Map<String, Value>,
    /// The line for the write side.
    pub(crate) content: Content,
    /// The pictures that cannot be used.
    pub(crate) refused: Vec<RefusedPicture>,
    /// The pictures that a pattern names and whose files do not exist.
    pub(crate) absent_pictures: Vec<PictureSource>,
}

impl<'m> MappedRecords<'m> {
    /// Begins to apply a mapping to a file with these headings; none in JSON.
    ///
    /// # Errors
    ///
    /// Fails if the mapping reads columns that the table does not have, or has twice.
    pub(crate) fn new(
        mapping: &'m Mapping,
        file: &ImportFile,
        headings: &[String],
        form: LineForm,
        is_of_rejects: bool,
    ) -> Result<MappedRecords<'m>, ReadError> {
        let columns: Vec<String> = headings.iter().map(|heading| column_name(heading)).collect();
        let mut faulty = match headings {
            [] => Vec::new(),
            headings => mapping.faulty_columns(&file.name(), headings),
        };
        if let Some(last_file) = &file.last_file {
            faulty.iter_mut().for_each(|sentence| name_gone_column(sentence, file, &columns, last_file));
        }
        if !faulty.is_empty() {
            return Err(ReadError::Faulty(format!("{} Nothing was imported.", faulty.join("\n"))));
        }
        Ok(MappedRecords {
            mapping,
            application: Application::new(mapping),
            columns,
            ids: IdsSoFar::default(),
            form,
            folder: file.folder(),
            files: PatternFiles::default(),
            is_of_rejects,
            last_file: file.last_file.clone(),
        })
    }

    /// Returns a row of the table as a source record.
    pub(crate) fn row(&self, cells: Vec<String>) -> Map<String, Value> {
        row(&self.columns, cells)
    }

    /// Maps a source record.
    ///
    /// # Errors
    ///
    /// Rejects what has no name or no category.
    pub(crate) fn map(&mut self, source: &Map<String, Value>) -> Result<MappedRecord, Vec<Fault>> {
        let Mapped { mut members, pattern_files, refused_pictures } = match self.application.record(source) {
            Ok(mapped) => mapped,
            Err(Rejected { id, reasons }) => {
                self.ids.add(id.as_deref());
                let fault = |reason| Fault { field: String::new(), reason };
                return Err(reasons.into_iter().map(fault).collect());
            }
        };
        self.ids.add(members.get("id").and_then(Value::as_str));
        let mut absent_pictures = Vec::new();
        for file in pattern_files {
            let exists = exists(&self.folder, &file.source);
            if !exists {
                absent_pictures.extend(take_picture(&mut members, &file.source));
            }
            self.files.add(file, exists);
        }
        // The same id of two sources is two projects.
        if let (Some(name), true) = (&self.mapping.name, members.contains_key("id")) {
            members.insert("source".to_owned(), name.as_str().into());
        }
        let line = match self.form {
            LineForm::Patch | LineForm::Cells => self.mapping.patch_of(members.clone()),
            LineForm::Record => members.clone(),
        };
        let refused = refused_pictures
            .into_iter()
            .map(|picture| RefusedPicture { source: picture.source, reason: picture.reason.to_owned() });
        let (content, refused) = (Content::Members(line), refused.collect());
        Ok(MappedRecord { record: members, content, refused, absent_pictures })
    }

    /// Returns the columns of the table, or the paths that were found in JSON.
    pub(crate) fn columns(&self) -> Vec<String> {
        match &self.columns[..] {
            [] => self.application.summary().paths(),
            columns => columns.to_vec(),
        }
    }

    /// Adds a record that could not be read.
    pub(crate) fn add_unread(&mut self) {
        self.ids.add(None);
    }

    /// Takes the ids of the records that were read; `None` for a file of rejected lines, which has only some of the records.
    pub(crate) fn take_ids(&mut self) -> Option<RecordIds> {
        let ids = std::mem::take(&mut self.ids);
        (!self.is_of_rejects).then(|| ids.complete())
    }

    /// Returns what is said about all records.
    pub(crate) fn findings(&self) -> Findings {
        match self.is_of_rejects {
            true => Findings::default(),
            false => {
                let summary = self.application.summary();
                let mut findings = Findings::new(self.mapping, summary, &self.columns, &self.files);
                findings.sentences.extend(self.gone_columns());
                findings
            }
        }
    }

    /// Returns the sentence about the columns of the last table that this one does not have. The mapping reads none of them.
    fn gone_columns(&self) -> Option<String> {
        let last_file = self.last_file.as_ref().filter(|_| !self.columns.is_empty())?;
        let before = last_file.columns.iter().map(|column| column_name(column));
        let gone: Vec<String> = before.filter(|column| !self.columns.contains(column)).collect();
        let (these, are, them) = match gone[..] {
            [] => return None,
            [_] => ("This column was", "is", "it"),
            _ => ("These columns were", "are", "them"),
        };
        let (day, gone) = (day(last_file), gone.join(", "));
        Some(format!(
            "{these} in the file of {day} and {are} gone; the mapping does not read {them}: {gone}."
        ))
    }
}

/// Returns the day on which a file was imported.
fn day(last_file: &LastFile) -> String {
    let time = last_file.imported_at.to_string();
    time.split('T').next().unwrap_or_default().to_owned()
}

/// Says of a missing column that it was in the last file, if it was.
fn name_gone_column(sentence: &mut String, file: &ImportFile, columns: &[String], last_file: &LastFile) {
    let is_it = |column: &&String| *sentence == no_column(&file.name(), column, columns);
    let Some(column) =
        last_file.columns.iter().map(|column| column_name(column)).find(|column| is_it(&column))
    else {
        return;
    };
    let hint = sentence.split_once("; ").map_or("", |(_, hint)| hint);
    let day = day(last_file);
    *sentence = format!("The column “{column}” was in the file of {day} and is gone; {hint}");
}

/// Takes a picture out of a record, which has it once.
fn take_picture(members: &mut Map<String, Value>, source: &str) -> Option<PictureSource> {
    let Some(Value::Array(pictures)) = members.get_mut("pictures") else { return None };
    let index = pictures.iter().position(|picture| picture["source"] == *source)?;
    let picture = pictures.remove(index);
    if pictures.is_empty() {
        members.shift_remove("pictures");
    }
    // A mapping gives a picture no other members than texts.
    serde_json::from_value(picture).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use mapping::Member;
    use schemas::import::import_record_schema;
    use serde_json::json;

    use super::*;

    const TOML: &str = "name = \"works\"\n[record]\nid = \"No\"\nname = \"T\"\nyear = \"Y\"\ncategory = { value = \"art\" }\n\
                        [[pictures]]\nsource = \"images/{No}.jpg\"\n[[pictures]]\nsource = \"P\"\n";

    fn mapped(form: LineForm, source: Value) -> (Value, Value, Vec<String>, Findings) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("images")).unwrap();
        std::fs::write(folder.path().join("images/7.jpg"), "").unwrap();
        let mapping = Mapping::parse("a.toml", TOML).unwrap();
        let file = ImportFile { path: folder.path().join("a.ndjson"), ..ImportFile::default() };
        let mut records = MappedRecords::new(&mapping, &file, &[], form, false).unwrap();
        let MappedRecord { record, content, refused, .. } = records.map(source.as_object().unwrap()).unwrap();
        let Content::Members(line) = content else { panic!("it is not a text") };
        let refused = refused.into_iter().map(|picture| picture.source).collect();
        (record.into(), line.into(), refused, records.findings())
    }

    #[test]
    fn a_record_becomes_a_patch_with_its_source_and_the_files_that_exist() {
        let (record, line, refused, findings) =
            mapped(LineForm::Patch, json!({"No": 7, "T": "A", "P": "data:image/png;base64,A"}));
        let expected = json!({"id": "7", "name": "A", "category": "art", "source": "works", "pictures": [{"source": "images/7.jpg"}]});
        assert_eq!((&record, refused), (&expected, vec!["data:image/png;base64,A".to_owned()]));
        let mut patch = expected;
        patch["year"] = Value::Null;
        assert_eq!(line, patch);
        assert!(findings.faults.contains(&"1 picture cannot be used.".to_owned()), "{findings:?}");
    }

    #[test]
    fn a_file_of_a_pattern_that_does_not_exist_is_left_out_and_counted() {
        let (record, line, _, findings) = mapped(LineForm::Record, json!({"No": "8", "T": "A", "Y": "1984"}));
        let expected = json!({"id": "8", "name": "A", "year": "1984", "category": "art", "source": "works"});
        assert_eq!((&record, &line), (&expected, &expected));
        let missing = "Pictures: 0 found, 1 of the pattern images/{No}.jpg does not exist (for example images/8.jpg); projects keep those that they have.";
        assert_eq!(findings.sentences[0], missing);
        assert_eq!(findings.faults, ["The path P is in no record."]);
    }

    #[test]
    fn a_picture_without_a_file_is_absent_with_its_texts() {
        let toml = "[record]\nname = \"T\"\ncategory = { value = \"art\" }\n[[pictures]]\nsource = \"images/{No}.jpg\"\n\
                    alt = \"Alt\"\ncredit = \"Photo\"\n";
        let folder = tempfile::tempdir().unwrap();
        let mapping = Mapping::parse("a.toml", toml).unwrap();
        let file = ImportFile { path: folder.path().join("a.ndjson"), ..ImportFile::default() };
        let mut records = MappedRecords::new(&mapping, &file, &[], LineForm::Patch, false).unwrap();
        let source = json!({"No": "8", "T": "A", "Alt": "A door", "Photo": ""});
        let MappedRecord { record, absent_pictures, .. } = records.map(source.as_object().unwrap()).unwrap();
        assert_eq!(Value::from(record), json!({"name": "A", "category": "art"}));
        let expected = PictureSource { alt: Some("A door".into()), ..PictureSource::of("images/8.jpg") };
        assert_eq!(absent_pictures, [expected]);
    }

    #[test]
    fn columns_that_are_not_there_stop_it_before_a_record() {
        let mapping = Mapping::parse("a.toml", TOML).unwrap();
        let file = ImportFile { path: "works.csv".into(), ..ImportFile::default() };
        let headings = ["No.", "T", "Y", "P"].map(str::to_owned);
        let error = MappedRecords::new(&mapping, &file, &headings, LineForm::Patch, false).unwrap_err();
        let reason = "works.csv has no column “No”; the nearest is “No.” (column 1). Nothing was imported.";
        assert_eq!(error.to_string(), reason);

        let columns = vec!["No".to_owned(), "T".to_owned()];
        let imported_at = "2026-10-01T08:00:00Z".parse().unwrap();
        let last_file = Some(LastFile { name: "works.csv".into(), imported_at, columns });
        let file = ImportFile { last_file, ..file };
        let error = MappedRecords::new(&mapping, &file, &headings, LineForm::Patch, false).unwrap_err();
        let reason = "The column “No” was in the file of 2026-10-01 and is gone; the nearest is “No.” (column 1). Nothing was imported.";
        assert_eq!(error.to_string(), reason);
    }

    #[test]
    fn columns_that_are_gone_and_that_the_mapping_does_not_read_are_said() {
        let mapping = Mapping::parse("a.toml", TOML).unwrap();
        let imported_at = "2026-10-01T08:00:00Z".parse().unwrap();
        let file = |gone: &[&str]| {
            let columns = ["No", "T", "Y", "P"].iter().chain(gone).map(ToString::to_string).collect();
            let last_file = Some(LastFile { name: "works.csv".into(), imported_at, columns });
            ImportFile { path: "works.csv".into(), last_file, ..ImportFile::default() }
        };
        let headings = ["No", "T", "Y", "P"].map(str::to_owned);
        let said = |gone: &[&str]| {
            let records =
                MappedRecords::new(&mapping, &file(gone), &headings, LineForm::Patch, false).unwrap();
            records.findings().sentences
        };
        assert_eq!(said(&[]), [""; 0]);
        let one =
            "This column was in the file of 2026-10-01 and is gone; the mapping does not read it: Room.";
        assert_eq!(said(&["Room"]), [one]);
        let two = "These columns were in the file of 2026-10-01 and are gone; the mapping does not read them: Room, Key.";
        assert_eq!(said(&["Room", "Key"]), [two]);
    }

    #[test]
    fn a_mapping_fills_the_members_of_an_import_record() {
        let schema = import_record_schema();
        let properties = schema["properties"].as_object().unwrap();
        let in_groups = ["taste", "provenance"].into_iter().flat_map(|group| {
            let inner = properties[group]["properties"].as_object().unwrap();
            inner.keys().map(move |name| format!("{group}.{name}"))
        });
        // Details and pictures are sections of a mapping, the source is its name, vectors are no texts, and the dimensions of the
        // taste may also stand outside it.
        let taste = properties["taste"]["properties"].as_object().unwrap();
        let others = ["taste", "provenance", "details", "pictures", "source", "vectors", "vector_model"];
        let is_member = |name: &&String| !others.contains(&name.as_str()) && !taste.contains_key(*name);
        let members: BTreeSet<String> =
            properties.keys().filter(is_member).cloned().chain(in_groups).collect();
        assert_eq!(Member::names().map(str::to_owned).collect::<BTreeSet<_>>(), members);
    }

    #[test]
    fn the_ids_of_all_records_are_known() {
        let mapping = Mapping::parse("a.toml", TOML).unwrap();
        let file = ImportFile { path: "works.ndjson".into(), ..ImportFile::default() };
        let mut records = MappedRecords::new(&mapping, &file, &[], LineForm::Patch, false).unwrap();
        for source in [json!({"No": "7", "T": "A"}), json!({"No": "8"}), json!({"T": "C"})] {
            let _ = records.map(source.as_object().unwrap());
        }
        let ids = records.take_ids().unwrap();
        assert_eq!((["7", "8", "9"].map(|id| ids.has(id)), ids.unknown()), ([true, true, false], 1));
    }
}
