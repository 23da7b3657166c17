//! The report of an import matches what it did.

use std::path::Path;
use std::process::Stdio;

use kit::{ProgramOutput, process};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service};

/// Runs an import, and returns its exit status, its counts and its messages.
fn import(folder: &Path, args: &[&str]) -> (Option<i32>, Value, String) {
    report(process::run(&LOGGIA, folder, &[&["import", "--json"], args].concat()))
}

fn report(output: ProgramOutput) -> (Option<i32>, Value, String) {
    let last = output.json_lines().pop().unwrap_or_else(|| panic!("{output}"));
    (output.status.code(), last, output.stderr)
}

fn exported(folder: &Path) -> Vec<Value> {
    process::run(&LOGGIA, folder, &["export"]).json_lines()
}

fn house(n: usize) -> String {
    format!("{{\"slug\":\"house-{n:04}\",\"name\":\"House {n}\",\"category\":\"art\"}}")
}

/// Returns the counts of an import by name.
fn of<const N: usize>(counts: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| counts[name].as_u64().unwrap_or_else(|| panic!("{name} in {counts}")))
}

const COUNTS: [&str; 4] = ["new", "same", "rejected", "position"];

#[test]
fn a_strict_import_stops_at_the_first_fault_and_reports_it() {
    let folder = tempfile::tempdir().unwrap();
    let (file, rejects) = (folder.path().join("in.ndjson"), folder.path().join("rejects.ndjson"));
    // The second batch has the first fault in its middle, and more faults after it.
    let mut lines: Vec<String> = (1..=2_500).map(house).collect();
    for fault in [2_194, 2_300] {
        lines[fault - 1] = "{\"name\":\"Film\",\"category\":\"film\"}".into();
    }
    std::fs::write(&file, lines.join("\n")).unwrap();
    let (file, data) = (file.to_str().unwrap(), folder.path().join("data"));
    let (status, counts, stderr) = import(&data, &[file, "--strict", "--rejects", rejects.to_str().unwrap()]);
    assert_eq!((status, of(&counts, COUNTS)), (Some(1), [2_193, 0, 1, 2_193]), "{stderr}");
    let reason = "stopped before line 2194, which is rejected (--strict); the lines before it are imported, and none after it";
    assert_eq!(stderr.trim(), reason);
    assert_eq!(counts["failure"], json!({"kind": "failed", "detail": reason}));
    assert_eq!(exported(&data).len(), 2_193);
    let rejected = std::fs::read_to_string(&rejects).unwrap();
    assert!(rejected.starts_with("{\"line\":2194,") && rejected.lines().count() == 1, "{rejected}");

    // A malformed row, and a line that contradicts an earlier one, count as faults themselves.
    for (bad, other) in [
        (b"{\"name\":\"Z\xfcrich\"}".to_vec(), "not-utf-8"),
        (house(1).replace("House 1", "Another").into_bytes(), "contradiction"),
    ] {
        let mut bytes = lines[..4].join("\n").into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&bad);
        bytes.extend_from_slice(format!("\n{}\n", lines[5]).as_bytes());
        std::fs::write(file, bytes).unwrap();
        let data = folder.path().join(other);
        let (status, counts, stderr) = import(&data, &[file, "--strict"]);
        assert_eq!((status, of(&counts, COUNTS)), (Some(1), [4, 0, 1, 4]), "{other}: {stderr}");
        assert!(stderr.contains("stopped before line 5,"), "{other}: {stderr}");
        assert_eq!(exported(&data).len(), 4, "{other}");
    }
    std::fs::write(file, lines[..100].join("\n")).unwrap();
    let (status, counts, stderr) = import(&data, &[file, "--strict"]);
    assert_eq!((status, of(&counts, COUNTS)), (Some(0), [0, 100, 0, 2_193]), "{stderr}");
}

#[tokio::test]
async fn a_strict_import_through_a_service_writes_no_more_than_it_reports() {
    let Some(service) = Service::empty().await else { return };
    let file = service.folder.path().join("in.ndjson");
    let mut lines: Vec<String> = (1..=600).map(house).collect();
    lines[193] = "{}".into();
    std::fs::write(&file, lines.join("\n")).unwrap();
    let (status, counts, stderr) = import(service.folder.path(), &[file.to_str().unwrap(), "--strict"]);
    assert_eq!((status, of(&counts, COUNTS)), (Some(1), [193, 0, 1, 193]), "{stderr}");
    assert_eq!(exported(service.folder.path()).len(), 193);
    let dry = import(service.folder.path(), &[file.to_str().unwrap(), "--strict", "--dry-run"]);
    assert_eq!((dry.0, of(&dry.1, COUNTS)), (Some(1), [0, 193, 1, 193]), "{}", dry.2);
    assert!(dry.2.contains("(--strict); nothing was written"), "{}", dry.2);
    // Nothing to read, over NATS too.
    let nothing = import(service.folder.path(), &["-"]);
    assert_eq!((nothing.0, of(&nothing.1, COUNTS)), (Some(0), [0, 0, 0, 193]), "{}", nothing.2);
}

