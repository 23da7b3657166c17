//! Ids of sources, mappings that are kept with the catalog, and records that are gone from the next file.

use std::path::{Path, PathBuf};

use kit::{ProgramOutput, process};
use serde_json::{Value, json};

use crate::service::LOGGIA;

/// A folder with a data folder and the mappings `tate` and `moma`, of the same columns.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        for name in ["tate", "moma"] {
            place.write(&format!("{name}.toml"), &mapping(name));
        }
        place
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> ProgramOutput {
        process::run(&LOGGIA, &self.data(), args)
    }

    /// Imports records of these numbers and names with a mapping.
    fn import(&self, mapping: &str, records: &[(u32, &str)], flags: &[&str]) -> ProgramOutput {
        let rows: String = records.iter().map(|(number, name)| format!("{number},{name}\n")).collect();
        self.write("works.csv", &format!("No.,Title\n{rows}"));
        let (file, mapping) = (self.path("works.csv"), self.path(&format!("{mapping}.toml")));
        self.run(&[&["import", &file, "--mapping", &mapping, "--no-wait"], flags].concat())
    }

    /// Returns slug, id and source of each project.
    fn ids(&self) -> Vec<String> {
        let lines = self.run(&["export"]).success().json_lines().into_iter();
        let texts =
            |line: &Value| ["slug", "id", "source"].map(|name| line[name].as_str().unwrap_or("-").to_owned());
        lines.map(|line| texts(&line).join(" ")).collect()
    }
}

fn mapping(name: &str) -> String {
    format!("name = \"{name}\"\n[record]\nid = \"No.\"\nname = \"Title\"\ncategory = {{ value = \"art\" }}\n")
}

fn counts(output: ProgramOutput) -> [u64; 3] {
    let last = output.success().json_lines().pop().unwrap();
    ["new", "changed", "same"].map(|name| last[name].as_u64().unwrap())
}

#[test]
fn the_same_number_from_two_sources_is_two_projects_here_and_after_a_move() {
    let place = Place::new();
    let json = &["--json"];
    assert_eq!(counts(place.import("tate", &[(7, "Nets"), (8, "Sea")], json)), [2, 0, 0]);
    assert_eq!(counts(place.import("moma", &[(7, "Chair")], json)), [1, 0, 0]);
    assert_eq!(place.ids(), ["7 7 tate", "7-moma 7 moma", "8 8 tate"]);
    place.run(&["curate", "rename", "7", "nets"]).success();
    place.run(&["curate", "revise", "nets", "--set", "name=Drying nets"]).success();
    assert_eq!(counts(place.import("tate", &[(7, "Nets"), (8, "Sea")], json)), [0, 1, 1]);
    assert_eq!(counts(place.import("moma", &[(7, "Chair")], json)), [0, 0, 1]);
    let ids = ["7-moma 7 moma", "8 8 tate", "nets 7 tate"];
    assert_eq!(place.ids(), ids);

    let exported = place.run(&["export"]).success().stdout;
    let elsewhere = Place::new();
    elsewhere.write("catalog.ndjson", &exported);
    elsewhere.run(&["import", &elsewhere.path("catalog.ndjson"), "--no-wait"]).success();
    assert_eq!(elsewhere.run(&["export"]).success().stdout, exported, "byte for byte");
    assert_eq!(counts(elsewhere.import("tate", &[(7, "Nets"), (9, "Bay")], json)), [1, 0, 1]);
    assert_eq!(elsewhere.ids(), ["7-moma 7 moma", "8 8 tate", "9 9 tate", "nets 7 tate"]);
    elsewhere.run(&["events", "verify"]).success();
}

#[test]
fn an_import_without_a_mapping_has_no_source_until_one_comes_with_the_same_name() {
    let place = Place::new();
    let lines = [
        json!({"id": 7, "name": "Nets", "category": "art"}),
        json!({"id": 8, "name": "Sea", "category": "art"}),
    ];
    place.write("plain.ndjson", &lines.map(|line| format!("{line}\n")).concat());
    place.run(&["import", &place.path("plain.ndjson"), "--no-wait"]).success();
    assert_eq!(counts(place.import("tate", &[(7, "Nets"), (8, "Chair")], &["--json"])), [1, 1, 0]);
    assert_eq!(place.ids(), ["7 7 tate", "8 8 -", "8-tate 8 tate"]);
}

