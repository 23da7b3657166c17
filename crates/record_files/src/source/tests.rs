use std::fs::{create_dir, write};
use std::io::Write;
use std::path::PathBuf;

use super::*;
use crate::workbook::tests::{text_row, write_workbook};

/// A folder for the files of a test. In what it returns the folder is left out of names.
struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    /// Returns the headings, the notes and the records, each with its place.
    fn read(&self, name: &str, options: &SourceOptions) -> (String, Vec<String>, Vec<String>) {
        let source = Source::open(&self.path(name), options).unwrap_or_else(|error| panic!("{error}"));
        let headings = source.headings().join("|");
        let notes = source.notes().iter().map(|note| self.short(note)).collect();
        let records = source.map(|record| match record {
            Ok(SourceRecord { place, content: Ok(Content::Cells(cells)) }) => {
                self.short(&format!("{place}: {}", cells.join("|")))
            }
            Ok(SourceRecord { place, content: Ok(Content::Json(text)) }) => {
                self.short(&format!("{place}: {text}"))
            }
            Ok(SourceRecord { place, content: Err(refusal) }) => {
                self.short(&format!("{place} {}", refusal.reason))
            }
            Err(error) => self.short(&error.to_string()),
        });
        (headings, notes, records.collect())
    }

    fn records(&self, name: &str, text: &[u8], options: &SourceOptions) -> Vec<String> {
        write(self.path(name), text).unwrap();
        self.read(name, options).2
    }

    fn error(&self, name: &str, options: &SourceOptions) -> String {
        self.short(&Source::open(&self.path(name), options).unwrap_err().to_string())
    }
}

fn at(path: &str) -> SourceOptions {
    SourceOptions { records: Some(path.parse().unwrap()), ..SourceOptions::default() }
}

#[test]
fn csv_is_read_in_the_dialects_and_encodings_of_excel() {
    let fixture = Fixture::new();
    let utf_16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
    };
    let row = |delimiter: &str| {
        format!("Titel{0}Ort{0}Jahr\r\n\"Haus, \"\"groß\"\"\r\nund ; | weit\"{0}Zürich{0}1975\r\n", delimiter)
    };
    let tabs = row("\t");
    for (name, bytes) in [
        ("comma.csv", row(",").into_bytes()),
        ("semicolon.csv", row(";").into_bytes()),
        ("bar.csv", row("|").into_bytes()),
        ("tab.tsv", tabs.clone().into_bytes()),
        ("mark.csv", [b"\xef\xbb\xbf", row(";").as_bytes()].concat()),
        ("little.txt", utf_16(&tabs, u16::to_le_bytes)),
        ("big.txt", utf_16(&tabs, u16::to_be_bytes)),
    ] {
        write(fixture.path(name), bytes).unwrap();
        let options = SourceOptions { format: Some(SourceFormat::Csv), ..SourceOptions::default() };
        let expected = vec![format!("{name} line 2: Haus, \"groß\"\r\nund ; | weit|Zürich|1975")];
        assert_eq!(fixture.read(name, &options), ("Titel|Ort|Jahr".into(), vec![], expected));
    }
    write(fixture.path("sep.csv"), "\u{feff}sep=#\r\nTitel#Ort, Land\r\nHaus#Ulm\r\n").unwrap();
    assert_eq!(fixture.read("sep.csv", &SourceOptions::default()).2, ["sep.csv line 3: Haus|Ulm"]);
    let windows = b"Titel;Ort\nHaus \x96 gro\xdf;Z\xfcrich \x80\n";
    write(fixture.path("old.csv"), windows).unwrap();
    let note = "old.csv is not UTF-8 and is read as Windows-1252; say otherwise if letters are wrong.";
    let record = "old.csv line 2: Haus – groß|Zürich €";
    assert_eq!(
        fixture.read("old.csv", &SourceOptions::default()),
        ("Titel|Ort".into(), vec![note.into()], vec![record.into()])
    );
    let latin = SourceOptions { encoding: Some(Encoding::Utf8), ..SourceOptions::default() };
    assert_eq!(
        fixture.read("old.csv", &latin).2,
        [
            "old.csv line 2 has the byte 0x96 at byte 6 of the column “Titel”, which is not UTF-8; save it as UTF-8"
        ]
    );
}

