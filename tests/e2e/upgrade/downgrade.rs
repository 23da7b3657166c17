//! The downgrade to the previous release: `docs/operating/upgrade.md`.

use std::path::Path;

use kit::process;
use serde_json::{Value, json};

use super::fixture::{json_with, start};
use super::ready;
use super::side_by_side::former;
use crate::service::LOGGIA;

fn keys(binary: &str, data: &Path) -> usize {
    json_with(binary, data, &["keys", "list"]).len()
}

/// Returns the error of the previous release.
fn refusal(former: &str, data: &Path, args: &[&str]) -> String {
    process::run(former, data, args).ended(1).stderr
}

#[tokio::test]
#[ignore = "beside the release before, which bin/test --upgrade builds"]
async fn the_previous_release_rejects_a_newer_vault_and_continues_from_an_older_backup() {
    let Some(former) = former() else { return };
    let Some(folder) = kit::nats::data_folder().await else { return };
    let at = |name: &str| folder.path().join(name);
    let (data, before, after) = (at("data"), at("before"), at("after"));
    let file = at("in.ndjson");
    std::fs::write(&file, format!("{}\n", json!({"name": "One", "category": "art"}))).unwrap();
    json_with(&former, &data, &["import", file.to_str().unwrap()]);
    json_with(&former, &data, &["keys", "issue", "--email", "ada@example.org"]);
    json_with(&former, &data, &["backup", before.to_str().unwrap()]);

    let (mut newer, http) = start(&LOGGIA, &data).await;
    ready(&http, &newer).await;
    json_with(&LOGGIA, &data, &["keys", "issue", "--email", "grace@example.org"]);
    json_with(&LOGGIA, &data, &["backup", after.to_str().unwrap()]);
    let exported: Vec<Value> = json_with(&LOGGIA, &data, &["export"]);
    assert!(newer.terminate().await.success(), "{}", newer.stderr());
    assert_eq!(keys(&LOGGIA, &data), 2);

    let sentence = refusal(&former, &data, &["up", "--no-demo"]);
    assert!(sentence.contains("was written by a newer Loggia"), "{sentence}");
    let newer = at("newer");
    json_with(&former, &newer, &["restore", after.to_str().unwrap()]);
    assert!(refusal(&former, &newer, &["keys", "list"]).contains("was written by a newer Loggia"));
    // Both releases read the log.
    json_with(&former, &data, &["events", "verify"]);

    let back = at("back");
    json_with(&former, &back, &["restore", before.to_str().unwrap()]);
    let (mut again, http) = start(&former, &back).await;
    ready(&http, &again).await;
    assert_eq!(keys(&former, &back), 1);
    let lines: String = exported.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    let counts = json_with(&former, &back, &["import", file.to_str().unwrap()]).pop().unwrap();
    assert_eq!((&counts["same"], &counts["rejected"]), (&json!(1), &json!(0)), "{counts}");
    assert!(again.terminate().await.success(), "{}", again.stderr());
}
