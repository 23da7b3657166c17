//! Commands with a closed output: the exit status stays the same, and the work is completed.

use std::path::Path;

use kit::{ProgramOutput, process};
use serde_json::json;

use crate::service::{LOGGIA, Service, json as run_json};

/// Runs a command with a closed standard output.
fn unread(folder: &Path, args: &[&str]) -> ProgramOutput {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    ProgramOutput::of(process::command(&LOGGIA, folder).args(args).stdout(writer))
}

#[tokio::test]
async fn all_models_are_verified_and_rebuilt_with_a_closed_output() {
    let Some(mut service) = Service::empty().await else { return };
    let records: Vec<_> =
        (0..20).map(|n| json!({"name": format!("Shelf {n}"), "category": "design"})).collect();
    service.import(&records).await;
    assert!(service.loggia.terminate().await.success());
    let folder = service.folder.path();
    let catalog = folder.join("models/catalog/g000001/catalog.db");
    let tampered = std::process::Command::new("python3")
        .args(["-c", "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute(\"UPDATE projects SET answer=replace(answer,'Shelf','Self') WHERE slug='shelf-7'\"); c.commit()"])
        .arg(&catalog)
        .status()
        .unwrap();
    assert!(tampered.success());
    unread(folder, &["verify"]).ended(3);
    unread(folder, &["rebuild", "all"]).success();
    for model in ["catalog", "search", "neighbours", "archive", "keys", "counters"] {
        let current = std::fs::read_to_string(folder.join("models").join(model).join("current")).unwrap();
        assert_eq!(current.trim(), "g000002", "{model}");
    }
    unread(folder, &["verify"]).success();
    assert_eq!(nats::server::stop_orphan(&folder.join("nats")).unwrap(), None, "no nats-server is left");
}

#[test]
fn a_key_that_could_not_be_printed_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let issued = unread(folder.path(), &["keys", "issue", "--email", "ada@example.org"]).ended(1);
    let listed = run_json(folder.path(), &["keys", "list"]);
    let id = listed[0]["key_id"].as_str().unwrap();
    assert!(listed.len() == 1 && listed[0]["revoked_at"].is_string(), "{listed:?}");
    assert_eq!(
        issued.stderr,
        format!(
            "loggia: the key {id} could not be printed and is revoked; issue another: standard output was closed before it \
             was read\n"
        )
    );
    unread(folder.path(), &["keys", "link", "--email", "ada@example.org"]).ended(1);
}

#[test]
fn a_benchmark_that_cannot_be_printed_ends_its_servers() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = process::command(&LOGGIA, folder.path());
    command.args(["bench", "import", "--size", "5"]).env("TMPDIR", folder.path()).stdout(full);
    ProgramOutput::of(&mut command).ended(1);
    let running = ProgramOutput::of(std::process::Command::new("pgrep").arg("-f").arg(folder.path()));
    assert_eq!(running.stdout, "", "no process with the temporary folder is left");
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        0,
        "nothing is left in the temporary folder"
    );
}

#[test]
fn a_closed_output_ends_an_export_and_a_tail() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in.ndjson");
    std::fs::write(&file, "{\"name\":\"A\",\"category\":\"art\"}\n").unwrap();
    run_json(folder.path(), &["import", file.to_str().unwrap()]);
    for args in [&["export"][..], &["events", "tail", "--from", "1"]] {
        assert_eq!(unread(folder.path(), args).success().stderr, "", "{args:?}");
    }
}
