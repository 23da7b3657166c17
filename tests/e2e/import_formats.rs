//! Files as spreadsheets and other programs write them: every line is imported as written, or is among the rejects.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use image::{ImageFormat, Rgb, RgbImage};
use kit::process;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::service::{LOGGIA, json as run_json};

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Folder {
        Folder { folder: tempfile::tempdir().unwrap() }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Imports a file of these bytes; returns the reply, and the line, reason and text of each reject.
    fn import(&self, name: &str, bytes: &[u8], flags: &[&str]) -> (Vec<Value>, Vec<(u64, String, String)>) {
        let (file, rejects) = (self.path(name), self.path("rejects.ndjson"));
        std::fs::write(&file, bytes).unwrap();
        let args = [&["import", file.as_str(), "--rejects", rejects.as_str()][..], flags].concat();
        let answers = run_json(&self.data(), &args);
        let rejected = std::fs::read_to_string(&rejects).unwrap();
        let rejected =
            rejected.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).map(|line| {
                let reason = line["faults"][0]["reason"].as_str().unwrap().to_owned();
                (line["line"].as_u64().unwrap(), reason, line["record"].as_str().unwrap().to_owned())
            });
        (answers, rejected.collect())
    }

    /// Imports a file of which nothing can be imported by a mapping of the columns name and year, also where `--strict` checks it
    /// first. Returns what it says.
    fn stopped(&self, name: &str) -> String {
        let (file, mapping) = (self.path(name), self.mapping());
        let args = ["import", &file, "--mapping", &mapping];
        let [plain, strict] = [&[][..], &["--strict"]]
            .map(|flags| process::run(&LOGGIA, &self.data(), &[&args[..], flags].concat()).ended(1).stderr);
        assert_eq!(plain, strict);
        assert!(!self.data().exists(), "nothing is imported: {plain}");
        plain
    }

    fn mapping(&self) -> String {
        let path = self.path("works.toml");
        std::fs::write(&path, "[record]\nname = \"name\"\nyear = \"year\"\ncategory = { value = \"art\" }\n")
            .unwrap();
        path
    }

    fn export(&self) -> Vec<Value> {
        process::run(&LOGGIA, &self.data(), &["export"]).json_lines()
    }
}

fn counts(answers: &[Value]) -> [u64; 6] {
    let last = answers.last().unwrap();
    ["new", "changed", "same", "rejected", "members_removed", "pictures_removed"]
        .map(|name| last[name].as_u64().unwrap())
}

#[test]
fn fields_without_a_column_stay_unchanged() {
    let folder = Folder::new();
    let first = json!({"slug": "pic", "name": "Pic", "studio": "Nord", "category": "art", "description": "Long.",
        "taste": {"material": "oak"}, "pictures": [{"source": "https://example.org/a.jpg", "alt": "A door"}]});
    folder.import("in.ndjson", first.to_string().as_bytes(), &[]);
    let sheet = b"sep=;\r\nslug;name;category;city;year\r\npic;Pic;art;Ulm;1984.0\r\n;;;;\r\n";
    let (answers, _) = folder.import("in.csv", sheet, &[]);
    assert_eq!(counts(&answers), [0, 1, 0, 0, 0, 0]);
    let mut expected = first.clone();
    (expected["city"], expected["year"]) = ("Ulm".into(), "1984".into());
    assert_eq!(folder.export(), [expected]);
    assert_eq!(counts(&folder.import("in.csv", sheet, &[]).0), [0, 0, 1, 0, 0, 0]);

    let (answers, _) = folder.import("in.csv", sheet, &["--replace", "--dry-run"]);
    assert_eq!(counts(&answers), [0, 1, 0, 0, 3, 1]);
    let named = (&answers[0]["removed"], &answers[0]["removed_pictures"]);
    let (members, pictures) =
        (json!(["studio", "description", "taste.material"]), json!(["https://example.org/a.jpg"]));
    assert_eq!(named, (&members, &pictures));
    let patch = br#"{"slug":"pic","studio":null}"#;
    assert_eq!(counts(&folder.import("in.ndjson", patch, &["--patch"]).0), [0, 1, 0, 0, 1, 0]);
    assert_eq!(folder.export()[0].get("studio"), None);
}

