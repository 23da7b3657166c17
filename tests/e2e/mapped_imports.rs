//! Files in the columns of others become records by the mappings of docs/importing, and what is wrong with them is said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kit::{ProgramOutput, process};
use schemas::import::parse_line;
use schemas::record::Record;
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service};

/// Records by their ids, with details in one order.
type Records = BTreeMap<String, Record>;

fn mapping_of_shape(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/importing/{name}.toml"));
    file.canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn records(lines: &[Value]) -> Records {
    let record = |line: &Value| {
        let parsed =
            parse_line(&line.to_string(), false).unwrap_or_else(|faults| panic!("{line}: {faults:?}"));
        let mut record = parsed.record;
        record.details.sort_by(|one, other| one.label.cmp(&other.label));
        (line["id"].as_str().unwrap().to_owned(), record)
    };
    lines.iter().map(record).collect()
}

/// Returns what a shape must become, with the credits of its pictures.
fn expected(shapes: &Path, name: &str) -> Records {
    let mut records = records(&json_lines(&shapes.join(format!("{name}.expected.ndjson"))));
    for line in json_lines(&shapes.join("pictures.ndjson")) {
        let Some(record) = records.get_mut(line["id"].as_str().unwrap()).filter(|_| line["shape"] == name)
        else {
            continue;
        };
        for (picture, credited) in record.pictures.iter_mut().zip(line["pictures"].as_array().unwrap()) {
            let text = |member: &str| credited[member].as_str().map(str::to_owned);
            assert_eq!(Some(picture.source.as_str()), credited["source"].as_str());
            (picture.credit, picture.rights) = (text("credit"), text("rights"));
        }
    }
    records
}

/// Imports a shape twice by its mapping, and compares the export and the rejects with what they must be.
fn assert_imported(name: &str, source: &str) {
    let Some(shapes) = kit::shared_data().map(|shared| shared.join("shapes")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (data, rejects) = (folder.path().join("data"), folder.path().join("rejects.ndjson"));
    let (file, mapping) = (shapes.join(source), mapping_of_shape(name));
    let import = || {
        let args = ["import", file.to_str().unwrap(), "--mapping", &mapping, "--json"];
        let rejecting = ["--rejects", rejects.to_str().unwrap()];
        process::run(&LOGGIA, &data, &[&args[..], &rejecting].concat()).success().json_lines().pop().unwrap()
    };
    let counts = import();
    let exported = process::run(&LOGGIA, &data, &["export"]).json_lines();
    for line in &exported {
        assert_eq!(line["source"], name, "an id belongs to its mapping: {line}");
    }
    let expected = expected(&shapes, name);
    let exported = records(&exported);
    for (id, record) in &expected {
        assert_eq!(exported.get(id), Some(record), "{id}");
    }
    assert_eq!((exported.len(), &counts["new"]), (expected.len(), &json!(expected.len())), "{counts}");

    let rejected = json_lines(&rejects).into_iter().map(|line| {
        let reasons: Vec<&str> = line["faults"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fault| fault["reason"].as_str().unwrap())
            .collect();
        format!("{}\t{}", line["line"], reasons.join("; "))
    });
    let rejected: Vec<String> = rejected.collect();
    let listed = std::fs::read_to_string(shapes.join(format!("{name}.rejected.tsv"))).unwrap_or_default();
    let without_id = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        format!("{}\t{}", cells[0], cells[2])
    };
    assert_eq!(rejected, listed.lines().map(without_id).collect::<Vec<_>>());
    let again = import();
    let changes = ["new", "changed", "same"].map(|member| again[member].as_u64().unwrap());
    assert_eq!(changes, [0, 0, expected.len() as u64], "{again}");
}

#[test]
fn tate_becomes_what_it_should() {
    assert_imported("tate", "tate.csv");
}

#[test]
fn moma_becomes_what_it_should() {
    assert_imported("moma", "moma.csv");
}

#[test]
fn met_becomes_what_it_should() {
    assert_imported("met", "met.csv");
}

#[test]
fn cooperhewitt_becomes_what_it_should() {
    assert_imported("cooperhewitt", "cooperhewitt.json");
}

#[test]
fn cleveland_becomes_what_it_should() {
    assert_imported("cleveland", "cleveland.json");
}

#[test]
fn artic_becomes_what_it_should_from_lines_and_from_a_folder() {
    assert_imported("artic", "artic.ndjson");
    assert_imported("artic", "artic");
}

#[test]
fn omeka_s_becomes_what_it_should() {
    assert_imported("omeka-s", "omeka-s.csv");
}

#[test]
fn airtable_becomes_what_it_should() {
    assert_imported("airtable", "airtable.csv");
}

#[test]
fn notion_becomes_what_it_should() {
    assert_imported("notion", "notion.csv");
}

#[test]
fn studio_becomes_what_it_should() {
    assert_imported("studio", "studio.xlsx");
}

const MAPPING: &str = r#"name = "works"
[record]
id       = "No."
name     = "Title"
studio   = { from = "Artist", invert = true }
year     = "Date"
category = { from = "Kind", table = "kinds" }
[details]
Date = { from = "Date", unless = "year" }
[tables.kinds]
chair = "design"
[[pictures]]
source = "images/{No.}.jpg"
"#;

const TABLE: &str = "No.;Title;Artist;Date;Kind\n1;Armchair;Pellow, Agnes;1931;Chair\n2;Bowl;Vane, R.;c. 1890;Vessels\n\
                     3;Stool;;n.d.;chair\n";

struct Works {
    folder: tempfile::TempDir,
}

impl Works {
    fn new() -> Works {
        let works = Works { folder: tempfile::tempdir().unwrap() };
        works.write("works.csv", TABLE);
        works.write("works.toml", MAPPING);
        works
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(name), content).unwrap();
    }

    fn import(&self, file: &str, flags: &[&str]) -> ProgramOutput {
        let (file, mapping) = (self.path(file), self.path("works.toml"));
        process::run(&LOGGIA, &self.data(), &[&["import", &file, "--mapping", &mapping], flags].concat())
    }

    /// Imports a file that stops the import before a record is read. Returns what it says.
    fn stopped(&self, file: &str, flags: &[&str]) -> String {
        let stderr = self.import(file, flags).ended(1).stderr;
        assert!(!self.data().exists(), "nothing is imported: {stderr}");
        stderr.replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn export(&self) -> Vec<Value> {
        process::run(&LOGGIA, &self.data(), &["export"]).json_lines()
    }
}

#[test]
fn a_mapping_with_a_fault_imports_nothing() {
    let works = Works::new();
    for (from, to, said) in [
        ("studio ", "studoi ", "works.toml line 5: “studoi” is not a member; the nearest is studio."),
        ("{ from = \"Kind\"", "{ value = \"art\", from = \"Kind\"", "works.toml line 7: "),
        ("id  ", "name  ", "works.toml line 4: “name” is there twice; keep one line"),
        (
            "\"Title\"",
            "\"Titel\"",
            "works.csv has no column “Titel”; the nearest is “Title” (column 2). Nothing was imported.",
        ),
    ] {
        works.write("works.toml", MAPPING.replacen(from, to, 1));
        let stderr = works.stopped("works.csv", &[]);
        assert!(stderr.starts_with(&format!("loggia: {said}")), "{from}: {stderr}");
    }
}

#[test]
fn a_dry_run_shows_records_counts_reasons_and_what_is_left_out() {
    let works = Works::new();
    works.write("works.csv", TABLE.replace('\n', ";x\n").replacen(";x", ";Price", 1));
    let shown = works.import("works.csv", &["--dry-run"]).success();
    let (counts, rest) = shown.stdout.split_once("dry run, nothing was written: ").unwrap();
    assert_eq!(
        counts,
        "line 2: new 1\n  id: 1\n  name: Armchair\n  studio: Agnes Pellow\n  year: 1931\n  category: design\n  source: works\n\
         line 4: new 3\n  id: 3\n  name: Stool\n  category: design\n  details.Date: n.d.\n  source: works\n"
    );
    let rest = rest.replace(&format!("{}/", works.folder.path().display()), "");
    let mut lines = rest.lines();
    assert!(lines.next().unwrap().starts_with("2 new, 0 changed, 0 same, 1 rejected in "), "{rest}");
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [
            "The mapping rejects 1 record: “Vessels” is not in the table of category 1.",
            "One column is in neither the mapping nor [ignore]: Price.",
            "Pictures: 0 found, 2 of the pattern images/{No.}.jpg do not exist (for example images/1.jpg); projects keep those that they have.",
            "Category: 1 record has “Vessels”. Add them to [tables.kinds] of works.toml or give it a default.",
            "Year: 1 sure, 2 kept as text (“c. 1890” once, “n.d.” 1), 0 without.",
            "Of 2 records: all without a picture, all without a city, 1 without a year, all without a text.",
        ]
    );
    assert!(!works.data().exists());
}

