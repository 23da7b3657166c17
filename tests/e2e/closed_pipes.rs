//! Commands with a closed output: the exit status stays the same, and the work is completed.

use std::path::Path;
use std::process::Output;

use kit::process;
use serde_json::json;

use crate::service::{LOGGIA, Service, json as run_json};

/// Runs a command with a closed standard output.
fn unread(folder: &Path, args: &[&str]) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    process::command(LOGGIA, folder).args(args).stdout(writer).output().unwrap()
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
    let verified = unread(folder, &["verify"]);
    assert_eq!(verified.status.code(), Some(3), "{verified:?}");
    let rebuilt = unread(folder, &["rebuild", "all"]);
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    for model in ["catalog", "search", "neighbours", "archive", "keys", "counters"] {
        let current = std::fs::read_to_string(folder.join("models").join(model).join("current")).unwrap();
        assert_eq!(current.trim(), "g000002", "{model}");
    }
    assert!(unread(folder, &["verify"]).status.success());
    assert_eq!(nats::server::stop_orphan(&folder.join("nats")).unwrap(), None, "no nats-server is left");
}

#[test]
fn a_key_that_could_not_be_printed_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let issued = unread(folder.path(), &["keys", "issue", "--email", "ada@example.org"]);
    assert_eq!(issued.status.code(), Some(1), "{issued:?}");
    let listed = run_json(folder.path(), &["keys", "list"]);
    let id = listed[0]["key_id"].as_str().unwrap();
    assert!(listed.len() == 1 && listed[0]["revoked_at"].is_string(), "{listed:?}");
    assert_eq!(
        String::from_utf8(issued.stderr).unwrap(),
        format!(
            "loggia: the key {id} could not be printed and is revoked; issue another: standard output was closed before it \
             was read\n"
        )
    );
    let link = unread(folder.path(), &["keys", "link", "--email", "ada@example.org"]);
    assert_eq!(link.status.code(), Some(1), "{link:?}");
}

#[test]
fn a_benchmark_that_cannot_be_printed_ends_its_servers() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = process::command(LOGGIA, folder.path());
    command.args(["bench", "import", "--size", "5"]).env("TMPDIR", folder.path()).stdout(full);
    let ended = command.output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let running = std::process::Command::new("pgrep").arg("-f").arg(folder.path()).output().unwrap();
    assert_eq!(
        String::from_utf8(running.stdout).unwrap(),
        "",
        "no process with the temporary folder is left"
    );
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
        let ended = unread(folder.path(), args);
        assert!(ended.status.success() && ended.stderr.is_empty(), "{args:?}: {ended:?}");
    }
}