#[test]
fn an_import_fails_if_no_line_is_accepted_or_too_many_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.ndjson");
    let (file, data) = (file.to_str().unwrap(), folder.path().join("data"));
    std::fs::write(file, "{}\nnot json\n").unwrap();
    let (status, counts, stderr) = import(&data, &[file]);
    assert_eq!((status, of(&counts, COUNTS)), (Some(1), [0, 0, 2, 0]));
    assert!(stderr.ends_with("every line is rejected\n"), "{stderr}");

    // 30 of 2,030 lines are rejected, all of them in the first batch.
    let bad = (0..30).map(|_| "{}".to_owned());
    let lines: Vec<String> = bad.chain((1..=2_000).map(house)).collect();
    std::fs::write(file, lines.join("\n")).unwrap();
    for allowed in ["29", "1%"] {
        let (status, counts, stderr) = import(&data, &[file, "--max-rejected", allowed]);
        assert_eq!((status, &counts["rejected"], &counts["position"]), (Some(1), &json!(30), &json!(1_970)));
        let reason = format!("stopped: 30 of 2,000 lines are rejected, and --max-rejected allows {allowed};");
        assert!(stderr.contains(&reason), "{stderr}");
    }
    for allowed in ["30", "1.5%"] {
        let (status, counts, stderr) = import(&data, &[file, "--max-rejected", allowed]);
        assert_eq!(
            (status, &counts["rejected"], &counts["position"]),
            (Some(0), &json!(30), &json!(2_000)),
            "{stderr}"
        );
    }
    process::run(&LOGGIA, &data, &["import", file, "--max-rejected", "some"]).ended(2);
}

#[test]
fn an_empty_input_reports_that_nothing_was_read_and_the_log_position() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.ndjson");
    std::fs::write(&file, [house(1), house(2), house(3)].join("\n")).unwrap();
    let data = folder.path().join("data");
    import(&data, &[file.to_str().unwrap()]);
    let nothing = process::run(&LOGGIA, &data, &["import", "-"]).success().stdout;
    assert_eq!(nothing, "nothing was read: - has no records; the log is at 3\n");
    let (status, counts, _) = import(&data, &["-"]);
    assert_eq!((status, of(&counts, COUNTS)), (Some(0), [0, 0, 0, 3]));
}

#[test]
fn a_dry_run_does_not_create_a_missing_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (file, data) = (folder.path().join("in.ndjson"), folder.path().join("data"));
    std::fs::write(&file, [house(1), house(2), "{}".into()].join("\n")).unwrap();
    let (status, counts, stderr) = import(&data, &[file.to_str().unwrap(), "--dry-run"]);
    assert_eq!((status, of(&counts, COUNTS)), (Some(0), [2, 0, 1, 0]), "{stderr}");
    assert!(!data.exists());
    let failure = process::run(&LOGGIA, &data, &["import", "/nowhere/in.ndjson", "--json"]).ended(1).json();
    assert_eq!(failure["kind"], "failed");
    assert!(!data.exists());
}

#[test]
fn rejected_lines_are_reimported_from_the_rejects_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, rejects) = (folder.path().join("in.csv"), folder.path().join("rejects.ndjson"));
    let (again, data) = (folder.path().join("again.ndjson"), folder.path().join("data"));
    let sheet = "slug,name,category,city\na,A,art,Ulm\nb,B,film,Ulm\nc,C,film,Ulm\nd,D,film,Ulm\n";
    std::fs::write(&file, sheet).unwrap();
    let rejecting =
        |from: &Path, to: &Path| import(&data, &[from.to_str().unwrap(), "--rejects", to.to_str().unwrap()]);
    let (_, counts, stderr) = rejecting(&file, &rejects);
    assert_eq!(of(&counts, COUNTS), [1, 0, 3, 1], "{stderr}");
    let refused = std::fs::read_to_string(&rejects).unwrap();

    // Unchanged, the same lines are rejected for the same reasons, and the input file is not modified.
    let over = process::run(
        &LOGGIA,
        &data,
        &["import", rejects.to_str().unwrap(), "--rejects", rejects.to_str().unwrap()],
    );
    let reason = "loggia: --rejects names the imported file; name another\n";
    assert_eq!(over.stderr, reason);
    assert_eq!(std::fs::read_to_string(&rejects).unwrap(), refused);
    let (status, counts, stderr) = rejecting(&rejects, &again);
    assert_eq!((status, of(&counts, COUNTS)), (Some(1), [0, 0, 3, 1]), "{stderr}");
    let lines = |text: &str| -> Vec<Value> {
        let line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("line");
            line
        };
        text.lines().map(line).collect()
    };
    assert_eq!(lines(&std::fs::read_to_string(&again).unwrap()), lines(&refused));

    // Corrected in place, as a full record, and as cells, which change only the given fields.
    let mut repaired = lines(&refused);
    let sheet = sheet.replace("a,A,art,Ulm\n", "").replace("film", "art").replace(",Ulm", ",");
    std::fs::write(&file, sheet).unwrap();
    import(&data, &[file.to_str().unwrap()]);
    for (number, line) in repaired.iter_mut().enumerate() {
        line["line"] = (number + 3).into();
    }
    repaired[0]["record"] = repaired[0]["record"].as_str().unwrap().replace("film", "design").into();
    repaired[1]["record"] = json!({"slug": "c", "category": "design"});
    repaired[2] = json!({"slug": "d", "name": "D", "category": "design"});
    let text: String = repaired.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&rejects, text).unwrap();
    let (status, counts, stderr) = import(&data, &[rejects.to_str().unwrap()]);
    assert_eq!(
        (status, &counts["changed"], &counts["rejected"]),
        (Some(0), &json!(3), &json!(0)),
        "{stderr}"
    );
    assert_eq!(
        exported(&data)[1..],
        [
            json!({"slug": "b", "name": "B", "category": "design", "city": "Ulm"}),
            json!({"slug": "c", "name": "C", "category": "design"}),
            json!({"slug": "d", "name": "D", "category": "design"}),
        ]
    );
}

#[test]
fn a_closed_input_is_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = process::command(&LOGGIA, &folder.path().join("data"));
    ProgramOutput::of(command.args(["import", "-", "--json"]).stdin(Stdio::null())).success().json_lines();
}