#[test]
fn a_strict_import_by_a_mapping_imports_all_or_nothing() {
    let works = Works::new();
    let said = "loggia: nothing is imported (--strict):\nThe mapping rejects 1 record: “Vessels” is not in the table of category 1.\n";
    assert_eq!(works.stopped("works.csv", &["--strict"]), said);
    // A path that no record has, and a line that is no record.
    let line = json!({"No.": 1, "Title": "Armchair", "Artist": "A", "Date": "1931"});
    works.write("works.ndjson", format!("{line}\n{{\n"));
    works.write(
        "works.toml",
        MAPPING.replace(
            "from = \"Kind\", table = \"kinds\"",
            "from = \"kinds[0].name\", default = \"art\", table = \"kinds\"",
        ),
    );
    let stderr = works.stopped("works.ndjson", &["--strict"]);
    let faults = "The path kinds[0].name is in no record.\n";
    assert!(stderr.contains("works.ndjson line 2 ") && stderr.ends_with(faults), "{stderr}");
    // Without --strict the record is imported, and the sentences follow the counts.
    let imported = works.import("works.ndjson", &[]).success();
    assert!(imported.stdout.contains("1 new, 0 changed, 0 same, 1 rejected"), "{imported}");
    assert!(imported.stdout.contains("The path kinds[0].name is in no record."), "{imported}");
}

