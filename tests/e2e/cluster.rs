//! All roles on a NATS cluster of three, with TLS and a user per role: everything works without a permission violation.

use std::path::Path;
use std::time::Instant;

use kit::ProgramOutput;
use kit::nats::Cluster;
use kit::process::{self, Loggia};
use process_role::ProcessRole;
use serde_json::{Value, json};

use crate::service::{LOGGIA, TIMEOUT, writes};

pub(crate) fn command(
    cluster: &Cluster,
    data: &Path,
    role: ProcessRole,
    args: &[&str],
) -> std::process::Command {
    let mut command = process::command(&LOGGIA, data);
    command.args(args).args(["--auth", "keys"]);
    cluster.settings(&mut command, role);
    command
}

pub(crate) fn spawn(cluster: &Cluster, data: &Path, role: ProcessRole) -> Loggia {
    Loggia::spawn_command(command(cluster, data, role, &[role.name()]), data)
}

/// Runs a command as the operator; it must succeed.
fn operate(cluster: &Cluster, data: &Path, args: &[&str]) -> ProgramOutput {
    ProgramOutput::of(&mut command(cluster, data, ProcessRole::Operator, args)).success()
}

/// Imports one project with a picture, as the operator.
fn import(cluster: &Cluster, folder: &Path, data: &Path) {
    let record = json!({"name": "Bridge", "category": "architecture", "pictures": ["bridge.png"]});
    let file = folder.join("in.ndjson");
    std::fs::write(&file, format!("{record}\n")).unwrap();
    let pixels = image::RgbImage::from_fn(600, 400, |x, y| image::Rgb([x as u8, y as u8, 90]));
    pixels.save(folder.join("bridge.png")).unwrap();
    operate(cluster, data, &["import", file.to_str().unwrap()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_role_works_on_a_cluster_with_its_own_user() {
    let Some(cluster) = Cluster::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let (write, reader) = (folder.path().join("write"), folder.path().join("reader"));
    let mut writing = spawn(&cluster, &write, ProcessRole::Write);
    let mut projecting = spawn(&cluster, &reader, ProcessRole::Project);
    let mut serving = spawn(&cluster, &reader, ProcessRole::Serve);
    let http = serving.ready().await;
    writes(&write).await;
    import(&cluster, folder.path(), &write);

    // The API requires a key and counts its calls.
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "get_api_key", "arguments": {"email": "ada@example.org"}}});
    let answer =
        http.send("POST", "/mcp", &[("content-type", "application/json")], request.to_string()).await;
    let given = answer.json()["result"]["structuredContent"]["key"].as_str().map(str::to_owned);
    let key = given.unwrap_or_else(|| panic!("{answer:?}"));
    let bearer = format!("Bearer {key}");
    let signed = [("authorization", bearer.as_str())];
    kit::wait_until(TIMEOUT, "the project on the read node", async || {
        let found = http.attempt("GET", "/v1/search?q=bridge", &signed, "").await;
        found.is_ok_and(|found| found.status == 200 && found.json()["total"] == json!(1))
    })
    .await;
    let image = kit::wait_for(TIMEOUT, "the picture on the read node", async || {
        let record = http.attempt("GET", "/v1/project/bridge", &signed, "").await.ok()?.json();
        let url = record["images"][0]["url"].as_str()?.to_owned();
        let served = http.get(&url[url.find("/media/")?..]).await;
        (served.status == 200).then_some(served.body)
    })
    .await;
    assert!(!image.is_empty());

    // The operator's commands work on both folders.
    let status = operate(&cluster, &reader, &["status", "--json"]).json();
    assert_eq!(status["problem"], Value::Null, "{status}");
    assert_eq!(status["projections"].as_array().unwrap().len(), 6, "{status}");
    for folder in [&reader, &write] {
        let status = operate(&cluster, folder, &["status", "--json"]).json();
        assert_eq!(status["problem"], Value::Null, "{status}");
        let nodes = status["nodes"].as_array().unwrap();
        let roles: Vec<&Value> = nodes.iter().map(|node| &node["role"]).collect();
        assert_eq!(roles, ["project", "write"], "the user of the role serve may not listen: {status}");
        for node in nodes {
            assert_eq!(
                (&node["ready"], &node["version"]),
                (&json!(true), &json!(env!("CARGO_PKG_VERSION"))),
                "{status}"
            );
        }
        assert_eq!(nodes[0]["settings"], nodes[1]["settings"], "{status}");
    }
    operate(&cluster, &reader, &["rebuild", "all"]);
    operate(&cluster, &reader, &["verify"]);
    operate(&cluster, &write, &["audit", "verify"]);
    operate(&cluster, &write, &["curate", "withdraw", "bridge", "--reason", "It was taken down."]);
    let key_id = &key["log_live_".len()..][..8];
    operate(&cluster, &write, &["keys", "revoke", key_id]);
    kit::wait_until(TIMEOUT, "the key's end", async || {
        let found = http.attempt("GET", "/v1/search?q=bridge", &signed, "").await;
        found.is_ok_and(|found| found.status == 401)
    })
    .await;
    replicated(&cluster).await;
    for loggia in [&mut serving, &mut projecting, &mut writing] {
        let ended = loggia.terminate().await;
        assert!(ended.success(), "{ended}: {}", loggia.stderr());
    }
    assert_eq!(cluster.violations(), Vec::<String>::new());
}

