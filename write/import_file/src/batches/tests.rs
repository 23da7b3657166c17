//! Files of all formats as batches.

use mapping::Mapping;
use serde_json::json;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(name: &str, content: impl AsRef<[u8]>) -> (Folder, ImportFile) {
        let folder = Folder(tempfile::tempdir().unwrap());
        let path = folder.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        (folder, ImportFile { path, ..ImportFile::default() })
    }
}

fn batches(file: &ImportFile) -> Vec<Batch> {
    let mut batches = Batches::open(file).unwrap();
    std::iter::from_fn(|| batches.next_batch().unwrap()).collect()
}

/// Returns the only batch of a file.
fn only(file: &ImportFile) -> Batch {
    let mut batches = batches(file);
    assert_eq!(batches.len(), 1);
    batches.remove(0)
}

fn texts(batch: &Batch) -> Vec<(u64, &str)> {
    batch.lines.iter().map(|line| (line.number, line.text.as_str())).collect()
}

fn error(file: &ImportFile) -> String {
    Batches::open(file).map(|_| ()).unwrap_err().to_string()
}

const MAPPING: &str = "name = \"works\"\n[record]\nid = \"No\"\nname = \"T\"\ncity = \"C\"\ncategory = { from = \"K\", table = { chair = \"design\" } }\n";

fn mapped(file: ImportFile) -> ImportFile {
    ImportFile { mapping: Some(Mapping::parse("works.toml", MAPPING).unwrap()), ..file }
}