#[test]
fn rejected_records_are_imported_again_by_the_corrected_mapping() {
    let works = Works::new();
    let rejects = works.path("rejects.ndjson");
    let counts =
        works.import("works.csv", &["--rejects", &rejects, "--json"]).success().json_lines().pop().unwrap();
    assert_eq!((&counts["new"], &counts["rejected"]), (&json!(2), &json!(1)));
    works.write("works.toml", MAPPING.replace("chair =", "vessels = \"art\"\nchair ="));
    let counts = works.import("rejects.ndjson", &["--json"]).success().json_lines().pop().unwrap();
    assert_eq!((&counts["new"], &counts["rejected"]), (&json!(1), &json!(0)), "{counts}");
    let names: Vec<Value> = works.export().into_iter().map(|line| line["name"].clone()).collect();
    assert_eq!(names, ["Armchair", "Bowl", "Stool"]);
}

#[test]
fn what_the_mapping_does_not_fill_stays() {
    let works = Works::new();
    works.import("works.csv", &[]).success();
    process::run(&LOGGIA, &works.data(), &["curate", "revise", "1", "--set", "city=Ulm"]).success();
    works.write("works.csv", TABLE.replace("1931", "").replace("Armchair", "Armchair II"));
    works.import("works.csv", &[]).success();
    let armchair = &works.export()[0];
    let members = ["name", "city", "year"].map(|member| armchair[member].as_str());
    assert_eq!(members, [Some("Armchair II"), Some("Ulm"), None], "{armchair}");
}

#[test]
fn a_column_that_is_gone_since_the_last_file_is_named() {
    let works = Works::new();
    process::run(&LOGGIA, &works.data(), &["mappings", "add", &works.path("works.toml")]).success();
    let import = |file: &str| {
        process::run(&LOGGIA, &works.data(), &["import", &works.path(file), "--mapping", "works"])
    };
    import("works.csv").success();
    works.write("november.csv", TABLE.replace("Artist", "Artists"));
    let stderr = import("november.csv").ended(1).stderr;
    assert!(stderr.starts_with("loggia: The column “Artist” was in the file of "), "{stderr}");
    let rest = " and is gone; the nearest is “Artists” (column 3). Nothing was imported.\n";
    assert!(stderr.ends_with(rest), "{stderr}");
}

#[test]
fn a_folder_with_a_named_pipe_is_read_without_it() {
    let works = Works::new();
    std::fs::create_dir(works.path("records")).unwrap();
    works.write("records/a.json", json!({"name": "A", "category": "art"}).to_string());
    let pipe = std::process::Command::new("mkfifo").arg(works.path("records/b.json")).status().unwrap();
    assert!(pipe.success());
    let records = works.path("records");
    let output = process::run(&LOGGIA, &works.data(), &["import", &records]).success();
    let said = format!(
        "{records}/b.json: the record is a named pipe, which is not read; move it out of the folder\n"
    );
    assert!(output.stderr.contains(&said), "{output}");
    assert_eq!(works.export().len(), 1);
}