#[test]
fn csv_below_a_title_and_with_faults_is_read_row_by_row() {
    let fixture = Fixture::new();
    let text = "Works 2026;;;\nNo.;Title;Year;\n1;A;2001;\n2;B\n3;C;2003;x\n4;\"D;2004\n5;E;2005;\n";
    write(fixture.path("works.csv"), text).unwrap();
    let (headings, notes, records) = fixture.read("works.csv", &SourceOptions::default());
    assert_eq!(headings, "No.|Title|Year|");
    assert_eq!(notes, ["The headings of works.csv were found in line 2."]);
    let open = "works.csv line 6 is not a row of this file: the quote that opens in line 6 is not closed; close it, and double a quote that is part of a cell (\"\")";
    assert_eq!(
        records,
        [
            "works.csv line 3: 1|A|2001|",
            "works.csv line 4 is not a row of this file: it has 2 cells, and the headings have 4",
            "works.csv line 5: 3|C|2003|x",
            open,
            "works.csv line 7: 5|E|2005|",
        ]
    );
    let third = SourceOptions { headings: Some(3), delimiter: Some(b';'), ..SourceOptions::default() };
    assert_eq!(fixture.read("works.csv", &third).0, "1|A|2001|");
}

#[test]
fn json_is_read_as_lines_an_array_or_at_a_path() {
    let fixture = Fixture::new();
    let none = SourceOptions::default();
    assert_eq!(
        fixture.records("a.ndjson", b"{\"a\":1}\n\n{\"b\":\xff}\n{\"c\":3}\n", &none),
        [
            "a.ndjson line 1: {\"a\":1}",
            "a.ndjson line 3 has the byte 0xFF at byte 6, which is not UTF-8; save it as UTF-8",
            "a.ndjson line 4: {\"c\":3}"
        ]
    );
    assert_eq!(
        fixture.records("b.json", b"\xef\xbb\xbf[{\"a\":1},\n{\"b\":2}]", &none),
        ["b.json line 1, [0]: {\"a\":1}", "b.json line 2, [1]: {\"b\":2}"]
    );
    let utf_16: Vec<u8> = "[\"Zürich\"]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(fixture.records("c.json", &utf_16, &none), ["c.json line 1, [0]: \"Zürich\""]);
    let data = b"{\"info\":{\"total\":2},\"data\":[{\"a\":1},\n{\"b\":2}]}";
    assert_eq!(
        fixture.records("d.json", data, &at("data")),
        ["d.json line 1, data[0]: {\"a\":1}", "d.json line 2, data[1]: {\"b\":2}"]
    );
    assert_eq!(
        fixture.records("e.json", b"[{\"object\":{\"a\":1}},\n{\"stat\":\"fail\"}]", &at("[].object")),
        [
            "e.json line 1, [0].object: {\"a\":1}",
            "e.json line 2, [1] has nothing at object; add it, or take the element out of the file"
        ]
    );
    let long = format!("[\"{}\",\n{{}}]", "x".repeat(MAX_RECORD_BYTES));
    let too_long = "f.json line 1, [0] is longer than 1 MiB, the maximum of a record; take out of it what is no text of the record";
    assert_eq!(fixture.records("f.json", long.as_bytes(), &none), [too_long, "f.json line 2, [1]: {}"]);
    let end = "the records after it cannot be told apart; correct the file, or write one JSON object a line";
    let not_closed = format!("g.json: line 1 opens a JSON array or object that is not closed, so {end}");
    assert_eq!(
        fixture.records("g.json", b"[1,\n2", &none),
        ["g.json line 1, [0]: 1", "g.json line 2, [1]: 2", &not_closed]
    );
}