#[test]
fn an_unclosed_quote_affects_only_its_row() {
    let folder = Folder::new();
    let text = "slug,name,category,description\nb1,B1,art,ok\nb2,B2,art,\"never closed\nb3,B3,art,ok\nb4,B4,art,ok\nb5,B5,art,ok\n";
    let (answers, rejected) = folder.import("in.csv", text.as_bytes(), &[]);
    assert_eq!(counts(&answers), [4, 0, 0, 1, 0, 0]);
    let reason = "is not a row of this file: the quote that opens in line 3 is not closed; close it, and double a quote that \
                  is part of a cell (\"\")";
    assert_eq!(rejected, [(3, reason.to_owned(), "b2,B2,art,\"never closed".to_owned())]);
    let slugs: Vec<Value> = folder.export().into_iter().map(|line| line["slug"].clone()).collect();
    assert_eq!(slugs, ["b1", "b3", "b4", "b5"]);
}

#[test]
fn files_of_other_encodings_are_read() {
    let folder = Folder::new();
    let line = b"{\"name\":\"Z\xfcrich\",\"category\":\"art\"}\n{\"name\":\"B\",\"category\":\"art\"}\n";
    let (answers, rejected) = folder.import("in.ndjson", line, &[]);
    assert_eq!(counts(&answers), [1, 0, 0, 1, 0, 0]);
    let reason = "has the byte 0xFC at byte 11, which is not UTF-8; save it as UTF-8, or name its encoding with --encoding";
    assert_eq!((rejected[0].0, rejected[0].1.as_str()), (1, reason));
    assert_eq!(counts(&folder.import("in.ndjson", line, &["--encoding", "latin1"]).0), [1, 0, 1, 0, 0, 0]);
    let sheet: Vec<u8> =
        "\u{feff}name\tcategory\nŁódź\tart\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(counts(&folder.import("in.tsv", &sheet, &["--encoding", "utf-16"]).0), [1, 0, 0, 0, 0, 0]);
    let names: Vec<Value> = folder.export().into_iter().map(|line| line["name"].clone()).collect();
    assert_eq!(names, ["B", "Łódź", "Zürich"]);
    // A table shows its encoding itself.
    assert_eq!(counts(&folder.import("in.tsv", &sheet, &[]).0), [0, 0, 1, 0, 0, 0]);
    let latin = b"name;category\nZ\xfcrich;art\n";
    assert_eq!(counts(&folder.import("in.csv", latin, &[]).0), [0, 0, 1, 0, 0, 0]);
    let other =
        process::run(&LOGGIA, &folder.data(), &["import", &folder.path("in.tsv"), "--encoding", "latin1"]);
    let stderr = &other.ended(1).stderr;
    assert!(stderr.contains("the file is UTF-16; name the encoding utf-16, or save it as UTF-8"), "{stderr}");
}

#[test]
fn a_file_of_a_mac_is_imported_again_without_a_change() {
    let folder = Folder::new();
    let (composed, decomposed) = (["Fl\u{e4}che", "T\u{fc}r.png"], ["Fla\u{308}che", "Tu\u{308}r.png"]);
    let door = RgbImage::from_pixel(400, 300, Rgb([200, 90, 60]));
    door.save_with_format(folder.path(decomposed[1]), ImageFormat::Png).unwrap();
    let sheet = |[label, picture]: [&str; 2], area: &str| {
        format!("slug,name,category,details.{label},pictures.1\nmac,Mac,art,{area},{picture}\n")
    };
    let first =
        sheet(composed, "240").replace("\n", ",pictures.1.alt\n").replace("png,pictures.1.alt", "png,A door");
    let mut expected = json!({"slug": "mac", "name": "Mac", "category": "art", "details": [{"label": composed[0], "value": "240"}],
        "pictures": [{"source": composed[1], "alt": "A door"}]});
    for (text, changes, pictures) in [
        (first, [1, 0, 0, 0, 0, 0], [1, 0, 0]),
        (sheet(decomposed, "240"), [0, 0, 1, 0, 0, 0], [0, 1, 0]),
        (sheet(decomposed, "240"), [0, 0, 1, 0, 0, 0], [0, 1, 0]),
        (sheet(composed, "240"), [0, 0, 1, 0, 0, 0], [0, 1, 0]),
    ] {
        let (answers, _) = folder.import("in.csv", text.as_bytes(), &[]);
        assert_eq!(counts(&answers), changes, "{text:?}");
        let counted = ["pictures", "pictures_same", "pictures_refused"]
            .map(|name| answers.last().unwrap()[name].as_u64().unwrap());
        assert_eq!(counted, pictures, "{text:?}");
        assert_eq!(folder.export(), [expected.clone()], "{text:?}");
    }
    let (answers, _) = folder.import("in.csv", sheet(decomposed, "").as_bytes(), &[]);
    assert_eq!(counts(&answers), [0, 1, 0, 0, 1, 0]);
    expected.as_object_mut().unwrap().remove("details");
    assert_eq!(folder.export(), [expected]);
}