#[test]
fn a_table_has_a_patch_for_each_row() {
    let (_folder, file) = Folder::with("in.csv", "name;category;city\nA;art;Ulm\nB;art;\n");
    let batch = only(&file);
    let expected = [
        (2, r#"{"name":"A","category":"art","city":"Ulm"}"#),
        (3, r#"{"name":"B","category":"art","city":null}"#),
    ];
    assert_eq!((texts(&batch), batch.form), (expected.to_vec(), LineForm::Patch));
    assert_eq!([2, 3].map(|number| batch.lacks[&number].city), [false, true]);
    let whole = ImportFile { is_whole: true, ..file };
    assert_eq!(only(&whole).form, LineForm::Cells);
}

#[test]
fn a_row_of_windows_1252_is_read_and_noted() {
    let (_folder, file) = Folder::with("in.csv", b"name;category;city\nA;art;Z\xfcrich\n");
    let mut batches = Batches::open(&file).unwrap();
    let batch = batches.next_batch().unwrap().unwrap();
    assert_eq!(texts(&batch), [(2, r#"{"name":"A","category":"art","city":"Zürich"}"#)]);
    let name = file.path.display();
    assert_eq!(
        batches.notes(),
        [format!("{name} is not UTF-8 and is read as Windows-1252; say otherwise if letters are wrong.")]
    );
}

#[test]
fn an_array_is_noted_and_its_elements_have_numbers_and_places() {
    let (_folder, file) = Folder::with("in.json", "[\n{\"name\":\"A\"},\n {\"name\":\"B\"}]");
    let name = file.path.display().to_string();
    let mut batches = Batches::open(&file).unwrap();
    assert_eq!(
        batches.notes(),
        [format!("{name} is a JSON array; each of its elements is read as a record")]
    );
    let batch = batches.next_batch().unwrap().unwrap();
    assert_eq!(texts(&batch), [(1, r#"{"name":"A"}"#), (2, r#"{"name":"B"}"#)]);
    assert_eq!(batch.places.of(2), format!("{name} line 3, [1]"));
    assert_eq!((batch.places.get(3), batch.places.of(3)), (None, "line 3".to_owned()));
    let (_folder, file) = Folder::with("in.ndjson", "{\"name\":\"A\"}");
    assert_eq!(Batches::open(&file).unwrap().notes(), [""; 0]);
}

#[test]
fn a_folder_has_a_record_for_each_file() {
    let (folder, _) = Folder::with("a.json", r#"{"name":"A","pictures":["a.jpg"]}"#);
    std::fs::write(folder.0.path().join("b.json"), "").unwrap();
    let file = ImportFile { path: folder.0.path().to_owned(), ..ImportFile::default() };
    let batch = only(&file);
    assert_eq!(texts(&batch), [(1, r#"{"name":"A","pictures":["a.jpg"]}"#)]);
    assert_eq!((file.folder(), batch.files[&1][0].written.as_str()), (folder.0.path().to_owned(), "a.jpg"));
    let [RejectedLine { number: 2, faults, is_unmapped: false, .. }] = &batch.rejected[..] else {
        panic!("{batch:?}")
    };
    assert_eq!(faults[0].reason, "is blank; write the record in it, or take it out of the folder");
    assert_eq!(batch.places.of(2), folder.0.path().join("b.json").display().to_string());
}

#[test]
fn lines_of_another_form_are_another_batch() {
    let patch = r#"{"line":7,"faults":[],"record":{"slug":"b"},"form":"patch"}"#;
    let (_folder, file) = Folder::with("in.ndjson", format!("{{\"name\":\"A\"}}\n{patch}\n"));
    let forms: Vec<_> = batches(&file).iter().map(|batch| (batch.form, batch.lines.len())).collect();
    assert_eq!(forms, [(LineForm::Record, 1), (LineForm::Patch, 1)]);
}

#[test]
fn an_invalid_line_says_what_to_do() {
    let (_folder, file) = Folder::with("in.ndjson", b"{\"name\":\"Z\xfcrich\"}\n");
    let batch = only(&file);
    let reason = "has the byte 0xFC at byte 11, which is not UTF-8; save it as UTF-8, or name its encoding with --encoding";
    assert_eq!((batch.rejected[0].number, batch.rejected[0].faults[0].reason.as_str()), (1, reason));
}

#[test]
fn a_table_without_a_key_names_its_columns() {
    let (_folder, file) = Folder::with("in.csv", "Titel,Ort\nA,Ulm\n");
    let name = file.path.display();
    assert_eq!(
        error(&file),
        format!(
            "{name} has no column name, id or slug; its columns are Titel, Ort. Say which is which with --mapping FILE, or let \
             --suggest write a first mapping"
        )
    );
}

#[test]
fn renamed_headings_are_for_tables_only() {
    let (folder, file) = Folder::with("in.ndjson", "{}");
    let map = folder.0.path().join("map.json");
    std::fs::write(&map, "{}").unwrap();
    let file = ImportFile { columns: Some(map.clone()), ..file };
    let reason = "--columns renames the headings of a table, and ";
    assert!(error(&file).starts_with(reason), "{}", error(&file));
    std::fs::write(&map, "[]").unwrap();
    let (_folder, table) = Folder::with("in.csv", "name\nA\n");
    let error = error(&ImportFile { columns: Some(map), ..table });
    assert!(
        error.contains("is not a column map; expected a JSON object such as {\"Ort\": \"city\"}"),
        "{error}"
    );
}

#[test]
fn a_mapping_makes_patches_and_rejects_by_reason() {
    let text = "No,T,C,K\n1,A,Ulm,Chair\n2,B,,Ring\n3,C,,chair\n";
    let (_folder, file) = Folder::with("in.csv", text);
    let file = mapped(file);
    let mut batches = Batches::open(&file).unwrap();
    let batch = batches.next_batch().unwrap().unwrap();
    let first = r#"{"id":"1","name":"A","city":"Ulm","category":"design","source":"works"}"#;
    let third = r#"{"id":"3","name":"C","category":"design","source":"works","city":null}"#;
    assert_eq!((texts(&batch), batch.form), (vec![(2, first), (4, third)], LineForm::Patch));
    let [RejectedLine { number: 3, text, faults, is_unmapped: true, .. }] = &batch.rejected[..] else {
        panic!("{batch:?}")
    };
    assert_eq!(text, r#"{"No":"2","T":"B","C":"","K":"Ring"}"#);
    assert_eq!(faults[0].reason, "“Ring” is not in the table of category");
    let previews: Vec<u64> = batch.previews.iter().map(|(number, _)| *number).collect();
    assert_eq!((previews, &batch.previews[0].1["name"]), (vec![2, 4], &json!("A")));
    assert!(batches.next_batch().unwrap().is_none());
    let rejected = "The mapping rejects 1 record: “Ring” is not in the table of category 1.";
    assert_eq!(batches.findings().faults, [rejected]);
}

#[test]
fn rejected_records_are_mapped_again_and_others_are_not() {
    let unmapped = r#"{"line":3,"faults":[],"record":{"No":"2","T":"B","K":"chair"},"unmapped":true}"#;
    let written = r#"{"line":4,"faults":[],"record":"{\"name\":\"C\"}","form":"patch"}"#;
    let (_folder, file) = Folder::with("rejects.ndjson", format!("{unmapped}\n{written}\n"));
    // Without the mapping it says that it needs one.
    let plain = only(&file);
    let reason = "has the columns of its source; import it with the mapping with which it was rejected";
    assert_eq!((plain.rejected[0].faults[0].reason.as_str(), plain.lines.len()), (reason, 1));
    // What the mapping says about its own file is not said about this one.
    let toml = format!("{MAPPING}[file]\nsheet = \"Works\"\n");
    let file = ImportFile { mapping: Some(Mapping::parse("works.toml", &toml).unwrap()), ..file };
    let batch = only(&file);
    let second = r#"{"id":"2","name":"B","category":"design","source":"works","city":null}"#;
    assert_eq!(texts(&batch), [(1, second), (2, r#"{"name":"C"}"#)]);
}

#[test]
fn pictures_that_cannot_be_used_leave_their_record() {
    let (_folder, file) =
        Folder::with("in.ndjson", r#"{"name":"A","pictures":["http://a.example/a.jpg","/b.jpg"]}"#);
    let batch = only(&file);
    assert_eq!(texts(&batch), [(1, r#"{"name":"A","pictures":["https://a.example/a.jpg"]}"#)]);
    let [(1, RefusedPicture { source, reason })] = &batch.refused[..] else { panic!("{batch:?}") };
    let expected = "is not below the folder of the file; copy it there, and name it relative to that folder";
    assert_eq!((source.as_str(), reason.as_str()), ("/b.jpg", expected));
}
