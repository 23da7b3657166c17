//! The command line: importing and exporting files, with and without a service.

use std::path::Path;

use kit::process;
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, json as run_json};

fn lines() -> Vec<Value> {
    let mut lines: Vec<Value> = (0..40)
        .map(|n| {
            let category = ["architecture", "ART", "design"][n % 3];
            json!({"name": format!("House {n}"), "category": category, "year": 1990 + n,
                "details": [{"label": "Site area", "value": n}], "intro": "Zwei Räume\nund eine Treppe."})
        })
        .collect();
    lines[3]["vectors"] = json!({"visual": [0.1, -2.5e-7, 3.0], "semantic": [1.0]});
    lines[3]["vector_model"] = "m1".into();
    lines[4]["pictures"] =
        json!([{"path": "pictures/a.webp", "alt": "A stair"}, "https://example.org/b.jpg"]);
    lines
}

fn write_lines(path: &Path, lines: &[Value]) {
    std::fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

fn export(folder: &Path) -> String {
    process::run(&LOGGIA, folder, &["export"]).success().stdout
}

#[test]
fn export_import_export_is_byte_identical() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = first.path().join("in.ndjson");
    write_lines(&file, &lines());
    let data = first.path().join("data");
    let counts = run_json(&data, &["import", file.to_str().unwrap()]).pop().unwrap();
    assert_eq!((&counts["new"], &counts["rejected"]), (&json!(40), &json!(0)));
    run_json(&data, &["curate", "rename", "house-7", "the-seventh"]);
    run_json(&data, &["curate", "withdraw", "house-9", "--reason", "sold"]);
    let exported = export(&data);
    assert_eq!(exported.lines().count(), 39);
    let out = first.path().join("out.ndjson");
    std::fs::write(&out, &exported).unwrap();
    run_json(second.path(), &["import", out.to_str().unwrap()]);
    assert_eq!(export(second.path()), exported);
    let again = run_json(second.path(), &["import", out.to_str().unwrap()]).pop().unwrap();
    assert_eq!((&again["same"], &again["new"], &again["changed"]), (&json!(39), &json!(0), &json!(0)));
}

