//! What is suggested for files of museums and studios, beside what their columns are for.

use std::path::Path;

use record_files::{Content, Source, SourceOptions};

use super::measure::{check, credits, parsed};
use crate::suggest::{Sample, record_path, suggest};
use crate::tests::shapes::folder;
use crate::{Application, Mapping, column_name, row};

fn compare(name: &str, file: &str) {
    let Some(folder) = folder() else { return };
    let path = folder.join(file);
    let start = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
    let is_json = Path::new(file).extension().is_some_and(|ending| ending == "json" || ending == "ndjson");
    let records_path = is_json.then(|| record_path(&String::from_utf8_lossy(&start))).flatten();
    let options = SourceOptions {
        records: records_path.as_deref().map(|path| path.parse().unwrap()),
        ..SourceOptions::default()
    };
    let mut source = Source::open(&path, &options).unwrap();
    let headings: Vec<String> = source.headings().iter().map(|heading| column_name(heading)).collect();
    let records: Vec<_> = source
        .by_ref()
        .filter_map(|record| record.unwrap().content.ok())
        .map(|content| match content {
            Content::Cells(cells) => row(&headings, cells),
            Content::Json(text) => serde_json::from_str(&text).unwrap(),
        })
        .collect();
    let sample = Sample {
        file,
        headings: &headings,
        records: &records,
        read: records.len() as u64,
        options: &options,
        notes: &[],
        files: None,
    };
    let suggestion = suggest(&sample);
    let inner =
        records_path.as_deref().and_then(|path| path.strip_prefix("[].")).map(|path| format!("{path}."));
    let expected = std::fs::read_to_string(folder.join(format!("{name}.members.tsv"))).unwrap();
    check(name, &suggestion, &inner.unwrap_or_default(), &expected);
    let mapping = parsed(&suggestion);
    let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/importing/{name}.toml"));
    let documented = Mapping::parse(name, &std::fs::read_to_string(documented).unwrap()).unwrap();
    assert_eq!(credits(&mapping), credits(&documented), "{}", suggestion.toml);
    assert_eq!(
        mapping.faulty_columns(file, &headings).len(),
        if headings.is_empty() { mapping.columns().len() } else { 0 }
    );
    assert_eq!(mapping.unused_columns(&headings), Vec::<&str>::new());
    let mut application = Application::new(&mapping);
    let mapped = records.iter().filter(|record| application.record(record).is_ok()).count();
    assert!(mapped * 2 > records.len(), "{mapped} of {}\n{}", records.len(), suggestion.toml);
}

#[test]
fn tate() {
    compare("tate", "tate.csv");
}

#[test]
fn moma() {
    compare("moma", "moma.csv");
}

#[test]
fn met() {
    compare("met", "met.csv");
}

#[test]
fn cooperhewitt() {
    compare("cooperhewitt", "cooperhewitt.json");
}

#[test]
fn cleveland() {
    compare("cleveland", "cleveland.json");
}

#[test]
fn artic() {
    compare("artic", "artic.ndjson");
    compare("artic", "artic");
}

#[test]
fn omeka_s() {
    compare("omeka-s", "omeka-s.csv");
}

#[test]
fn airtable() {
    compare("airtable", "airtable.csv");
}

#[test]
fn notion() {
    compare("notion", "notion.csv");
}

#[test]
fn studio() {
    compare("studio", "studio.xlsx");
}