#[test]
fn mappings_are_kept_listed_shown_replaced_and_removed() {
    let place = Place::new();
    let said = |args: &[&str]| {
        let output = place.run(args);
        (output.status.code().unwrap(), (output.stdout + &output.stderr).replace(&place.path(""), ""))
    };
    let nothing = "no mapping is kept; add one with loggia mappings add FILE.toml\n";
    assert_eq!(said(&["mappings", "list"]), (0, nothing.into()));
    assert!(!place.data().exists(), "nothing was made");
    let add = ["mappings", "add", &place.path("tate.toml")];
    let kept = "the mapping tate is kept; import with it: loggia import FILE --mapping tate\n";
    assert_eq!(said(&add), (0, kept.into()));
    assert_eq!(said(&add), (0, "the mapping tate is kept already\n".into()));
    place.write("tate.toml", &format!("{}# now\n", mapping("tate")));
    assert_eq!(said(&add), (0, "the mapping tate replaces the one that was kept\n".into()));
    assert_eq!(said(&["mappings", "show", "tate"]), (0, format!("{}# now\n", mapping("tate"))));
    let listed = place.run(&["mappings", "list", "--json"]).success().json();
    assert_eq!((&listed["name"], &listed["last_file"]), (&json!("tate"), &Value::Null));
    for command in ["show", "remove"] {
        let missing = "no mapping “moma” is kept; the kept mapping is tate\n";
        assert_eq!(said(&["mappings", command, "moma"]), (1, missing.into()));
    }
    let removed = "the mapping tate is removed; what was imported with it stays\n";
    assert_eq!(said(&["mappings", "remove", "tate"]), (0, removed.into()));
    assert_eq!(said(&["mappings", "list"]), (0, nothing.into()));
    let unknown = "loggia: there is no mapping tate, neither kept nor as a file here; no mapping is kept; add one with loggia \
                   mappings add FILE.toml\n";
    assert_eq!(said(&["import", &place.path("tate.toml"), "--mapping", "tate"]), (1, unknown.into()));
}

#[test]
fn a_mapping_without_a_name_or_with_a_fault_is_not_kept() {
    let place = Place::new();
    let refused = |text: &str| {
        place.write("Works 2026.toml", text);
        let stderr = place.run(&["mappings", "add", &place.path("Works 2026.toml")]).ended(1).stderr;
        assert!(!place.data().exists());
        stderr.replace(&place.path(""), "")
    };
    let nameless = mapping("x").replace("name = \"x\"\n", "");
    assert_eq!(
        refused(&nameless),
        "loggia: Works 2026.toml has no name; begin it with a line such as name = \"works-2026\"\n"
    );
    let wrong = "loggia: Works 2026.toml line 1: “My Works” is not a name of a mapping; use up to 60 of a-z, 0-9, - and _.\n";
    assert_eq!(refused(&mapping("My Works")), wrong);
    let absent = place.run(&["mappings", "add", "/nowhere/a.toml"]).ended(1).stderr;
    assert!(absent.starts_with("loggia: the mapping /nowhere/a.toml cannot be read"), "{absent}");
}

#[test]
fn kept_mappings_know_their_last_file_and_are_in_a_backup() {
    let place = Place::new();
    place.run(&["mappings", "add", &place.path("tate.toml")]).success();
    place.write("october.csv", "No.,Title\n7,Nets\n");
    let import = |file: &str, flags: &[&str]| {
        place.run(&[&["import", &place.path(file), "--mapping", "tate", "--no-wait"], flags].concat())
    };
    import("october.csv", &["--dry-run"]).success();
    let last = || place.run(&["mappings", "list", "--json"]).success().json()["last_file"].clone();
    assert_eq!(last(), Value::Null, "a dry run is no import");
    import("october.csv", &[]).success();
    assert_eq!((&last()["name"], &last()["columns"]), (&json!("october.csv"), &json!(["No.", "Title"])));
    let before = place.run(&["mappings", "list", "--json"]).success().stdout;

    let (backup, restored) = (place.path("backup"), place.folder.path().join("restored"));
    place.run(&["backup", &backup]).success();
    process::run(&LOGGIA, &restored, &["backup", "verify", &backup]).success();
    process::run(&LOGGIA, &restored, &["restore", &backup]).success();
    assert_eq!(process::run(&LOGGIA, &restored, &["mappings", "list", "--json"]).success().stdout, before);
    let mappings = Path::new(&backup).join("mappings.json");
    std::fs::write(&mappings, "[]").unwrap();
    let damaged = process::run(&LOGGIA, &restored, &["backup", "verify", &backup]).ended(1);
    assert!(damaged.stderr.contains("mappings.json"), "{damaged}");
}

/// Records with the numbers from 1.
fn numbered(count: u32) -> Vec<(u32, &'static str)> {
    (1..=count).map(|number| (number, "Nets")).collect()
}