#[test]
fn a_path_that_leads_nowhere_says_what_there_is() {
    let fixture = Fixture::new();
    write(fixture.path("a.json"), b"{\"info\":{},\"data\":[1]}").unwrap();
    write(fixture.path("b.json"), b"[{\"object\":{}}]").unwrap();
    write(fixture.path("c.json"), b"[1,2]").unwrap();
    let correct = "correct the path of the records";
    for (name, path, found) in [
        ("a.json", "dta", "there are the members info, data"),
        ("b.json", "object", "there is an array where a member is named, as in [].object"),
        ("b.json", "[].objekt", "there is the member object"),
        ("c.json", "[].object", "there is no object on its way"),
    ] {
        let expected = format!("{name} has nothing at the path {path}: {found}; {correct}");
        assert_eq!(fixture.error(name, &at(path)), expected);
    }
    // An empty list is a list.
    assert_eq!(fixture.records("d.json", b"{\"data\":[]}", &at("data")), [""; 0]);
}

#[test]
fn a_folder_has_one_record_in_each_file() {
    let fixture = Fixture::new();
    create_dir(fixture.path("works")).unwrap();
    write(fixture.path("works/b.json"), "{\"data\": {\"id\": 2}}").unwrap();
    write(fixture.path("works/a.json"), "{\"data\": {\"id\": 1}}").unwrap();
    write(fixture.path("works/c.json"), "{\"id\": 3}").unwrap();
    write(fixture.path("works/notes.txt"), "x").unwrap();
    let (_, notes, records) = fixture.read("works", &SourceOptions::default());
    assert_eq!(
        notes,
        ["notes.txt in works does not end in .json and is not read."]
            .map(|n| n.replace("in works", &format!("in {}", fixture.path("works").display())))
            .map(|n| fixture.short(&n))
    );
    assert_eq!(
        records,
        [
            "works/a.json: {\"data\": {\"id\": 1}}",
            "works/b.json: {\"data\": {\"id\": 2}}",
            "works/c.json: {\"id\": 3}"
        ]
    );
    assert_eq!(
        fixture.read("works", &at("data")).2,
        [
            "works/a.json line 1, data: {\"id\": 1}",
            "works/b.json line 1, data: {\"id\": 2}",
            "works/c.json has nothing at data; add it, or take the element out of the file"
        ]
    );
}

#[test]
fn a_workbook_has_rows_with_their_sheet() {
    let fixture = Fixture::new();
    let rows = [text_row(1, &["No.", "Title"]), text_row(3, &["007", "Boathouse"])].concat();
    write_workbook(&fixture.path("works.xlsx"), &[("Works", "visible", &rows)], &[]);
    let record = "works.xlsx, sheet Works, row 3: 007|Boathouse";
    let expected = ("No.|Title".to_owned(), vec![], vec![record.to_owned()]);
    assert_eq!(fixture.read("works.xlsx", &SourceOptions::default()), expected);
    // The format is found by the beginning, too.
    std::fs::copy(fixture.path("works.xlsx"), fixture.path("works")).unwrap();
    assert_eq!(fixture.read("works", &SourceOptions::default()).0, "No.|Title");
    let sheet = SourceOptions { sheet: Some("Work".into()), ..SourceOptions::default() };
    assert_eq!(fixture.error("works.xlsx", &sheet), "works.xlsx has no sheet “Work”; it has “Works”");
}

