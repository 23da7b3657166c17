//! The command line on a store in EventStoreDB, and moving a log between stores.

use std::path::Path;

use event_log::kurrent::{self, Address};
use kit::ProgramOutput;
use kit::esdb::EventStoreDb;
use kit::process::{self, Loggia};
use serde_json::{Value, json};

use crate::service::{LOGGIA, TIMEOUT, writes};

const RECORDS: &str = concat!(
    r#"{"slug":"stair-house","name":"Stair House","category":"architecture","city":"Zürich"}"#,
    "\n",
    r#"{"slug":"brick-library","name":"Brick Library","category":"architecture"}"#,
    "\n",
);

fn run(data: &Path, args: &[&str]) -> ProgramOutput {
    process::run(&LOGGIA, data, args)
}

fn assert_success(data: &Path, args: &[&str]) -> String {
    run(data, args).success().stdout
}

fn read(data: &Path, args: &[&str]) -> Value {
    run(data, args).success().json()
}

fn refused(data: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = run(data, args);
    assert!(!output.status.success(), "{args:?} succeeded");
    (output.status.code(), output.stderr)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_works_on_eventstoredb() {
    let server = EventStoreDb::start().await;
    server.require_user("ann", "s3cret");
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let file = data.join("records.ndjson");
    std::fs::write(&file, RECORDS).unwrap();
    let store = server.address(Some(("ann", "s3cret")));
    let on = |args: &[&'static str]| [args, &["--json"]].concat();
    let with = |args: &[&str]| assert_success(data, &[args, &["--store", &store]].concat());

    let imported = with(&["import", file.to_str().unwrap(), "--json"]);
    let imported: Value = serde_json::from_str(imported.lines().last().unwrap()).unwrap();
    assert_eq!((&imported["new"], &imported["position"]), (&json!(2), &json!(2)));
    with(&["curate", "withdraw", "brick-library", "--reason", "gone", "--actor", "Ada"]);

    let exported = with(&["export"]);
    assert!(exported.contains("Zürich") && !exported.contains("Brick Library"), "{exported}");
    let verified: Value = serde_json::from_str(&with(&on(&["events", "verify"]))).unwrap();
    assert_eq!(verified["events"], json!(3));
    assert_eq!(with(&["events", "tail", "--from", "1", "--no-follow", "--json"]).lines().count(), 3);
    let history = with(&["curate", "history", "brick-library"]);
    assert!(history.contains("Ada"), "{history}");
    let config = with(&["config"]);
    assert!(config.contains("esdb://***@") && !config.contains("s3cret"), "{config}");

    // Another machine reads the same.
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(assert_success(elsewhere.path(), &["export", "--store", &store]), exported);

    let wrong = server.address(Some(("ann", "wrong")));
    let (status, stderr) = refused(elsewhere.path(), &["export", "--store", &wrong]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("check user and password in store (LOGGIA_STORE)"), "{stderr}");
    let unreachable = "esdb://127.0.0.1:9?tls=true&tlsVerifyCert=false&discoveryInterval=1";
    let (_, stderr) = refused(elsewhere.path(), &["curate", "restore", "x", "--store", unreachable]);
    assert!(stderr.contains("no EventStoreDB is reached"), "{stderr}");
    assert!(stderr.contains("whatever server answers is taken for"), "{stderr}");
    assert!(
        !stderr.contains("kurrentdb") && !stderr.contains("Unexpected error"),
        "the client's own lines: {stderr}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_moves_between_stores() {
    let server = EventStoreDb::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let file = data.join("records.ndjson");
    std::fs::write(&file, RECORDS).unwrap();
    assert_success(data, &["import", file.to_str().unwrap()]);
    let exported = assert_success(data, &["export"]);
    let verified = read(data, &["events", "verify", "--json"]);

    let here = format!("sqlite:{}", data.join("store").display());
    let there = server.address(None);
    let copied = read(data, &["store", "copy", &here, &there, "--json"]);
    assert_eq!(copied["events"], json!(2));
    assert_eq!((&copied["position"], &copied["hash"]), (&verified["events"], &verified["hash"]));
    assert!(copied["seconds"].is_f64());
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(assert_success(elsewhere.path(), &["export", "--store", &there]), exported);
    // A new event there, and back to another folder.
    assert_success(data, &["curate", "rename", "stair-house", "house-on-a-stair", "--store", &there]);
    let back = format!("sqlite:{}", elsewhere.path().join("back").display());
    assert_eq!(read(data, &["store", "copy", &there, &back, "--json"])["events"], json!(3));
    assert_eq!(
        assert_success(data, &["export", "--store", &back]),
        assert_success(data, &["export", "--store", &there]),
        "the same catalog, slugs and all"
    );

    let other = tempfile::tempdir().unwrap();
    assert_success(other.path(), &["import", file.to_str().unwrap()]);
    let other = format!("sqlite:{}", other.path().join("store").display());
    let (status, stderr) = refused(data, &["store", "copy", &other, &there]);
    assert_eq!(status, Some(3), "{stderr}");
    assert!(stderr.contains("already contains the event store"), "{stderr}");
    let (status, stderr) = refused(data, &["store", "copy", "pg://ann:s3cret@db", &there]);
    assert_eq!(status, Some(1));
    assert!(stderr.contains("FROM cannot be used") && !stderr.contains("s3cret"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_write_sides_share_one_catalog() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    let mut server = EventStoreDb::start().await;
    let folder = tempfile::tempdir().unwrap();
    let spawn = |name: &str, args: &[&str]| {
        let data = folder.path().join(name);
        let mut command = process::command(&LOGGIA, &data);
        command.args(args).env("LOGGIA_NATS_URL", nats.url()).env("LOGGIA_STORE", server.address(None));
        (Loggia::spawn_command(command, &data), data)
    };
    let first = spawn("first", &["write"]);
    writes(&first.1).await;
    let second = spawn("second", &["write"]);
    writes(&second.1).await;
    let (mut serving, _projecting) = (spawn("reader", &["serve"]).0, spawn("reader", &["project"]).0);
    let http = serving.ready().await;
    let found = async |names: usize| {
        kit::wait_until(TIMEOUT, "all that was imported", async || {
            http.get("/v1/search?q=house").await.json()["total"] == json!(names)
        })
        .await;
    };
    let import = |from: usize, to: usize| {
        let lines: Vec<String> = (from..to)
            .map(|n| json!({"name": format!("House {n}"), "category": "architecture"}).to_string())
            .collect();
        let file = folder.path().join("in.ndjson");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let imported = run(&second.1, &["import", file.to_str().unwrap(), "--json"]).success().json_lines();
        assert_eq!(imported[imported.len() - 1]["new"], json!(to - from), "{imported:?}");
    };
    let issue = |email: &str| run(&second.1, &["keys", "issue", "--email", email, "--json"]);
    import(0, 40);
    found(40).await;
    // Whichever is asked, only the first keeps addresses: an address has one account.
    for _ in 0..3 {
        issue("ada@example.org").success();
    }
    assert!(issue("ada@example.org").ended(1).stderr.contains("this address already has 3 keys"));
    // It stops; the other was running all the time.
    let (mut dead, data) = first;
    dead.kill9();
    import(40, 60);
    found(60).await;
    assert!(issue("ben@example.org").ended(1).stderr.contains("write side"));
    let first = spawn("first", &["write"]);
    assert_eq!(first.1, data);
    kit::wait_until(TIMEOUT, "the first again", async || issue("ben@example.org").status.success()).await;
    // The store is stopped and started.
    server.kill();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    server.restart().await;
    import(60, 80);
    found(80).await;
    let address: Address = server.address(None).parse().unwrap();
    assert_eq!(kurrent::verify(&address, |_| {}).await.unwrap().unwrap().events, 80 + 2 + 4);
}
