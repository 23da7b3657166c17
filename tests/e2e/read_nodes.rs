//! Several read nodes on one write side, behind a balancer: restarted in turn, killed, replaced by new ones.

use std::path::Path;

use bench::steady::{Mix, SteadyLoad};
use kit::http::Http;
use serde_json::{Value, json};

use crate::node_group::{NodeGroup, searches};
use crate::service::{TIMEOUT, json as run_json};

#[tokio::test]
async fn nodes_are_restarted_in_turn_without_one_failed_request() {
    let Some(mut group) = NodeGroup::three(30, &[]).await else { return };
    let load = SteadyLoad::start(group.balancer.address, &searches(), 12, 150.0);
    for place in 0..3 {
        let name = ["one", "two", "three"][place];
        assert!(group.nodes[place].process.terminate().await.success());
        let node = group.start(name, &[]).await;
        group.balancer.replace(place, node.address);
        group.nodes[place] = node;
        group.all_ready().await;
    }
    kit::wait_until(TIMEOUT, "many answers", async || load.answered() > 300).await;
    let met = load.stop().await;
    assert_eq!(met.failures, [""; 0]);
    assert_eq!(met.answers.keys().collect::<Vec<_>>(), [&200], "{met:?}");
}

#[tokio::test]
async fn a_killed_node_is_replaced_by_one_that_starts_from_a_snapshot() {
    let settings =
        [("LOGGIA_AUTH", "keys"), ("LOGGIA_BURST_PER_KEY", "0"), ("LOGGIA_ADMIN_LISTEN", "127.0.0.1:0")];
    let Some(mut group) = NodeGroup::three(30, &settings).await else { return };
    let issued = run_json(&group.write(), &["keys", "issue", "--email", "a@example.org"]).pop().unwrap();
    let key = issued["key"].as_str().unwrap().to_owned();
    for node in &group.nodes {
        let http = Http::new(format!("http://{}", node.address));
        let usage = format!("/v1/usage?key={key}");
        kit::wait_until(TIMEOUT, "the key on every node", async || http.get(&usage).await.status == 200)
            .await;
    }
    let snapshot = group.folder.path().join("snapshot");
    let requests = Mix { key: Some(key.clone()), ..searches() };
    let connections = 12;
    let load = SteadyLoad::start(group.balancer.address, &requests, connections, 60.0);
    kit::wait_until(TIMEOUT, "the load", async || load.answered() > 50).await;
    group.nodes[1].process.kill9();
    run_json(&group.nodes[0].data, &["snapshot", snapshot.to_str().unwrap()]);
    group.import(40);
    let node = group.start("four", &[("LOGGIA_SNAPSHOT", snapshot.to_str().unwrap())]).await;
    group.balancer.replace(1, node.address);
    group.nodes[1] = node;
    group.all_ready().await;
    let (first, usage) = (group.nodes[0].process.http().await, format!("/v1/usage?key={key}"));
    kit::wait_until(TIMEOUT, "the key to be used up", async || first.get(&usage).await.json()["used"] == 200)
        .await;
    // Further requests are rejected.
    let answered = load.answered();
    kit::wait_until(TIMEOUT, "further answers", async || load.answered() > answered + 50).await;
    let met = load.stop().await;
    assert!(met.failures.len() <= connections, "only what was under way on the killed node fails: {met:?}");
    let lost = met.failures.len() as u64;
    let answered = met.answers[&200];
    assert!((200 - lost..=200).contains(&answered), "a key of 200 calls gets 200, over any nodes: {met:?}");
    assert_eq!(met.answers.keys().collect::<Vec<_>>(), [&200, &429], "{met:?}");
    let audit = run_json(&group.write(), &["audit", "verify"]).pop().unwrap();
    assert_eq!((&audit["calls"], &audit["differences"]), (&json!(200), &json!([])), "{audit}");
    let http = group.nodes[1].process.http().await;
    let usage = kit::wait_for(TIMEOUT, "all calls on the new node", async || {
        let usage = http.get(&format!("/v1/usage?key={key}")).await.json();
        (usage["used"] == 200).then_some(usage)
    })
    .await;
    assert_eq!(usage["remaining"], 0);
    let log = group.nodes[1].process.stderr();
    assert!(log.contains("the read models start from a snapshot"), "{log}");
}