#[test]
fn an_array_over_several_lines_is_read_and_named() {
    let folder = Folder::new();
    let film = "{\n    \"name\": \"B\",\n    \"category\": \"film\"\n  }";
    let text = format!("[\n  {{\n    \"name\": \"A\",\n    \"category\": \"art\"\n  }},\n  {film}\n]\n");
    let (answers, rejected) = folder.import("in.json", text.as_bytes(), &[]);
    assert_eq!(counts(&answers), [1, 0, 0, 1, 0, 0]);
    let reason = "is “film”; expected one of architecture, interiors, design, photography, art";
    assert_eq!(rejected, [(2, reason.to_owned(), film.to_owned())]);
    let file = folder.path("in.json");
    let again = process::run(&LOGGIA, &folder.data(), &["import", &file, "--dry-run"]).success();
    let note = format!("{file} is a JSON array; each of its elements is read as a record\n");
    assert!(again.stderr.starts_with(&note), "{}", again.stderr);
    let place = format!("{file} line 6, [1]: category is “film”");
    assert!(again.stderr.contains(&place), "{}", again.stderr);
}

#[test]
fn bars_separate_cells_and_text_without_a_heading_is_rejected() {
    let folder = Folder::new();
    let text = "name|category|\nA|art|\nB| \"art\" |x\n";
    let (answers, rejected) = folder.import("in.csv", text.as_bytes(), &[]);
    assert_eq!(counts(&answers), [1, 0, 0, 1, 0, 0]);
    let reason = "is not a member of an import record; leave it out, or ignore unknown members";
    let record = r#"{"name":"B","category":"art","column 3 without a heading":"x"}"#;
    assert_eq!(rejected, [(3, reason.to_owned(), record.to_owned())]);
    assert_eq!(
        counts(&folder.import("in.csv", text.as_bytes(), &["--ignore-unknown"]).0),
        [1, 0, 1, 0, 0, 0]
    );
    assert_eq!(folder.export().len(), 2);
}