#[test]
fn projects_that_are_gone_from_the_file_are_listed_and_withdrawn_on_request() {
    let place = Place::new();
    place.import("moma", &[(1, "Chair"), (99, "Stool")], &[]).success();
    place.import("tate", &numbered(40), &[]).success();
    place.run(&["curate", "withdraw", "40", "--reason", "lost"]).success();
    place.run(&["curate", "rename", "39", "nets"]).success();

    let listed = place.import("tate", &numbered(38), &[]).success();
    assert!(listed.stdout.starts_with("gone: 39, “Nets” (nets)\n0 new, 0 changed, 38 same"), "{listed}");
    let sentence = "1 project of tate is not in works.csv any more; withdraw it with --withdraw-missing --reason 'TEXT'.\n";
    assert!(listed.stdout.ends_with(sentence), "{listed}");

    let withdraw = ["--withdraw-missing", "--reason", "Given back", "--json"];
    let dry = [&withdraw[..], &["--dry-run"]].concat();
    let lines = place.import("tate", &numbered(38), &dry).success().json_lines();
    let [.., gone, counts] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(*gone, json!({"missing": {"id": "39", "slug": "nets", "name": "Nets"}}));
    assert_eq!(counts["missing"], json!({"of": 39, "missing": 1, "withdrawn": 0}));
    let done = place.import("tate", &numbered(38), &withdraw).success().json_lines().pop().unwrap();
    assert_eq!(done["missing"], json!({"of": 39, "missing": 1, "withdrawn": 1}));
    let history = place.run(&["curate", "history", "nets"]).success().stdout;
    assert!(history.contains("Given back"), "{history}");

    // Two of 38 are more than 5 %.
    let refused = place.import("tate", &numbered(36), &withdraw[..3]).ended(1);
    let reason = "2 of 38 projects of tate are not in works.csv any more, which is more than 5 %; nothing was withdrawn: if \
                  works.csv has all records of tate, add --yes\n";
    assert!(refused.stderr.ends_with(reason), "{refused}");
    assert_eq!(place.ids().len(), 40, "both sources");
    let yes = [&withdraw[..], &["--yes"]].concat();
    let done = place.import("tate", &numbered(36), &yes).success().json_lines().pop().unwrap();
    assert_eq!(done["missing"], json!({"of": 38, "missing": 2, "withdrawn": 2}));
    assert_eq!(
        place.ids().iter().filter(|id| id.ends_with(" moma")).count(),
        2,
        "those of another source stay"
    );

    // What is withdrawn comes back only when it is restored.
    let back = place.import("tate", &numbered(37), &["--json"]).success().json_lines().pop().unwrap();
    assert_eq!((&back["same"], &back["rejected"]), (&json!(36), &json!(1)));
}

#[test]
fn nothing_is_withdrawn_for_a_file_that_may_lack_records() {
    let place = Place::new();
    place.import("tate", &numbered(40), &[]).success();
    let withdraw = ["--withdraw-missing", "--reason", "sold"];
    let import = |text: &str, file: &str| {
        place.write(file, text);
        let tate = place.path("tate.toml");
        place.run(&[&["import", &place.path(file), "--mapping", &tate, "--no-wait"], &withdraw[..]].concat())
    };
    // A record without an id may be one of those that seem to be gone.
    let rows: String = (1..40).map(|number| format!("{number},Nets\n")).collect();
    let refused = import(&format!("No.,Title\n{rows},Sails\n"), "works.csv").ended(1);
    let reason = "1 record of works.csv has no id or cannot be read, so that its project may seem to be gone; nothing was \
                  withdrawn: correct it, or add --yes\n";
    assert!(refused.stderr.ends_with(reason), "{refused}");
    // Rejected records are in the file nevertheless.
    let rejected = import(&format!("No.,Title\n{rows}40,\n"), "works.csv").success();
    assert!(!rejected.stdout.contains("gone: "), "{rejected}");
    // A file of rejected records has only some.
    let rejects = place.path("rejects.ndjson");
    place.import("tate", &[(1, "Nets"), (2, "")], &["--rejects", &rejects]).success();
    let text = std::fs::read_to_string(&rejects).unwrap();
    let some = import(&text, "rejects.ndjson").ended(1);
    let reason =
        "rejects.ndjson has only records that were rejected, not all of tate; nothing was withdrawn\n";
    assert!(some.stderr.ends_with(reason), "{some}");
    assert_eq!(place.ids().len(), 41, "the 40 and the one without an id");
}