#[test]
fn what_is_no_workbook_says_what_to_do() {
    let works = Works::new();
    works.write("works.xlsx", "not a workbook");
    let stderr = works.stopped("works.xlsx", &[]);
    assert!(stderr.starts_with("loggia: works.xlsx is not a workbook of Excel, or damaged"), "{stderr}");
    works.write("locked.xlsx", [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    assert!(works.stopped("locked.xlsx", &[]).starts_with("loggia: locked.xlsx is "));
}

#[test]
fn rows_of_a_workbook_without_a_mapping_are_named_by_sheet_and_row() {
    let Some(shapes) = kit::shared_data().map(|shared| shared.join("shapes")) else { return };
    let works = Works::new();
    let file = shapes.join("studio.xlsx");
    let columns = works.path("columns.json");
    let ignored: BTreeMap<&str, &str> = [
        ("Title", "name"),
        ("No.", "id"),
        ("Place", "city"),
        ("Country", ""),
        ("Year", "details.Date"),
        ("Kind", "details.Kind"),
        ("Client", "details.Client"),
        ("Short text", "intro"),
        ("Materials", "taste.material"),
        ("Finished on", ""),
        ("Size m2", ""),
        ("Photo", ""),
        ("Photo ©", ""),
        ("", ""),
    ]
    .into();
    works.write("columns.json", json!(ignored).to_string());
    let args =
        ["import", file.to_str().unwrap(), "--columns", &columns, "--sheet", "Works", "--dry-run", "--json"];
    let output = process::run(&LOGGIA, &works.data(), &args);
    // It has no column for the category, so each row is rejected, with its place.
    let said = "sheet Works, row 4: category is absent";
    assert!(output.stderr.contains(said), "{output}");
}

#[test]
fn a_heading_of_the_column_map_that_is_not_there_is_an_error() {
    let works = Works::new();
    works.write("columns.json", r#"{"Titel": "name"}"#);
    let (file, columns) = (works.path("works.csv"), works.path("columns.json"));
    let stderr =
        process::run(&LOGGIA, &works.data(), &["import", &file, "--columns", &columns]).ended(1).stderr;
    let said = "has no column “Titel”; the nearest is “Title” (column 2). Correct the keys of --columns.\n";
    assert!(stderr.ends_with(said) && !works.data().exists(), "{stderr}");
}

#[test]
fn a_picture_that_cannot_be_used_leaves_its_record() {
    let works = Works::new();
    let pictures = ["http://a.example/a.jpg", "/b.jpg", "c.jpg"];
    works.write("in.ndjson", json!({"name": "A", "category": "art", "pictures": pictures}).to_string());
    let dry =
        process::run(&LOGGIA, &works.data(), &["import", &works.path("in.ndjson"), "--dry-run"]).success();
    let absent = "Pictures: 1 picture file does not exist (for example c.jpg); they are looked for in the folder of the imported file.";
    assert!(dry.stdout.contains(absent), "{dry}");
    let output = process::run(&LOGGIA, &works.data(), &["import", &works.path("in.ndjson")]).success();
    let reason = "line 1: the picture /b.jpg is left out: it is not below the folder of the file";
    assert!(output.stderr.contains(reason), "{output}");
    assert!(
        output.stdout.contains("1 new, 0 changed, 0 same, 0 rejected; pictures: 2 not attached"),
        "{output}"
    );
    let exported = works.export();
    let pictures: Vec<&str> = exported[0]["pictures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|picture| picture["source"].as_str().or(picture.as_str()).unwrap())
        .collect();
    assert_eq!(pictures, ["https://a.example/a.jpg", "c.jpg"]);
}

#[test]
fn without_the_service_it_says_when_readers_see_it() {
    let works = Works::new();
    let stderr = works.import("works.csv", &[]).success().stderr;
    let said = format!(
        "The service is not running: readers see it once `loggia up --data {}` runs.\n",
        works.data().display()
    );
    let lacking =
        "Of 2 records: all without a picture, all without a city, 1 without a year, all without a text.\n";
    assert!(stderr.ends_with(&format!("{said}{lacking}")), "{stderr}");
    assert!(!works.import("works.csv", &["--no-wait"]).success().stderr.contains("readers"));
}

#[tokio::test]
async fn it_waits_until_readers_see_it_and_names_the_address() {
    let Some(service) = Service::empty().await else { return };
    let works = Works::new();
    let output =
        service.run(&["import", &works.path("works.csv"), "--mapping", &works.path("works.toml")]).success();
    assert!(output.stderr.contains(&format!("Readers see it: {}/\n", service.base())), "{output}");
    let found = service.http.get("/v1/search?q=armchair").await.json();
    assert_eq!(found["results"][0]["name"], "Armchair", "{found}");
}