/// Checks that every stream is replicated to all three servers.
async fn replicated(cluster: &Cluster) {
    let context = async_nats::jetstream::new(cluster.client(ProcessRole::Operator).await);
    for name in ["EVENTS", "USAGE_FREE", "USAGE_STUDIO", "USAGE_PRO", "USAGE_OVERRUN"] {
        let stream = context.get_stream(name).await.unwrap();
        assert_eq!(stream.cached_info().config.num_replicas, 3, "{name}");
    }
}

// The servers in two tests that run at the same time: one waits for an election.

#[tokio::test(flavor = "multi_thread")]
async fn a_key_revoked_while_the_leader_is_lost_is_rejected() {
    a_revoked_key_is_rejected(|leader| vec![leader]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_revoked_while_a_follower_is_lost_is_rejected() {
    a_revoked_key_is_rejected(|leader| vec![(leader + 1) % 3, (leader + 2) % 3]).await;
}

/// Revokes a key while a server is lost, for each of these servers, which are chosen by the leader of the events.
async fn a_revoked_key_is_rejected(lost: impl FnOnce(usize) -> Vec<usize>) {
    let Some(mut cluster) = Cluster::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = |name: &str| folder.path().join(name);
    let _writing = spawn(&cluster, &data("write"), ProcessRole::Write);
    writes(&data("write")).await;
    let mut nodes = ["one", "two"].map(|name| spawn(&cluster, &data(name), ProcessRole::Read));
    let mut https = Vec::new();
    for node in &mut nodes {
        https.push(node.ready().await);
    }
    for server in lost(cluster.leader("EVENTS").await) {
        let email = format!("ada{server}@example.org");
        let issue = ["keys", "issue", "--email", &email, "--json"];
        let issued = operate(&cluster, &data("write"), &issue).json();
        let key = issued["key"].as_str().unwrap_or_else(|| panic!("{issued}")).to_owned();
        let bearer = format!("Bearer {key}");
        let signed = [("authorization", bearer.as_str())];
        for http in &https {
            kit::wait_until(TIMEOUT, "a node that takes the key", async || {
                http.attempt("GET", "/v1/search?q=bridge", &signed, "").await.is_ok_and(|a| a.status == 200)
            })
            .await;
        }
        cluster.in_sync("EVENTS").await;
        cluster.kill9(server);
        operate(&cluster, &data("write"), &["keys", "revoke", &key["log_live_".len()..][..8]]);
        cluster.leader("EVENTS").await;
        let led = Instant::now();
        for http in &https {
            kit::wait_until(TIMEOUT, "a node that refuses the key", async || {
                http.attempt("GET", "/v1/search?q=bridge", &signed, "").await.is_ok_and(|a| a.status == 401)
            })
            .await;
        }
        println!("server {server} lost: refused {:?} after there was a leader", led.elapsed());
        cluster.restart(server);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_all_in_one_role_works_with_its_user() {
    let Some(cluster) = Cluster::start_of(1).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut loggia =
        Loggia::spawn_command(command(&cluster, &data, ProcessRole::Up, &["up", "--no-demo"]), &data);
    let http = loggia.ready().await;
    import(&cluster, folder.path(), &data);
    kit::wait_until(TIMEOUT, "the project", async || http.get("/projects/bridge").await.status == 200).await;
    operate(&cluster, &data, &["audit", "verify"]);
    assert!(loggia.terminate().await.success());
    assert_eq!(cluster.violations(), Vec::<String>::new());
}
