//! Several write sides on one log in EventStoreDB: which of them keeps the vault and the ledger, what one editor sees,
//! and a truncated log.

use std::path::{Path, PathBuf};

use kit::ProgramOutput;
use kit::esdb::EventStoreDb;
use kit::nats::Nats;
use kit::process::{self, Loggia};
use schemas::clock::Clock;
use schemas::command::*;
use serde_json::{Value, json};
use write::command_client::CommandClient;

use crate::service::{LOGGIA, TIMEOUT, writes};

/// A server for the log, a NATS server, and folders for processes.
struct SharedLog {
    folder: tempfile::TempDir,
    server: EventStoreDb,
    nats: Nats,
}

impl SharedLog {
    async fn new() -> Option<SharedLog> {
        let nats = Nats::start().await?;
        Some(SharedLog { folder: tempfile::tempdir().unwrap(), server: EventStoreDb::start().await, nats })
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, name: &str, args: &[&str]) -> std::process::Command {
        let mut command = process::command(&LOGGIA, &self.data(name));
        command.args(args).env("LOGGIA_STORE", self.server.address(None));
        command
    }

    /// Runs a command on a folder and the log, without NATS.
    fn run(&self, name: &str, args: &[&str]) -> ProgramOutput {
        ProgramOutput::of(&mut self.command(name, args))
    }

    fn json(&self, name: &str, args: &[&str]) -> Value {
        self.run(name, &[args, &["--json"]].concat()).success().json_lines().pop().unwrap()
    }

    fn spawn(&self, name: &str, args: &[&str]) -> Loggia {
        let mut command = self.command(name, args);
        command.env("LOGGIA_NATS_URL", self.nats.url());
        Loggia::spawn_command(command, &self.data(name))
    }

    /// Starts a write side, and waits until it accepts commands.
    async fn write(&self, name: &str) -> Loggia {
        let _ = std::fs::remove_file(self.data(name).join("run/write.json"));
        let write = self.spawn(name, &["write"]);
        writes(&self.data(name)).await;
        write
    }

