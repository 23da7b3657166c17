//! The state of counted calls after the service has stopped: none is left in transit.

use std::path::Path;

use kit::nats::Nats;
use kit::process::{self, Loggia};
use serde_json::{Value, json};

use crate::service::{LOGGIA, Service, TIMEOUT, json as answers, spawn_on};

/// Keys without a rate limit.
const SETTINGS: [&str; 5] = ["--no-demo", "--auth", "keys", "--burst-per-key", "0"];

/// A key, and the ids of its answered calls.
struct AnsweredCalls {
    key_id: String,
    calls: Vec<String>,
}

/// Issues a key and makes calls with it.
async fn called(service: &Service, calls: usize) -> AnsweredCalls {
    let issued = &service.json(&["keys", "issue", "--email", "ada@example.org"])[0];
    let text = |name: &str| issued[name].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {}", text("key"));
    let headers = [("authorization", bearer.as_str())];
    let http = &service.http;
    kit::wait_until(TIMEOUT, "a key that is known", async || {
        http.send("GET", "/v1/usage", &headers, "").await.status == 200
    })
    .await;
    let mut called = AnsweredCalls { key_id: text("key_id"), calls: Vec::new() };
    for _ in 0..calls {
        let answer = http.send("GET", "/v1/changes?limit=1", &headers, "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        called.calls.push(answer.header("x-call-id").unwrap().to_owned());
    }
    called
}

/// Returns the result of the audit of a folder; its exit status is 0.
fn verified(folder: &Path) -> Value {
    answers(folder, &["audit", "verify"]).pop().unwrap()
}

/// Returns the ids of a key's calls in the ledger of a folder, in order; none if it has no ledger.
fn audited(folder: &Path, key_id: &str) -> Vec<String> {
    let rows = process::run(&LOGGIA, folder, &["audit", key_id, "--json"]).json_lines();
    rows.iter().filter_map(|row| row["call_id"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn after_a_clean_stop_every_counted_call_is_in_the_ledger_and_its_backup() {
    for round in 0..3 {
        let Some(mut service) = Service::with(&SETTINGS).await else { return };
        let called = called(&service, 20).await;
        assert!(service.loggia.terminate().await.success(), "{}", service.loggia.stderr());
        let folder = service.folder.path();
        let report = verified(folder);
        assert_eq!(
            (&report["calls"], &report["differences"], report.get("waiting"), &report["compared"]),
            (&json!(20), &json!([]), None, &json!(["counters"])),
            "round {round}: {report}\n{}",
            service.loggia.stderr()
        );
        assert_eq!(audited(folder, &called.key_id), called.calls, "round {round}");

        let (backup, restored) = (folder.join("backup"), tempfile::tempdir().unwrap());
        let backup = backup.to_str().unwrap();
        let backed_up = service.run(&["backup", backup]).success();
        assert!(!backed_up.stderr.contains("not in the backup"), "round {round}: {backed_up}");
        answers(restored.path(), &["restore", backup]);
        assert_eq!(audited(restored.path(), &called.key_id), called.calls, "round {round}");
        assert_eq!(verified(restored.path())["calls"], 20, "round {round}");
    }
}

#[tokio::test]
async fn calls_left_in_the_streams_by_a_kill_are_no_difference() {
    let Some(mut service) = Service::with(&SETTINGS).await else { return };
    let called = called(&service, 20).await;
    service.loggia.kill9();
    let folder = service.folder.path();
    let report = verified(folder);
    assert_eq!(report["differences"], json!([]), "{report}");
    let mut again = Loggia::up(&LOGGIA, folder, &SETTINGS).await;
    kit::wait_until(TIMEOUT, "every call in the ledger", async || {
        audited(folder, &called.key_id).len() == 20
    })
    .await;
    assert_eq!(audited(folder, &called.key_id), called.calls);
    assert!(again.terminate().await.success(), "{}", again.stderr());
    assert_eq!(verified(folder)["calls"], 20);
}

/// A signal before the handlers of all tasks are installed must not kill the process.
#[tokio::test]
async fn a_signal_during_startup_causes_a_clean_exit() {
    let Some(mut nats) = Nats::start().await else { return };
    nats.kill9().await;
    let folder = tempfile::tempdir().unwrap();
    for role in ["write", "project", "serve", "read"] {
        let data = folder.path().join(role);
        let mut waiting = spawn_on(&nats, &data, role);
        kit::wait_until(TIMEOUT, "the wait for NATS", async || waiting.stderr().contains("trying again"))
            .await;
        let ended = waiting.terminate().await;
        assert!(ended.success(), "{role}: {ended}\n{}", waiting.stderr());
    }
    for _ in 0..5 {
        let mut up = Loggia::up(&LOGGIA, &folder.path().join("up"), &["--no-demo"]).await;
        let ended = up.terminate().await;
        assert!(ended.success(), "up: {ended}\n{}", up.stderr());
    }
}
