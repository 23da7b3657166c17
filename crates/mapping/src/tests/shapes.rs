//! Files of museums and studios become the records that they should, with the mappings of docs/importing.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use record_files::{Content, Source};
use serde_json::{Map, Value};

use crate::{Application, Mapping, Rejected, column_name, row};

/// Returns the folder of the shapes; `None`, with a line on standard error, where it is absent.
pub(crate) fn folder() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a variable names the folder of shared data")]
    let folder = std::env::var_os("LOGGIA_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let folder = folder.join("shapes");
    if folder.is_dir() {
        return Some(folder);
    }
    // Not with println!: the test harness would hide it.
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED: there are no shapes in {}\n", folder.display());
    None
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What became of a source record.
type Outcome = Result<Map<String, Value>, Rejected>;

/// Returns the records of a shape: what its mapping makes of it, or why it rejects them, with their numbers.
fn mapped(source: &Path, mapping: &Mapping) -> Vec<(u64, Outcome)> {
    let mut source = Source::open(source, &mapping.file).unwrap();
    let columns: Vec<String> = source.headings().iter().map(|heading| column_name(heading)).collect();
    if !columns.is_empty() {
        assert_eq!(mapping.faulty_columns("file", &columns), Vec::<String>::new());
        assert_eq!(mapping.unused_columns(&columns), Vec::<&str>::new());
    }
    let mut application = Application::new(mapping);
    let records = source.by_ref().map(|record| {
        let record = record.unwrap();
        let members = match record.content.unwrap() {
            Content::Cells(cells) => row(&columns, cells),
            Content::Json(text) => serde_json::from_str(&text).unwrap(),
        };
        let mapped = application.record(&members);
        if let Ok(mapped) = &mapped {
            assert_eq!((&mapped.refused_pictures[..], &mapped.pattern_files[..]), (&[][..], &[][..]));
        }
        (record.place.number(), mapped.map(|mapped| mapped.members))
    });
    records.collect()
}

/// Returns the record without the credit and the rights of its pictures, which the expected records do not have, and those pictures.
fn without_credits(mut record: Map<String, Value>) -> (Map<String, Value>, Vec<Value>) {
    let mut pictures = Vec::new();
    let Some(Value::Array(written)) = record.get_mut("pictures") else { return (record, pictures) };
    for picture in written {
        let members = picture.as_object_mut().unwrap();
        let mut credited = members.clone();
        credited.remove("alt");
        members.retain(|name, _| name == "source" || name == "alt");
        pictures.push(credited.into());
    }
    if pictures.iter().all(|picture| picture.as_object().unwrap().len() == 1) {
        pictures.clear();
    }
    (record, pictures)
}

/// Compares a shape with what it must become.
fn compare(name: &str, source: &str) {
    let Some(folder) = folder() else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/importing/{name}.toml"));
    let mapping =
        Mapping::parse(&format!("{name}.toml"), &text(&file)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(mapping.name.as_deref(), Some(name));
    let (mut records, mut rejected, mut credits) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (number, outcome) in mapped(&folder.join(source), &mapping) {
        match outcome {
            Ok(record) => {
                let (record, pictures) = without_credits(record);
                if !pictures.is_empty() {
                    credits.insert(record["id"].as_str().unwrap().to_owned(), Value::from(pictures));
                }
                records.push(Value::from(record));
            }
            Err(Rejected { id, reasons }) => {
                rejected.push(format!("{number}\t{}\t{}", id.unwrap_or_default(), reasons.join("; ")));
            }
        }
    }
    let expected: Vec<Value> = text(&folder.join(format!("{name}.expected.ndjson")))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (record, expected) in records.iter().zip(&expected) {
        assert_eq!(
            serde_json::to_string_pretty(&sorted(record)).unwrap(),
            serde_json::to_string_pretty(&sorted(expected)).unwrap()
        );
    }
    assert_eq!(records.len(), expected.len());
    let reasons = folder.join(format!("{name}.rejected.tsv"));
    let reasons = if reasons.exists() { text(&reasons) } else { String::new() };
    assert_eq!(rejected, reasons.lines().collect::<Vec<_>>());
    let credited: BTreeMap<String, Value> = text(&folder.join("pictures.ndjson"))
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["shape"] == name)
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line["pictures"].clone()))
        .collect();
    assert_eq!(credits, credited);
}

/// Returns a record with its members and details in one order: details are a set.
fn sorted(record: &Value) -> Value {
    match record {
        Value::Object(members) => {
            let mut entries: Vec<_> = members.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            let entries = entries.into_iter().map(|(name, value)| {
                let mut value = sorted(value);
                if let (true, Value::Array(details)) = (name == "details", &mut value) {
                    details.sort_by_key(|detail| detail["label"].to_string());
                }
                (name.clone(), value)
            });
            Value::Object(entries.collect())
        }
        Value::Array(elements) => elements.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[test]
fn tate_becomes_what_it_should() {
    compare("tate", "tate.csv");
}

#[test]
fn moma_becomes_what_it_should() {
    compare("moma", "moma.csv");
}

#[test]
fn met_becomes_what_it_should() {
    compare("met", "met.csv");
}

#[test]
fn cooperhewitt_becomes_what_it_should() {
    compare("cooperhewitt", "cooperhewitt.json");
}

#[test]
fn cleveland_becomes_what_it_should() {
    compare("cleveland", "cleveland.json");
}

#[test]
fn artic_becomes_what_it_should() {
    compare("artic", "artic.ndjson");
    compare("artic", "artic");
}

#[test]
fn omeka_s_becomes_what_it_should() {
    compare("omeka-s", "omeka-s.csv");
}

#[test]
fn airtable_becomes_what_it_should() {
    compare("airtable", "airtable.csv");
}

#[test]
fn notion_becomes_what_it_should() {
    compare("notion", "notion.csv");
}

#[test]
fn studio_becomes_what_it_should() {
    compare("studio", "studio.xlsx");
}
