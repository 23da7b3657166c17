//! The roles as processes of their own, around a NATS server that is not theirs.

use kit::process::{self, Loggia};
use serde_json::json;

use crate::started::{LOGGIA, PATIENCE, json as run_json, ready};

#[tokio::test]
async fn write_project_and_serve_work_as_processes() {
    let Some(nats) = kit::nats::Nats::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (write, reader) = (folder.path().join("write"), folder.path().join("reader"));
    let url = nats.url();
    let spawn = |data: &std::path::Path, args: &[&str]| {
        let mut command = process::command(LOGGIA, data);
        command.args(args).env("LOGGIA_NATS_URL", &url).env("LOGGIA_LISTEN", "127.0.0.1:0");
        Loggia::spawn_command(command, data)
    };
    let mut writing = spawn(&write, &["write"]);
    let mut projecting = spawn(&reader, &["project"]);
    let mut serving = spawn(&reader, &["serve"]);
    let http = serving.http().await;
    ready(&http).await;
    let announced = write.join("run/write.json");
    kit::wait_until(PATIENCE, "the write side", async || announced.exists()).await;
    let file = folder.path().join("in.ndjson");
    std::fs::write(&file, "{\"name\":\"Bridge\",\"category\":\"architecture\"}\n").unwrap();
    run_json(&write, &["import", file.to_str().unwrap()]);
    kit::wait_until(PATIENCE, "the project on the read node", async || {
        http.get("/v1/project/bridge").await.status == 200
            && http.get("/v1/search?q=bridge").await.json()["total"] == json!(1)
    })
    .await;
    assert!(serving.terminate().await.success());
    assert!(projecting.terminate().await.success());
    assert!(writing.terminate().await.success());
}
