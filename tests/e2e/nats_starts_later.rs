//! Roles that start before NATS.

use std::path::Path;

use kit::nats::Nats;
use kit::process::{self, Loggia};
use serde_json::json;

use crate::node_group::NodeGroup;
use crate::service::{LOGGIA, TIMEOUT, ready};

fn start(role: &str, data: &Path, nats: &Nats) -> Loggia {
    let mut command = process::command(LOGGIA, data);
    command.arg(role).env("LOGGIA_NATS_URL", nats.url());
    Loggia::spawn_command(command, data)
}

#[tokio::test]
async fn roles_wait_for_a_nats_server_that_starts_later() {
    let Some(mut nats) = Nats::start().await else { return };
    nats.kill9().await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let _write = start("write", &path("write"), &nats);
    let _project = start("project", &path("apart"), &nats);
    let mut serve = start("serve", &path("apart"), &nats);
    let mut read = start("read", &path("read"), &nats);
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    nats.restart().await;
    for node in [&mut serve, &mut read] {
        ready(&node.http().await).await;
    }
}

#[tokio::test]
async fn a_node_with_models_starts_without_nats_and_catches_up_later() {
    let Some(mut group) = NodeGroup::of(&["one"], 5, &[]).await else { return };
    ready(&group.nodes[0].process.http().await).await;
    assert!(group.nodes[0].process.terminate().await.success());
    group.nats.kill9().await;
    let mut node = group.start("one", &[]).await;
    let http = node.process.http().await;
    ready(&http).await;
    assert_eq!(http.get("/v1/search?q=bridge").await.json()["total"], json!(5));
    group.nats.restart().await;
    group.import_as("Tower", 3);
    kit::wait_until(TIMEOUT, "what came later", async || {
        http.get("/v1/search?q=tower").await.json()["total"] == json!(3)
    })
    .await;
    assert!(node.process.terminate().await.success());
}