#[tokio::test]
async fn a_new_node_fetches_a_snapshot_from_another_and_keeps_it() {
    let port = kit::free_port();
    let (address, url) = (format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{port}"));
    let Some(group) = NodeGroup::of(&[], 300, &[]).await else { return };
    let one = group.start("one", &[("LOGGIA_ADMIN_LISTEN", &address)]).await;
    Http::new(format!("http://{}", one.address)).ready().await;
    let operators = Http::new(url.clone());
    let token = std::fs::read_to_string(one.data.join("snapshot.token")).unwrap();
    let bearer = format!("Bearer {token}");
    let shown: [(&str, &str); 1] = [("authorization", &bearer)];
    // The credentials for metrics do not give access to hashes of keys.
    for headers in
        [&[][..], &[("authorization", "Bearer nothing")], &[("authorization", "Basic bm90aGluZzo=")]]
    {
        let refused = operators.send("GET", "/snapshot", headers, "").await;
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    }
    assert_eq!(operators.get("/metrics").await.status, 200);
    let manifest = operators.send("GET", "/snapshot", &shown, "").await.json();
    assert_eq!(manifest["models"][0]["position"], 300);
    // A file is served from any offset, and only under its digest.
    let file = &manifest["models"][0]["files"][0];
    let path = format!("/snapshot/{}", file["sha256"].as_str().unwrap());
    assert_eq!(operators.get(&path).await.status, 401);
    let whole = operators.send("GET", &path, &shown, "").await;
    assert_eq!((whole.status, whole.body.len() as u64), (200, file["size"].as_u64().unwrap()));
    let rest = operators.send("GET", &path, &[("range", "bytes=4096-"), shown[0]], "").await;
    assert_eq!((rest.status, &rest.body[..]), (206, &whole.body[4096..]));
    let range = format!("bytes 4096-{}/{}", whole.body.len() - 1, whole.body.len());
    assert_eq!(rest.header("content-range"), Some(range.as_str()));
    assert_eq!(operators.send("GET", &format!("/snapshot/{}", "0".repeat(64)), &shown, "").await.status, 404);
    refused(&group, &url, "it cannot be fetched: ", "requires a token: write http://TOKEN@…").await;

    let with_token = url.replace("http://", &format!("http://{token}@"));
    let mut two = group.start("two", &[("LOGGIA_SNAPSHOT", &with_token)]).await;
    let http = Http::new(format!("http://{}", two.address));
    http.ready().await;
    assert_eq!(http.get("/v1/search?q=bridge").await.json()["total"], 300);
    let stderr = two.process.stderr();
    assert!(stderr.contains("the read models start from a snapshot position=300"), "{stderr}");
    assert!(!stderr.contains(&token), "{stderr}");
    let verified = run_json_with(&two.data, &["verify"], &group.nats.url());
    assert!(verified.iter().all(|model| model["equal"] == true), "{verified:?}");
    // From now on the node maintains its models itself.
    assert!(two.process.terminate().await.success());
    let again = group.start("two", &[("LOGGIA_SNAPSHOT", "/nowhere")]).await;
    Http::new(format!("http://{}", again.address)).ready().await;
}

#[tokio::test]
async fn an_invalid_snapshot_is_never_used() {
    let Some(group) = NodeGroup::of(&[], 5, &[]).await else { return };
    let one = group.start("one", &[]).await;
    Http::new(format!("http://{}", one.address)).ready().await;
    let snapshot = group.folder.path().join("snapshot");
    let set = snapshot.to_str().unwrap();
    run_json(&one.data, &["snapshot", set]);
    refused(&group, "/nowhere", "/nowhere/manifest.json cannot be read or written", "").await;
    refused(&group, "http://127.0.0.1:9", "it cannot be fetched: ", "").await;
    let other = NodeGroup::of(&[], 5, &[]).await.unwrap();
    refused(&other, set, "it does not fit: it shows the log of event store", "").await;
    let catalog = snapshot.join("catalog/catalog.db");
    let mut bytes = std::fs::read(&catalog).unwrap();
    bytes[5_000] ^= 1;
    std::fs::write(&catalog, bytes).unwrap();
    refused(&group, set, "it is damaged: catalog.db is not what its manifest says", "").await;
    // Without the setting it starts from the first event.
    let new = group.start("new", &[]).await;
    Http::new(format!("http://{}", new.address)).ready().await;
}

#[tokio::test]
async fn a_new_node_rejects_calls_until_it_has_caught_up() {
    let Some(group) = NodeGroup::of(&[], 4_000, &[]).await else { return };
    let mut one = group.start("one", &[]).await;
    let http = Http::new(format!("http://{}", one.address));
    let mut refused = 0;
    loop {
        let (call, is_ready) = (http.get("/v1/search?q=bridge").await, http.get("/readyz").await);
        if call.status == 200 {
            assert_eq!((is_ready.status, &call.json()["total"]), (200, &json!(4_000)));
            break;
        }
        refused += 1;
        assert_eq!((call.status, call.header("retry-after")), (503, Some("2")));
        assert_eq!(call.json()["title"], "Unavailable");
    }
    assert!(refused > 0, "4,000 events take their time");
    // A node that has caught up once answers from the start.
    assert!(one.process.terminate().await.success());
    let again = group.start("one", &[]).await;
    let http = Http::new(format!("http://{}", again.address));
    kit::wait_until(TIMEOUT, "an answer of any kind", async || http.get("/healthz").await.status == 200)
        .await;
    assert_ne!(http.get("/v1/search?q=bridge").await.json()["detail"], "The node is starting.");
}

/// Starts a node with an invalid snapshot; it must end with the sentence that says why.
async fn refused(group: &NodeGroup, set: &str, why: &str, more: &str) {
    let data = group.folder.path().join("new");
    let mut process = group.spawn(&data, &[("LOGGIA_SNAPSHOT", set)]);
    assert_eq!(process.ended(TIMEOUT).await.code(), Some(1));
    let stderr = process.stderr();
    let sentence = format!(
        "loggia: snapshot is “{set}”, which cannot be used, and nothing was changed; set LOGGIA_SNAPSHOT to another one, or \
         remove it to start from the first event: {why}"
    );
    assert!(stderr.contains(&sentence) && stderr.contains(more), "{stderr}");
    assert!(!data.join("models").exists() && !data.join("models.incoming").exists());
}

/// Runs a command on a read node's folder.
fn run_json_with(data: &Path, args: &[&str], nats: &str) -> Vec<Value> {
    let mut all = args.to_vec();
    all.extend(["--nats-url", nats]);
    run_json(data, &all)
}
