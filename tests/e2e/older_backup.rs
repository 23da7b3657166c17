//! A write side is restored from an older backup after a read node has applied more.

use std::path::Path;

use kit::nats::Nats;
use kit::process::Loggia;
use serde_json::json;

use crate::service::{TIMEOUT, json as run_json, spawn_on, writes};

async fn write(data: &Path, nats: &Nats) -> Loggia {
    let process = spawn_on(nats, data, "write");
    writes(data).await;
    process
}

fn import(data: &Path, name: &str, count: usize) {
    let file = data.join("in.ndjson");
    let line = |n| format!("{}\n", json!({"name": format!("{name} {n}"), "category": "design"}));
    std::fs::write(&file, (0..count).map(line).collect::<String>()).unwrap();
    run_json(data, &["import", file.to_str().unwrap()]);
}

#[tokio::test]
async fn a_read_node_follows_a_write_side_restored_from_an_older_backup() {
    let Some(mut nats) = Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut writing = write(&at("write"), &nats).await;
    import(&at("write"), "Kept", 10);
    let mut reading = spawn_on(&nats, &at("read"), "read");
    let http = reading.ready().await;
    run_json(&at("write"), &["backup", at("backup").to_str().unwrap()]);
    import(&at("write"), "Lost", 5);
    let total = async |word: &str| http.get(&format!("/v1/search?q={word}")).await.json()["total"].clone();
    kit::wait_until(TIMEOUT, "what will be lost", async || total("lost").await == json!(5)).await;

    writing.kill9();
    nats.wipe().await;
    run_json(&at("restored"), &["restore", at("backup").to_str().unwrap()]);
    let _writing = write(&at("restored"), &nats).await;
    import(&at("restored"), "New", 8);
    kit::wait_until(TIMEOUT, "the restored log on the read node", async || {
        total("new").await == json!(8)
            && total("lost").await == json!(0)
            && total("kept").await == json!(10)
            && http.get("/v1/project/lost-2").await.status == 404
            && http.get("/v1/project/new-0").await.status == 200
            && http.get("/readyz").await.status == 200
    })
    .await;
    let verified = run_json(&at("read"), &["verify", "--nats-url", &nats.url()]);
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    let log = reading.stderr();
    let quarantined = log.matches("the model is quarantined until it is rebuilt from the log").count();
    assert_eq!(quarantined, 5, "one line a model: {log}");
    assert!(reading.terminate().await.success());
}
