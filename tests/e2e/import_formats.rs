//! Files as spreadsheets and other programs write them: every line is imported as written, or is among the rejects.

use std::path::PathBuf;

use image::{ImageFormat, Rgb, RgbImage};
use kit::process;
use serde_json::{Value, json};

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
    for (text, changes) in [
        (first, [1, 0, 0, 0, 0, 0]),
        (sheet(decomposed, "240"), [0, 0, 1, 0, 0, 0]),
        (sheet(decomposed, "240"), [0, 0, 1, 0, 0, 0]),
        (sheet(composed, "240"), [0, 0, 1, 0, 0, 0]),
    ] {
        let (answers, _) = folder.import("in.csv", text.as_bytes(), &[]);
        assert_eq!(counts(&answers), changes, "{text:?}");
        let pictures = ["pictures", "pictures_refused"].map(|name| answers.last().unwrap()[name].as_u64());
        assert_eq!(pictures, [Some(1), Some(0)], "{text:?}");
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