#[test]
fn what_is_not_read_says_what_to_do() {
    let fixture = Fixture::new();
    let none = SourceOptions::default();
    for (name, bytes, expected) in [
        (
            "works.numbers",
            &b"PK"[..],
            "works.numbers is a spreadsheet of Numbers, which is not read; open it where it was made, and save it as .xlsx or CSV",
        ),
        (
            "works.doc",
            b"x",
            "the format of works.doc is shown neither by its name nor by its beginning; name it: csv, json, ndjson, xlsx or folder",
        ),
        (
            "works.xlsx",
            b"a,b",
            "works.xlsx is not a workbook of Excel, or damaged (it is no ZIP archive); open it in Excel or LibreOffice, and save it as .xlsx or CSV",
        ),
        (
            "works.csv",
            b"a,\"b\n",
            "works.csv: line 1, the CSV headings, is not a row of this file: the quote that opens in line 1 is not closed; close it, and double a quote that is part of a cell (\"\")",
        ),
    ] {
        write(fixture.path(name), bytes).unwrap();
        assert_eq!(fixture.error(name, &none), expected);
    }
    assert_eq!(
        fixture.error("gone.csv", &none),
        "gone.csv cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(
        fixture.error("works.csv", &at("data")),
        "a path of records is said of works.csv, but only JSON files have it; take it out"
    );
    let sheet = SourceOptions { sheet: Some("Works".into()), ..SourceOptions::default() };
    assert_eq!(
        fixture.error("works.csv", &sheet),
        "a sheet is said of works.csv, but only workbooks have it; take it out"
    );
}

#[test]
fn a_stream_is_read_once_from_its_beginning() {
    let text = format!("name;city\n{}", "Haus;Z\u{fc}rich\n".repeat(2_000));
    let csv = SourceOptions { format: Some(SourceFormat::Csv), ..SourceOptions::default() };
    let bytes: Vec<u8> = text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let source = Source::from_reader(Box::new(std::io::Cursor::new(bytes)), "standard input", &csv).unwrap();
    let last = source.last().unwrap().unwrap();
    assert_eq!(last.place.to_string(), "standard input line 2001");
    assert_eq!(last.content, Ok(Content::Cells(vec!["Haus".into(), "Zürich".into()])));
    let json = Source::from_reader(Box::new(&b" [1, 2]"[..]), "standard input", &SourceOptions::default());
    assert_eq!(json.unwrap().count(), 2);
    let xlsx = SourceOptions { format: Some(SourceFormat::Xlsx), ..SourceOptions::default() };
    let error = Source::from_reader(Box::new(&b"PK"[..]), "standard input", &xlsx).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a workbook or folder cannot be read from standard input; save it, and give its path"
    );
}

/// Files in the columns of museums and studios, of which each record must be read: those that are expected and those that a mapping
/// refuses.
#[test]
fn the_shapes_of_museums_and_studios_are_read() {
    #[expect(clippy::disallowed_methods, reason = "a variable names the folder of shared data")]
    let folder = std::env::var_os("LOGGIA_SHARED_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from)
        .join("shapes");
    if !folder.is_dir() {
        // Not with println!: the test harness would hide it.
        let _ = writeln!(std::io::stderr(), "\n*** SKIPPED: the shapes are not at {}\n", folder.display());
        return;
    }
    let lines = |name: String| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        text.lines().filter(|line| !line.trim().is_empty()).count()
    };
    for (file, path) in [
        ("airtable.csv", None),
        ("artic", None),
        ("artic.ndjson", None),
        ("cleveland.json", Some("data")),
        ("cooperhewitt.json", Some("[].object")),
        ("met.csv", None),
        ("moma.csv", None),
        ("notion.csv", None),
        ("omeka-s.csv", None),
        ("studio.xlsx", None),
        ("tate.csv", None),
    ] {
        let options =
            SourceOptions { records: path.map(|path| path.parse().unwrap()), ..SourceOptions::default() };
        let source = Source::open(&folder.join(file), &options).unwrap_or_else(|error| panic!("{error}"));
        let name = file.split('.').next().unwrap();
        let records: Vec<_> = source.map(|record| record.unwrap()).collect();
        for record in &records {
            assert!(record.content.is_ok(), "{}: {:?}", record.place, record.content);
        }
        let expected = lines(format!("{name}.expected.ndjson"));
        let rejected =
            std::fs::read_to_string(folder.join(format!("{name}.rejected.tsv"))).unwrap_or_default();
        assert_eq!(records.len(), expected + rejected.lines().count(), "{file}");
        for line in rejected.lines() {
            let number: u64 = line.split('\t').next().unwrap().parse().unwrap();
            assert!(records.iter().any(|record| record.place.number() == number), "{file}: {line}");
        }
    }
}