    fn records(&self) -> String {
        write_record(self.folder.path())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_using_two_write_sides_gets_no_conflict() {
    let Some(shared_log) = SharedLog::new().await else { return };
    let (_first, _second) = (shared_log.write("first").await, shared_log.write("second").await);
    let (client, clock) = (CommandClient::new(shared_log.nats.client().await), Clock::system());
    let send = async |command: Command| {
        let id = clock.command_id();
        let message = CommandMessage::new(id, "Ada".parse().unwrap(), command);
        client.send(&message).await.unwrap()
    };
    let mut refused = Vec::new();
    for number in 0..30 {
        let slug = format!("house-{number}");
        let text = json!({"slug": slug, "name": "House", "category": "art"}).to_string();
        let options = ImportOptions::default();
        let acts = [
            Command::Import { lines: vec![ImportLine::new(1, text)], options },
            Command::Revise {
                slug: slug.parse().unwrap(),
                changes: json!({"city": "Oslo"}).as_object().unwrap().clone(),
            },
            Command::Withdraw { slug: slug.parse().unwrap(), reason: "gone".into() },
            Command::Restore { slug: slug.parse().unwrap() },
        ];
        for command in acts {
            match send(command).await {
                CommandReply::Project(ProjectOutcome { changed: true, .. }) => {}
                CommandReply::Imported { lines, .. } if matches!(lines[0].result, LineResult::New { .. }) => {
                }
                other => refused.push(other),
            }
        }
    }
    assert!(refused.is_empty(), "{} of 120 are refused: {refused:?}", refused.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_role_becomes_the_keeper() {
    let Some(shared_log) = SharedLog::new().await else { return };
    // A command on its own folder comes first, and keeps nothing.
    let imported = shared_log.json("laptop", &["import", &shared_log.records()]);
    assert_eq!(imported["new"], json!(1));
    let issued = shared_log.run("laptop", &["keys", "issue", "--email", "ada@example.org"]);
    assert!(issued.stderr.contains("loggia store keeper"), "{issued}");
    let no_keeper = shared_log.json("laptop", &["store", "keeper"]);
    assert_eq!(no_keeper, json!({"here": false, "vault": null, "own": null}));

    let write = shared_log.write("server").await;
    let issued = shared_log.json("server", &["keys", "issue", "--email", "ada@example.org"]);
    assert!(issued["key"].as_str().unwrap().starts_with("log_live_"), "{issued}");
    let keeper = shared_log.json("server", &["store", "keeper"]);
    assert_eq!((&keeper["here"], &keeper["vault"]), (&json!(true), &keeper["own"]));
    assert_eq!(shared_log.json("laptop", &["store", "keeper"])["vault"], keeper["vault"]);
    let status = shared_log.json("server", &["status"]);
    assert_eq!(status["keeper"], keeper);

    // The keeper is moved explicitly, and only while nothing runs on the folder.
    let busy = shared_log.run("server", &["store", "keeper", "--move"]);
    assert!(busy.stderr.contains("is running on the data folder"), "{busy}");
    let lost = shared_log.run("laptop", &["store", "keeper", "--move"]).ended(1);
    assert!(lost.stderr.contains("1 accounts of the log have keys"), "{lost}");
    let moved = shared_log.json("laptop", &["store", "keeper", "--move", "--leave-behind"]);
    assert_eq!((&moved["here"], &moved["vault"]), (&json!(true), &moved["own"]));
    assert_ne!(moved["vault"], keeper["vault"]);
    // The former keeper detects it, and restarts without being the keeper.
    let mut write = write;
    assert!(!write.ended(TIMEOUT).await.success());
    assert!(write.stderr().contains("the log has another keeper now"), "{}", write.stderr());
    let write = shared_log.write("server").await;
    assert!(write.stderr().contains("accepts the commands of editors, but no keys"), "{}", write.stderr());
    assert_eq!(shared_log.json("server", &["store", "keeper"])["here"], json!(false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_without_a_keeper_reports_it() {
    let Some(shared_log) = SharedLog::new().await else { return };
    let mut keeper = shared_log.write("keeper").await;
    assert!(keeper.terminate().await.success());
    let port = kit::free_port();
    let admin = format!("127.0.0.1:{port}");
    let mut up = shared_log.spawn("up", &["up", "--no-demo", "--auth", "keys", "--admin-listen", &admin]);
    let http = up.http().await;
    let operators = kit::http::Http::new(format!("http://{admin}"));
    kit::wait_until(TIMEOUT, "an up that waits", async || {
        let answer = http.get("/readyz").await;
        answer.status == 503 && answer.text().contains("no keeper listens on NATS")
    })
    .await;
    let metrics = operators.get("/metrics").await.text().to_owned();
    assert!(metrics.contains("\nloggia_keeper 0\n"), "{metrics}");
    assert!(metrics.contains("loggia_component_failing_seconds{component=\"keeper\"}"), "{metrics}");
    let status = operators.get("/status").await.json();
    assert_eq!((&status["keeper"], &status["failing"][0]["component"]), (&json!(false), &json!("keeper")));
    assert!(up.stderr().contains("loggia store keeper --move"), "{}", up.stderr());

    let mut keeper = shared_log.write("keeper").await;
    http.ready().await;
    // After the keeper was available once, its absence does not redirect requests.
    assert!(keeper.terminate().await.success());
    kit::wait_until(TIMEOUT, "a line about the keeper", async || {
        operators.get("/status").await.json()["failing"][0]["component"] == json!("keeper")
    })
    .await;
    assert_eq!(http.get("/readyz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_lost_by_the_server_are_restored_from_a_replica() {
    let Some(shared_log) = SharedLog::new().await else { return };
    shared_log.run("data", &["import", &shared_log.records()]);
    for (number, city) in ["Oslo", "Bergen", "Rome"].iter().enumerate() {
        let set = format!("city={city}");
        let done = shared_log.json("data", &["curate", "revise", "stair-house", "--set", &set]);
        assert_eq!(done["position"], json!(number + 2));
    }
    let verified = shared_log.json("data", &["events", "verify"]);
    shared_log.server.truncate("loggia-events", 2).await;
    let refused = shared_log.run("data", &["curate", "withdraw", "stair-house", "--reason", "gone"]).stderr;
    assert!(
        refused.contains("was reset to an earlier state") && refused.contains("loggia store copy sqlite:"),
        "{refused}"
    );
    let status = shared_log.json("data", &["status"]);
    assert!(status["problem"].as_str().unwrap().contains("was reset to an earlier state"), "{status}");

    let (replica, there) = (
        format!("sqlite:{}", shared_log.data("data").join("store").display()),
        shared_log.server.address(None),
    );
    let shown =
        process::run(&LOGGIA, &shared_log.data("data"), &["store", "copy", &replica, &there, "--dry-run"]);
    let shown = shown.stdout;
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(shown.contains("Bergen") && shown.contains("Rome") && !shown.contains("Oslo"), "{shown}");
    let file = format!("{replica}/replica.db");
    let copied = shared_log.json("data", &["store", "copy", &file, &there]);
    assert_eq!(
        (&copied["events"], &copied["position"], &copied["hash"]),
        (&json!(2), &json!(4), &verified["hash"])
    );
    assert_eq!(shared_log.json("data", &["events", "verify"]), verified);
    shared_log.json("data", &["curate", "withdraw", "stair-house", "--reason", "gone"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_side_keeps_reporting_a_truncated_log() {
    let Some(shared_log) = SharedLog::new().await else { return };
    shared_log.run("data", &["import", &shared_log.records()]);
    let port = kit::free_port();
    let admin = format!("127.0.0.1:{port}");
    let write = shared_log.spawn("data", &["write", "--admin-listen", &admin]);
    let operators = kit::http::Http::new(format!("http://{admin}"));
    writes(&shared_log.data("data")).await;
    shared_log.server.truncate("loggia-events", 0).await;
    let failing = kit::wait_for(TIMEOUT, "the component", async || {
        let status = operators.get("/status").await.json();
        let failing = status["failing"].as_array()?.first()?.clone();
        (failing["component"] == json!("event store")).then_some(failing)
    })
    .await;
    let reason = failing["reason"].as_str().unwrap();
    assert!(
        reason.contains("was reset to an earlier state") && reason.contains("No edit is accepted"),
        "{reason}"
    );
    assert!(write.stderr().contains("event store: "), "{}", write.stderr());
    let metrics = operators.get("/metrics").await.text().to_owned();
    assert!(metrics.contains("loggia_component_failing_seconds{component=\"event store\"}"), "{metrics}");
    assert!(!write.stderr().contains("older than what readers have seen"), "{}", write.stderr());
}

#[test]
fn a_command_with_the_same_id_is_executed_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| process::run(&LOGGIA, folder.path(), args);
    let ok = |args: &[&str]| run(args).success().stdout;
    let events = || ok(&["events", "tail", "--from", "1", "--no-follow", "--json"]).lines().count();
    let file = write_record(folder.path());
    let id = "0192f3a4-7c1e-7b2a-9d3f-5a6b7c8d9e0f";
    let import = ["import", &file, "--id", id, "--json"];
    let import = || run(&import).success().json_lines().pop().unwrap();
    assert_eq!((import()["new"].as_u64(), import()["new"].as_u64()), (Some(1), Some(1)), "the same answer");
    assert_eq!(events(), 1);
    for (number, act) in [
        &["curate", "revise", "stair-house", "--set", "city=Oslo"][..],
        &["curate", "withdraw", "stair-house", "--reason", "gone"],
        &["curate", "restore", "stair-house"],
        &["curate", "rename", "stair-house", "house"],
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("0192f3a4-7c1e-7b2a-9d3f-5a6b7c8d9e1{number}");
        let act = [act, &["--id", &id, "--json"]].concat();
        assert_eq!(ok(&act), ok(&act), "{act:?}");
        assert_eq!(events(), number + 2, "{act:?}");
    }
    let issued = run(&["keys", "issue", "--email", "a@example.org", "--json"]).success().json();
    let before = events();
    let revoke = ["keys", "revoke", issued["key_id"].as_str().unwrap(), "--id", id, "--json"];
    assert_eq!(ok(&revoke), ok(&revoke));
    assert_eq!(events(), before + 1);
    run(&["curate", "restore", "house", "--id", "7"]).ended(2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_without_a_write_side_says_that_nothing_was_done() {
    let Some(nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let url = nats.url();
    let run = |args: &[&str]| {
        let own = tempfile::tempdir().unwrap();
        let mut command = process::command(&LOGGIA, own.path());
        let ended = ProgramOutput::of(command.args(args).env("LOGGIA_NATS_URL", &url)).ended(1);
        (ended.stdout, ended.stderr)
    };
    let (id, records) = ("0192f3a4-7c1e-7b2a-9d3f-5a6b7c8d9e0f", write_record(folder.path()));
    let commands: [&[&str]; 4] = [
        &["curate", "restore", "house"],
        &["curate", "restore", "house", "--id", id],
        &["import", &records, "--id", id],
        &["keys", "issue", "--email", "ada@example.org"],
    ];
    // At once, since each waits a while for a write side to return.
    let [restore, again, import, issue] = std::thread::scope(|threads| {
        let running = commands.map(|args| threads.spawn(move || run(args)));
        running.map(|command| command.join().unwrap())
    });
    let absent = "no write side listens on NATS; start `loggia up` or `loggia write`, then try again";
    for (stdout, stderr) in [restore, again] {
        assert_eq!(
            (stdout.as_str(), stderr),
            ("", format!("loggia: the command was not executed: {absent}\n"))
        );
    }
    assert_eq!(issue, (String::new(), format!("loggia: no key was issued: {absent}\n")));
    let hint = format!("run it again with --id {id} for the rest: no line is imported twice");
    assert_eq!(import, (format!("no line of {records} is imported\n"), format!("{hint}: {absent}\n")));
}

fn write_record(folder: &Path) -> String {
    let path = folder.join("records.ndjson");
    std::fs::write(&path, r#"{"slug":"stair-house","name":"Stair House","category":"architecture"}"#)
        .unwrap();
    path.to_str().unwrap().to_owned()
}