/// Returns the texts of the columns name and year as a row of a sheet.
fn text_row(number: u32, [name, year]: [&str; 2]) -> String {
    let cell = |column: char, text: &str| {
        format!(r#"<c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c>"#)
    };
    format!(r#"<row r="{number}">{}{}</row>"#, cell('A', name), cell('B', year))
}

/// Returns a row of a name and a formula for the year, whose value is stored or not.
fn formula_row(number: u32, name: &str, value: &str) -> String {
    let name = format!(r#"<c r="A{number}" t="inlineStr"><is><t>{name}</t></is></c>"#);
    format!(r#"<row r="{number}">{name}<c r="B{number}"><f>1900+84</f>{value}</c></row>"#)
}

/// Returns an archive with a workbook of one sheet with these rows, which further parts may be added to.
fn workbook(rows: &str) -> ZipWriter<Cursor<Vec<u8>>> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006";
    let relation = |kind: &str, target: &str| {
        format!(
            r#"<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{office}/{kind}" Target="{target}"/></Relationships>"#
        )
    };
    let sheets = r#"<sheets><sheet name="Works" sheetId="1" r:id="rId1"/></sheets>"#;
    let parts = [
        ("[Content_Types].xml", format!(r#"<Types xmlns="{package}/content-types"/>"#)),
        ("_rels/.rels", relation("officeDocument", "xl/workbook.xml")),
        ("xl/_rels/workbook.xml.rels", relation("worksheet", "worksheets/sheet1.xml")),
        ("xl/workbook.xml", format!(r#"<workbook xmlns="{main}" xmlns:r="{office}">{sheets}</workbook>"#)),
        (
            "xl/worksheets/sheet1.xml",
            format!(r#"<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>"#),
        ),
        ("xl/styles.xml", format!(r#"<styleSheet xmlns="{main}"></styleSheet>"#)),
    ];
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive
}

#[test]
fn a_workbook_that_is_a_zip_bomb_is_refused_and_nothing_is_imported() {
    let folder = Folder::new();
    let rows = [text_row(1, ["name", "year"]), text_row(2, ["A", "1984"])].concat();
    let mut part = ZipWriter::new(Cursor::new(Vec::new()));
    part.start_file("part", SimpleFileOptions::default()).unwrap();
    part.write_all(&vec![b' '; 8 << 20]).unwrap();
    let mut part = ZipArchive::new(part.finish().unwrap()).unwrap();
    let mut bomb = workbook(&rows);
    for number in 0..17 {
        bomb.raw_copy_file_rename(part.by_index_raw(0).unwrap(), format!("xl/part{number}.xml")).unwrap();
    }
    let bytes = bomb.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 20, "17 parts of 8 MiB are packed in {} bytes", bytes.len());
    std::fs::write(folder.path("works.xlsx"), bytes).unwrap();
    let said = format!(
        "loggia: {} unpacks to more than is read (1024 MiB of sheets and pictures, 128 MiB of the rest), as ZIP bombs do; if you \
         trust it, save its sheet as CSV, and import that\n",
        folder.path("works.xlsx")
    );
    assert_eq!(folder.stopped("works.xlsx"), said);
}

#[test]
fn a_workbook_with_a_password_says_how_to_remove_it_and_nothing_is_imported() {
    let folder = Folder::new();
    // Encrypted workbooks are compound files with a part of this name.
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let start = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    std::fs::write(folder.path("works.xlsx"), [&start[..], &[0; 1_016], &name].concat()).unwrap();
    let said = format!(
        "loggia: {} is protected by a password; open it in Excel, remove the password (File, Info, Protect Workbook), and save it\n",
        folder.path("works.xlsx")
    );
    assert_eq!(folder.stopped("works.xlsx"), said);
}

#[test]
fn a_formula_is_its_stored_value_and_without_one_its_row_is_rejected() {
    let folder = Folder::new();
    let heading = text_row(1, ["name", "year"]);
    let stored = formula_row(2, "A", "<v>1984</v>");
    let rows = [heading, stored, formula_row(3, "B", ""), text_row(4, ["C", "1985"])].concat();
    let bytes = workbook(&rows).finish().unwrap().into_inner();
    let (file, mapping) = (folder.path("works.xlsx"), folder.mapping());
    std::fs::write(&file, &bytes).unwrap();

    let args = ["import", &file, "--mapping", &mapping, "--strict"];
    let strict = process::run(&LOGGIA, &folder.data(), &args).ended(1);
    let reason = "has a formula without a stored value in Works!B3; open and save the file in Excel once";
    let said = format!("loggia: nothing is imported (--strict):\n{file}, sheet Works, row 3 {reason}.\n");
    assert_eq!(strict.stderr, said);
    assert!(!folder.data().exists());

    let (answers, rejected) = folder.import("works.xlsx", &bytes, &["--mapping", &mapping]);
    assert_eq!(counts(&answers), [2, 0, 0, 1, 0, 0]);
    assert_eq!(rejected, [(3, reason.to_owned(), "B | ".to_owned())]);
    let named = |line: Value| (line["name"].clone(), line["year"].clone());
    let names: Vec<_> = folder.export().into_iter().map(named).collect();
    assert_eq!(names, [(json!("A"), json!("1984")), (json!("C"), json!("1985"))]);
}
