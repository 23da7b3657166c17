//! The catalog as a table: what a spreadsheet gets comes back unchanged.

use std::path::Path;

use kit::{ProgramOutput, process};
use serde_json::{Value, json};

use crate::service::{LOGGIA, json as run_json};

/// Records with what is difficult in cells: formulas, apostrophes, quotes, delimiters, line breaks, and several pictures.
fn records() -> Vec<Value> {
    vec![
        json!({"id": "A.1", "name": "=HYPERLINK(\"http://x\")", "category": "art", "year": "0987",
            "intro": "- one, two; three | four\n\"five\"", "studio": "@home", "city": "Zürich, Switzerland",
            "details": [{"label": "Area, net", "value": "-8.5"}, {"label": "Tel.", "value": "+49 30 1234"}],
            "pictures": [{"source": "https://example.org/a.jpg", "alt": "'=A", "credit": "Photo: Ann B.", "rights": "CC BY 4.0"},
                "https://example.org/b.jpg"]}),
        json!({"name": "'t Huis", "category": "architecture", "taste": {"light": "''+", "mood": "calm"},
            "provenance": {"note": "found there"}, "details": [{"label": "Floors", "value": "2"}],
            "vectors": {"visual": [0.5, -2.5], "semantic": [1.0]}, "vector_model": "m1"}),
        json!({"name": "Pier", "category": "photography"}),
    ]
}

fn export(data: &Path, args: &[&str]) -> ProgramOutput {
    process::run(&LOGGIA, data, &[&["export"], args].concat())
}

fn imported(data: &Path, file: &Path) -> Value {
    run_json(data, &["import", file.to_str().unwrap()]).pop().unwrap()
}

/// Returns a folder with the records in a catalog, and the path of a table beside it.
fn prepared() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (data, lines) = (folder.path().join("data"), folder.path().join("in.ndjson"));
    std::fs::write(&lines, records().iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert_eq!(imported(&data, &lines)["new"], 3);
    let table = folder.path().join("sheet.csv");
    (folder, data, table)
}

/// Returns exported records without vectors, which a table does not have.
fn without_vectors(text: &str) -> Vec<Value> {
    let line = |line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        let members = record.as_object_mut().unwrap();
        members.remove("vectors");
        members.remove("vector_model");
        record
    };
    text.lines().map(line).collect()
}

#[test]
fn a_table_that_comes_back_changes_nothing_and_fills_an_empty_catalog() {
    let (folder, data, table) = prepared();
    let before = export(&data, &[]).success().stdout;
    let written = export(&data, &["--format", "csv"]).success().stdout;
    let head = "\u{feff}slug,id,name,studio,city,year,category,intro,";
    assert!(written.starts_with(head), "{written}");
    let is_formula = |cell: &str| cell.trim_matches('"').starts_with(['=', '+', '@']);
    assert!(!written.split([',', '\n']).any(is_formula), "no cell is a formula: {written}");
    std::fs::write(&table, &written).unwrap();
    let counts = imported(&data, &table);
    assert_eq!(["new", "changed", "same", "rejected"].map(|name| &counts[name]), [0, 0, 3, 0], "{counts}");
    assert_eq!(export(&data, &[]).success().stdout, before);

    let other = folder.path().join("other");
    assert_eq!(imported(&other, &table)["new"], 3);
    let copied = export(&other, &[]).success().stdout;
    assert_eq!(without_vectors(&copied), without_vectors(&before));
    assert_eq!(export(&other, &["--format", "csv"]).success().stdout, written);
}

#[test]
fn a_workbook_that_comes_back_changes_nothing_and_fills_an_empty_catalog() {
    let (folder, data, _) = prepared();
    let before = export(&data, &[]).success().stdout;
    let output = process::command(&LOGGIA, &data).args(["export", "--format", "xlsx"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let workbook = folder.path().join("sheet.xlsx");
    std::fs::write(&workbook, &output.stdout).unwrap();
    let counts = imported(&data, &workbook);
    assert_eq!(["new", "changed", "same", "rejected"].map(|name| &counts[name]), [0, 0, 3, 0], "{counts}");
    assert_eq!(export(&data, &[]).success().stdout, before);

    let other = folder.path().join("other");
    assert_eq!(imported(&other, &workbook)["new"], 3);
    let copied = export(&other, &[]).success().stdout;
    assert_eq!(without_vectors(&copied), without_vectors(&before));
}

#[test]
fn some_columns_are_written_and_imported_and_the_others_stay() {
    let (_folder, data, table) = prepared();
    let written = export(&data, &["--format", "csv", "--columns", "city,details.Floors"]).success().stdout;
    let rows: Vec<&str> = written.lines().collect();
    assert_eq!(
        rows,
        ["\u{feff}slug,city,details.Floors", "a-1,\"Zürich, Switzerland\",", "pier,,", "t-huis,,2"]
    );
    std::fs::write(&table, written.replace("pier,,", "pier,Ulm,")).unwrap();
    let counts = imported(&data, &table);
    assert_eq!(["changed", "same", "rejected"].map(|name| &counts[name]), [1, 2, 0], "{counts}");
    let exported = export(&data, &[]).success().json_lines();
    assert_eq!((&exported[1]["name"], &exported[1]["city"]), (&json!("Pier"), &json!("Ulm")));

    let wrong = export(&data, &["--format", "csv", "--columns", "ort"]).ended(1);
    assert!(
        wrong.stderr.starts_with("loggia: there is no column “ort”; the columns are slug, id, "),
        "{wrong}"
    );
    let wrong = export(&data, &["--columns", "city"]).ended(2);
    assert_eq!(wrong.stderr.trim(), "loggia: --columns are those of a table; add --format csv");
    let wrong = export(&data, &["--format", "csv", "--with-vectors"]).ended(2);
    assert_eq!(
        wrong.stderr.trim(),
        "loggia: a table has no vectors; leave out --with-vectors, or export NDJSON"
    );
}
