//! Several read nodes on one write side, behind a balancer: restarted in turn, killed, replaced by new ones.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use kit::balancer::Balancer;
use kit::http::Http;
use kit::load::{Asked, Load};
use kit::nats::Nats;
use kit::process::{self, Loggia};
use serde_json::{Value, json};

use crate::started::{LOGGIA, PATIENCE, json as run_json, ready};

/// A write side with some projects, and read nodes that follow it.
struct Several {
    // The processes end before their folders go.
    nodes: Vec<ReadNode>,
    _write: Loggia,
    balancer: Balancer,
    folder: tempfile::TempDir,
    nats: Nats,
    settings: Vec<(&'static str, String)>,
}

/// A read node with a folder of its own.
struct ReadNode {
    process: Loggia,
    data: PathBuf,
    address: SocketAddr,
}

impl Several {
    /// Three nodes that have caught up; `None` where there is no nats-server, told loudly.
    async fn three(projects: usize, settings: &[(&'static str, &str)]) -> Option<Several> {
        let nats = Nats::start().await?;
        let folder = tempfile::tempdir().unwrap();
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let data = folder.path().join("write");
        let mut command = process::command(LOGGIA, &data);
        command.arg("write").env("LOGGIA_NATS_URL", nats.url());
        let settings: Vec<(&'static str, String)> = settings;
        command.envs(settings.iter().map(|(name, value)| (*name, value.as_str())));
        let write = Loggia::spawn_command(command, &data);
        let announced = data.join("run/write.json");
        kit::wait_until(PATIENCE, "the write side", async || announced.exists()).await;
        let balancer = Balancer::before(&[]).await;
        let mut several = Several { nodes: Vec::new(), _write: write, balancer, folder, nats, settings };
        several.import(projects);
        let mut addresses = Vec::new();
        for name in ["one", "two", "three"] {
            let node = several.start(name, &[]).await;
            addresses.push(node.address);
            several.nodes.push(node);
        }
        several.balancer = Balancer::before(&addresses).await;
        several.all_ready().await;
        Some(several)
    }

    fn write(&self) -> PathBuf {
        self.folder.path().join("write")
    }

    fn import(&self, projects: usize) {
        let file = self.folder.path().join("in.ndjson");
        let lines: String = (0..projects)
            .map(|n| format!("{}\n", json!({"name": format!("Bridge {n}"), "category": "architecture"})))
            .collect();
        std::fs::write(&file, lines).unwrap();
        run_json(&self.write(), &["import", file.to_str().unwrap()]);
    }

    /// Starts a node on a folder of this name, and returns once it has told its address.
    async fn start(&self, name: &str, settings: &[(&str, &str)]) -> ReadNode {
        let data = self.folder.path().join(name);
        let mut process = self.spawn(&data, settings);
        let address = process.address().await;
        ReadNode { process, data, address }
    }

    fn spawn(&self, data: &Path, settings: &[(&str, &str)]) -> Loggia {
        let mut command = process::command(LOGGIA, data);
        command.arg("read").env("LOGGIA_NATS_URL", self.nats.url()).env("LOGGIA_DRAIN", "1s");
        command.envs(self.settings.iter().map(|(name, value)| (*name, value.as_str())));
        command.envs(settings.iter().copied());
        Loggia::spawn_command(command, data)
    }

    async fn all_ready(&self) {
        kit::wait_until(PATIENCE, "three nodes that are ready", async || self.balancer.ready() == 3).await;
    }
}

fn searches() -> Asked {
    let mut paths: Vec<String> = (0..20).map(|n| format!("/v1/search?q=bridge%20{n}")).collect();
    paths.extend((0..20).map(|n| format!("/v1/project/bridge-{n}")));
    Asked { paths, key: None }
}

#[tokio::test]
async fn nodes_are_restarted_in_turn_without_one_failed_request() {
    let Some(mut several) = Several::three(30, &[]).await else { return };
    let load = Load::start(several.balancer.address(), &searches(), 12, 150.0);
    for place in 0..3 {
        let name = ["one", "two", "three"][place];
        assert!(several.nodes[place].process.terminate().await.success());
        let node = several.start(name, &[]).await;
        several.balancer.replace(place, node.address);
        several.nodes[place] = node;
        several.all_ready().await;
    }
    let met = load.stop().await;
    assert_eq!(met.failures, [""; 0]);
    assert_eq!(met.answers.keys().collect::<Vec<_>>(), [&200], "{met:?}");
    assert!(met.answers[&200] > 300, "{met:?}");
}

#[tokio::test]
async fn a_killed_node_is_replaced_by_one_that_begins_with_a_snapshot() {
    let settings =
        [("LOGGIA_AUTH", "keys"), ("LOGGIA_BURST_PER_KEY", "0"), ("LOGGIA_ADMIN_LISTEN", "127.0.0.1:0")];
    let Some(mut several) = Several::three(30, &settings).await else { return };
    let issued = run_json(&several.write(), &["keys", "issue", "--email", "a@example.org"]).pop().unwrap();
    let key = issued["key"].as_str().unwrap().to_owned();
    for node in &several.nodes {
        let http = Http::new(format!("http://{}", node.address));
        let usage = format!("/v1/usage?key={key}");
        kit::wait_until(PATIENCE, "the key on every node", async || http.get(&usage).await.status == 200)
            .await;
    }
    let snapshot = several.folder.path().join("snapshot");
    let asked = Asked { key: Some(key.clone()), ..searches() };
    let connections = 12;
    let load = Load::start(several.balancer.address(), &asked, connections, 60.0);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    several.nodes[1].process.kill9();
    run_json(&several.nodes[0].data, &["snapshot", snapshot.to_str().unwrap()]);
    several.import(40);
    let node = several.start("four", &[("LOGGIA_SNAPSHOT", snapshot.to_str().unwrap())]).await;
    several.balancer.replace(1, node.address);
    several.nodes[1] = node;
    several.all_ready().await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let met = load.stop().await;
    assert!(met.failures.len() <= connections, "only what was under way on the killed node fails: {met:?}");
    let lost = met.failures.len() as u64;
    let answered = met.answers[&200];
    assert!((200 - lost..=200).contains(&answered), "a key of 200 calls gets 200, over any nodes: {met:?}");
    assert_eq!(met.answers.keys().collect::<Vec<_>>(), [&200, &429], "{met:?}");
    let audit = run_json(&several.write(), &["audit", "verify"]).pop().unwrap();
    assert_eq!((&audit["calls"], &audit["differences"]), (&json!(200), &json!([])), "{audit}");
    let http = several.nodes[1].process.http().await;
    let usage = kit::wait_for(PATIENCE, "all calls on the new node", async || {
        let usage = http.get(&format!("/v1/usage?key={key}")).await.json();
        (usage["used"] == 200).then_some(usage)
    })
    .await;
    assert_eq!(usage["remaining"], 0);
    let log = several.nodes[1].process.stderr();
    assert!(log.contains("the read models begin with a snapshot"), "{log}");
}

#[tokio::test]
async fn a_new_node_fetches_its_snapshot_from_another_and_refuses_what_is_not_right() {
    let Some(nats) = Nats::start().await else { return };
    drop(nats);
}

#[allow(dead_code)]
fn unused(_: Value) {
    let _ = ready;
}