#[test]
fn an_export_includes_pictures_and_stored_ones_need_no_file() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (source, copy) = (first.path().join("source"), first.path().join("copy"));
    std::fs::create_dir_all(source.join("a/b")).unwrap();
    for (name, shade) in [("a/b/one.png", 40), ("two.png", 200)] {
        image::GrayImage::from_pixel(64, 48, image::Luma([shade])).save(source.join(name)).unwrap();
    }
    let lines = [
        json!({"name": "One", "category": "art", "pictures": ["a/b/one.png", "two.png"]}),
        json!({"name": "Two", "category": "art", "pictures": [{"source": "two.png", "alt": "Grey"}]}),
    ];
    write_lines(&source.join("in.ndjson"), &lines);
    let data = first.path().join("data");
    let counts = run_json(&data, &["import", source.join("in.ndjson").to_str().unwrap()]).pop().unwrap();
    assert_eq!((&counts["new"], &counts["pictures"]), (&json!(2), &json!(3)));

    let output = process::run(&LOGGIA, &data, &["export", "--pictures", copy.to_str().unwrap()]).success();
    assert_eq!(output.stdout, export(&data));
    for name in ["a/b/one.png", "two.png"] {
        assert_eq!(
            std::fs::read(copy.join(name)).unwrap(),
            std::fs::read(source.join(name)).unwrap(),
            "{name}"
        );
    }
    std::fs::write(copy.join("out.ndjson"), &output.stdout).unwrap();
    let counts =
        run_json(second.path(), &["import", copy.join("out.ndjson").to_str().unwrap()]).pop().unwrap();
    assert_eq!(
        (&counts["new"], &counts["pictures"], &counts["pictures_refused"]),
        (&json!(2), &json!(3), &json!(0))
    );

    // The same records from a folder without the files.
    let bare = first.path().join("bare.ndjson");
    std::fs::write(&bare, &output.stdout).unwrap();
    let counts = run_json(&data, &["import", bare.to_str().unwrap()]).pop().unwrap();
    assert_eq!((&counts["same"], &counts["pictures_refused"]), (&json!(2), &json!(0)));
    // A picture that is not stored is missing.
    let more = json!({"name": "Two", "category": "art", "pictures": [{"source": "two.png", "alt": "Grey"}, "three.png"]});
    write_lines(&bare, &[more]);
    let counts = run_json(&data, &["import", bare.to_str().unwrap()]).pop().unwrap();
    let pictures = ["pictures_without_file", "pictures_refused"].map(|count| &counts[count]);
    assert_eq!((&counts["changed"], pictures), (&json!(1), [&json!(1), &json!(1)]));
    // If another picture has the name, that is reported, and the other stays.
    std::fs::write(copy.join("two.png"), "another").unwrap();
    let output = process::run(&LOGGIA, second.path(), &["export", "--pictures", copy.to_str().unwrap()]);
    assert!(!output.status.success() && output.stderr.contains("1 pictures written, 2 not"), "{output}");
    assert_eq!(std::fs::read(copy.join("two.png")).unwrap(), b"another");
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("in.ndjson"), folder.path().join("data"));
    write_lines(&file, &lines()[..2]);
    run_json(&data, &["import", file.to_str().unwrap()]);
    let mut changed = lines()[..3].to_vec();
    changed[0]["intro"] = "Basel.".into();
    write_lines(&file, &changed);
    let shown = run_json(&data, &["import", file.to_str().unwrap(), "--dry-run"]);
    assert_eq!(shown[0], json!({"number": 1, "result": "changed", "slug": "house-0", "members": ["intro"]}));
    assert_eq!(shown[1], json!({"number": 3, "result": "new", "slug": "house-2"}));
    assert_eq!(
        (&shown[2]["new"], &shown[2]["changed"], &shown[2]["same"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(export(&data).lines().count(), 2);
}

#[test]
fn all_faults_of_a_line_are_reported_and_other_lines_imported() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("in.ndjson"), folder.path().join("data"));
    let rejects = folder.path().join("rejects.ndjson");
    let text = "{\"name\":\"A\",\"category\":\"art\"}\n\nnot json\n{\"category\":\"film\",\"published\":\"2021-02-30\"}\n\
                {\"name\":\"B\",\"category\":\"art\"}\n";
    std::fs::write(&file, text).unwrap();
    let args = ["import", file.to_str().unwrap(), "--rejects", rejects.to_str().unwrap()];
    let counts = run_json(&data, &args).pop().unwrap();
    assert_eq!((&counts["new"], &counts["rejected"]), (&json!(2), &json!(2)));
    let rejected: Vec<Value> = std::fs::read_to_string(&rejects)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!((&rejected[0]["line"], &rejected[0]["record"]), (&json!(3), &json!("not json")));
    let fields: Vec<&str> =
        rejected[1]["faults"].as_array().unwrap().iter().map(|f| f["field"].as_str().unwrap()).collect();
    assert_eq!((&rejected[1]["line"], fields), (&json!(4), vec!["name", "category", "published"]));

    let strict =
        process::run(&LOGGIA, &folder.path().join("other"), &["import", file.to_str().unwrap(), "--strict"]);
    let stderr = strict.ended(1).stderr;
    assert!(stderr.contains("line 3: the line is not JSON"), "{stderr}");
}

#[test]
fn windows_1252_texts_are_repaired_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("in.ndjson"), folder.path().join("data"));
    let text = "{\"name\":\"Dealer\u{92}s House\",\"category\":\"art\",\"intro\":\"1\\u00962\u{85}\"}\n\
                {\"name\":\"B\",\"category\":\"art\"}\n{\"name\":\"\u{81}\",\"category\":\"art\"}\n";
    std::fs::write(&file, text).unwrap();
    let rejects = folder.path().join("rejects.ndjson");
    let import = |more: &[&str]| {
        let args = ["import", file.to_str().unwrap(), "--rejects", rejects.to_str().unwrap()];
        run_json(&data, &[&args[..], more].concat()).pop().unwrap()
    };
    let refused = || -> Vec<(u64, String)> {
        let lines = std::fs::read_to_string(&rejects).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .flat_map(|line| {
                let number = line["line"].as_u64().unwrap();
                let faults = line["faults"].as_array().unwrap().clone();
                faults.into_iter().map(move |fault| (number, fault["reason"].as_str().unwrap().to_owned()))
            })
            .collect()
    };
    let fault = |code: &str, at: usize| {
        format!("has the control character U+{code} at character {at}; only newline and tab are allowed")
    };
    let counts = import(&[]);
    assert_eq!((&counts["new"], counts.get("repaired_records")), (&json!(1), None));
    assert_eq!(refused(), [(1, fault("0092", 7)), (1, fault("0096", 2)), (3, fault("0081", 1))]);
    let counts = import(&["--repair-text"]);
    let outcome =
        ["new", "same", "rejected", "repaired_records", "repaired_characters"].map(|name| &counts[name]);
    assert_eq!(outcome, [&json!(1), &json!(1), &json!(1), &json!(1), &json!(3)]);
    assert_eq!(refused(), [(3, fault("0081", 1))], "Windows-1252 has nothing there");
    let exported: Value = serde_json::from_str(export(&data).lines().last().unwrap()).unwrap();
    assert_eq!((&exported["name"], &exported["intro"]), (&json!("Dealer’s House"), &json!("1–2…")));
}

