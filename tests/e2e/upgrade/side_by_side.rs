//! Nodes of the previous release and of this build on one NATS server, replaced one after the other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kit::nats::Nats;
use kit::process::{self, Loggia};
use serde_json::{Value, json};

use super::fixture::{calls_of, json_with, settings};
use crate::service::{LOGGIA, TIMEOUT};

/// The binary of the previous release, which `bin/test --upgrade` builds from the repository's history.
pub(super) fn former() -> Option<String> {
    let named = std::env::var("LOGGIA_FORMER").ok();
    if named.is_none() {
        kit::absent("LOGGIA_FORMER does not name the binary of the release before; run bin/test --upgrade");
    }
    named
}

/// A write side and two read nodes, each of either build.
struct MixedReleases {
    folder: tempfile::TempDir,
    nats: Nats,
    former: String,
}

/// A running role with the address of its API, if it has one.
struct Role {
    process: Loggia,
    data: PathBuf,
}

impl MixedReleases {
    async fn start(&self, binary: &str, role: &str, name: &str) -> Role {
        let data = self.folder.path().join(name);
        let mut command = process::command(binary, &data);
        settings(&mut command);
        command
            .arg(role)
            .env("LOGGIA_NATS_URL", self.nats.url())
            .env("LOGGIA_TIERS", "free=60, studio=100, pro=200");
        let mut process = Loggia::spawn_command(command, &data);
        match role {
            "write" => {
                let announced = data.join("run/write.json");
                let pid = process.pid().to_string();
                kit::wait_until(TIMEOUT, "the write side", async || {
                    std::fs::read_to_string(&announced).is_ok_and(|text| text.contains(&pid))
                })
                .await;
            }
            _ => _ = process.ready().await,
        }
        Role { process, data }
    }

    /// Stops a role and starts it on the same folder with this build.
    async fn replace(&self, mut role: Role, kind: &str) -> Role {
        assert!(role.process.terminate().await.success(), "{}", role.process.stderr());
        let name = role.data.file_name().unwrap().to_str().unwrap().to_owned();
        drop(role);
        self.start(&LOGGIA, kind, &name).await
    }
}

/// Waits until every node shows a city of the project, without counted requests.
async fn seen(nodes: &mut [&mut Role], city: &str) {
    for node in nodes {
        let http = node.process.http().await;
        kit::wait_until(TIMEOUT, city, async || http.get("/projects/bridge").await.text().contains(city))
            .await;
    }
}

/// Checks that an edit, a new key, calls on every node and a revocation reach all nodes, and each call is counted once.
async fn works(binary: &str, write: &Path, nodes: &mut [&mut Role], round: usize) {
    let run = |args: &[&str]| -> Vec<Value> { json_with(binary, write, args) };
    let city = format!("City {round}");
    run(&["curate", "revise", "bridge", "--set", &format!("city={city}")]);
    seen(nodes, &city).await;
    let email = format!("round-{round}@example.org");
    let issued = run(&["keys", "issue", "--email", &email]).pop().unwrap();
    let (key, id) = (issued["key"].as_str().unwrap(), issued["key_id"].as_str().unwrap());
    let (mut answered, mut refused) = (BTreeSet::new(), 0);
    for node in nodes.iter_mut() {
        let http = node.process.http().await;
        let usage = format!("/v1/usage?key={key}");
        kit::wait_until(TIMEOUT, "the new key", async || http.get(&usage).await.status == 200).await;
    }
    for call in 0..70 {
        let count = nodes.len();
        let http = nodes[call % count].process.http().await;
        let answer = http.get(&format!("/v1/search?q=bridge&key={key}")).await;
        match answer.status {
            200 => assert!(answered.insert(json!(answer.header("x-call-id").unwrap()).to_string())),
            429 => refused += 1,
            status => panic!("{status}: {answer:?}"),
        }
    }
    assert_eq!((answered.len(), refused), (60, 10), "round {round}: the quota holds over both builds");
    kit::wait_until(TIMEOUT, "the calls in the ledger", async || {
        let ledger_calls =
            calls_of(binary, write, id).iter().map(Value::to_string).collect::<BTreeSet<String>>();
        ledger_calls == answered
    })
    .await;
    run(&["keys", "revoke", id]);
    for node in nodes {
        let http = node.process.http().await;
        let path = format!("/v1/search?q=bridge&key={key}");
        kit::wait_until(TIMEOUT, "the end of the key", async || http.get(&path).await.status == 401).await;
    }
}

#[tokio::test]
#[ignore = "beside the release before, which bin/test --upgrade builds"]
async fn nodes_of_the_previous_and_this_release_serve_together_during_replacement() {
    let Some(former) = former() else { return };
    let Some(nats) = Nats::start().await else { return };
    let nodes = MixedReleases { folder: tempfile::tempdir().unwrap(), nats, former };
    let write = nodes.start(&nodes.former, "write", "write").await;
    let file = nodes.folder.path().join("in.ndjson");
    std::fs::write(
        &file,
        json!({"slug": "bridge", "name": "Bridge", "category": "architecture"}).to_string(),
    )
    .unwrap();
    json_with(&nodes.former, &write.data, &["import", file.to_str().unwrap()]);
    let mut one = nodes.start(&nodes.former, "read", "one").await;
    let mut two = nodes.start(&nodes.former, "read", "two").await;
    works(&nodes.former, &write.data, &mut [&mut one, &mut two], 1).await;
    // Read nodes first: one of each build follows the write side of the previous release.
    let mut two = nodes.replace(two, "read").await;
    works(&nodes.former, &write.data, &mut [&mut one, &mut two], 2).await;
    // Then the write side: one of each build follows that of this build.
    let write = nodes.replace(write, "write").await;
    works(&LOGGIA, &write.data, &mut [&mut one, &mut two], 3).await;
    let mut one = nodes.replace(one, "read").await;
    works(&LOGGIA, &write.data, &mut [&mut one, &mut two], 4).await;
    for node in [&one, &two] {
        let verified = json_with(&LOGGIA, &node.data, &["verify", "--nats-url", &nodes.nats.url()]);
        assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    }
    let audit = json_with(&LOGGIA, &write.data, &["audit", "verify"]).pop().unwrap();
    assert_eq!((&audit["calls"], &audit["differences"]), (&json!(240), &json!([])), "{audit}");
}
