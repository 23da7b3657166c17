//! Roles that start before NATS.

use kit::nats::Nats;
use serde_json::json;

use crate::node_group::NodeGroup;
use crate::service::{TIMEOUT, spawn_on};

#[tokio::test]
async fn roles_wait_for_a_nats_server_that_starts_later() {
    let Some(mut nats) = Nats::start().await else { return };
    nats.kill9().await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = spawn_on(&nats, &path("write"), "write");
    let project = spawn_on(&nats, &path("apart"), "project");
    let mut serve = spawn_on(&nats, &path("apart"), "serve");
    let mut read = spawn_on(&nats, &path("read"), "read");
    for waiting in [&write, &project, &serve, &read] {
        kit::wait_until(TIMEOUT, "the wait for NATS", async || waiting.stderr().contains("trying again"))
            .await;
    }
    nats.restart().await;
    for node in [&mut serve, &mut read] {
        node.ready().await;
    }
}

#[tokio::test]
async fn a_node_with_models_starts_without_nats_and_catches_up_later() {
    let Some(mut group) = NodeGroup::of(&["one"], 5, &[]).await else { return };
    group.nodes[0].process.ready().await;
    assert!(group.nodes[0].process.terminate().await.success());
    group.nats.kill9().await;
    let mut node = group.start("one", &[]).await;
    let http = node.process.ready().await;
    assert_eq!(http.get("/v1/search?q=bridge").await.json()["total"], json!(5));
    group.nats.restart().await;
    group.import_as("Tower", 3);
    kit::wait_until(TIMEOUT, "what came later", async || {
        http.get("/v1/search?q=tower").await.json()["total"] == json!(3)
    })
    .await;
    assert!(node.process.terminate().await.success());
}