#[test]
fn a_csv_file_is_imported_by_its_headers() {
    let folder = tempfile::tempdir().unwrap();
    let (file, columns) = (folder.path().join("in.csv"), folder.path().join("columns.json"));
    std::fs::write(&file, "Titel;category;taste.material;details.Auflage\nHaus;Art;Eiche;12\n").unwrap();
    std::fs::write(&columns, r#"{"Titel": "name"}"#).unwrap();
    let data = folder.path().join("data");
    run_json(&data, &["import", file.to_str().unwrap(), "--columns", columns.to_str().unwrap()]);
    assert_eq!(
        export(&data),
        concat!(
            r#"{"slug":"haus","name":"Haus","category":"art","details":[{"label":"Auflage","value":"12"}],"#,
            r#""taste":{"material":"Eiche"}}"#,
            "\n"
        )
    );
}

#[tokio::test]
async fn backup_and_restore_preserve_the_whole_catalog() {
    let Some(service) = Service::empty().await else { return };
    service.import(&lines()).await;
    let before = export(service.folder.path());
    let (copy, data) = (service.folder.path().join("copy"), tempfile::tempdir().unwrap());
    for (own, why) in [("", "is there already"), ("store/copy", ", which Loggia writes to")] {
        let refused = service.run(&["backup", service.folder.path().join(own).to_str().unwrap()]).ended(1);
        assert!(refused.stderr.contains(why), "{own}: {refused}");
    }
    service.json(&["backup", copy.to_str().unwrap()]);
    let restored = data.path().join("data");
    run_json(&restored, &["restore", copy.to_str().unwrap()]);
    assert_eq!(export(&restored), before);
    let verified = run_json(&restored, &["events", "verify"]).pop().unwrap();
    assert_eq!(verified["events"], 41, "forty selections and the vectors of one: {verified}");
    let onto = process::run(&LOGGIA, &restored, &["restore", copy.to_str().unwrap()]).ended(1);
    assert!(onto.stderr.contains("is not empty"), "{onto:?}");
}

#[tokio::test]
async fn the_log_can_be_followed_and_printed() {
    let Some(service) = Service::empty().await else { return };
    service.import(&lines()[..3]).await;
    let tail = service.json(&["events", "tail", "--from", "2", "--no-follow"]);
    let positions: Vec<u64> = tail.iter().map(|event| event["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, [2, 3]);
    let shown = service.json(&["events", "show", "2"]).pop().unwrap();
    assert_eq!(shown, tail[0]);
    assert_eq!(shown["data"]["slug"], "house-1");
    let missing = service.run(&["events", "show", "9"]).ended(1);
    assert_eq!(missing.stderr.trim(), "there is no event at 9; the log goes from 1 to 3");
}

#[test]
fn settings_are_printed_with_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let shown =
        run_json(folder.path(), &["config", "--nats-url", "nats://me:secret@127.0.0.1:1"]).pop().unwrap();
    let nats = shown.as_array().unwrap().iter().find(|s| s["name"] == "nats_url").unwrap();
    assert_eq!((&nats["value"], &nats["source"]), (&json!("nats://***@127.0.0.1:1"), &json!("flag")));
    process::run(&LOGGIA, folder.path(), &["config", "--listen", "here"]).ended(2);
}
