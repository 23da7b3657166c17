//! Three read nodes under 1,000 requests per second: how soon a new one has caught up, and what fails when one is
//! killed. It needs a release build and a quiet machine:
//! `LOGGIA_MEASURED=target/release/loggia cargo test --test e2e read_nodes_measured -- --ignored --nocapture`

use std::time::{Duration, Instant};

use bench::steady::{Mix, SteadyLoad};
use kit::balancer::Balancer;
use kit::http::Http;
use serde_json::json;

use crate::node_group::{NodeGroup, ReadNode, searches};
use crate::service::{TIMEOUT, json as run_json};

/// The number of events in the log.
const EVENTS: usize = 100_000;
/// Requests per second, and the number of connections.
const RATE: (f64, usize) = (1_000.0, 32);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures, and takes minutes"]
async fn a_node_is_replaced_under_a_thousand_requests_a_second() {
    let port = kit::free_port();
    let (admin, url) = (format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{port}"));
    let settings = [
        ("LOGGIA_AUTH", "keys"),
        ("LOGGIA_TIERS", "free=200, much=100000000"),
        ("LOGGIA_BURST_PER_KEY", "0"),
    ];
    let Some(mut group) = NodeGroup::of(&[], EVENTS, &settings).await else { return };
    let issue = |group: &NodeGroup, email: &str| {
        let issued = run_json(&group.write(), &["keys", "issue", "--email", email]).pop().unwrap();
        issued["key"].as_str().unwrap().to_owned()
    };
    let (small, large) = (issue(&group, "a@example.org"), issue(&group, "b@example.org"));
    run_json(&group.write(), &["keys", "tier", "--email", "b@example.org", "much"]);

    let (one, seconds) = timed(&group, "one", &[("LOGGIA_ADMIN_LISTEN", &admin)]).await;
    print("a new node from the first event on, ready after", seconds, "s");
    let snapshot = group.folder.path().join("snapshot");
    let began = Instant::now();
    run_json(&one.data, &["snapshot", snapshot.to_str().unwrap()]);
    print("a snapshot is taken in", began.elapsed().as_secs_f64(), "s");
    let token = std::fs::read_to_string(one.data.join("snapshot.token")).unwrap();
    let url = url.replace("http://", &format!("http://{token}@"));
    let (two, seconds) = timed(&group, "two", &[("LOGGIA_SNAPSHOT", &url)]).await;
    print("a new node from a snapshot of another, ready after", seconds, "s");
    let (three, _) = timed(&group, "three", &[("LOGGIA_SNAPSHOT", snapshot.to_str().unwrap())]).await;
    group.balancer = Balancer::start(&[one.address, two.address, three.address]).await;
    group.nodes = vec![one, two, three];
    group.all_ready().await;

    let requests = Mix { key: Some(large), ..searches() };
    let (load, loaded) =
        (SteadyLoad::start(group.balancer.address, &requests, RATE.1, RATE.0), Instant::now());
    let requests = Mix { key: Some(small), ..searches() };
    let limited = SteadyLoad::start(group.balancer.address, &requests, 4, 20.0);
    tokio::time::sleep(Duration::from_secs(5)).await;
    group.nodes[1].process.kill9();
    let (four, seconds) = timed(&group, "four", &[("LOGGIA_SNAPSHOT", &url)]).await;
    print("the same under the load, ready after", seconds, "s");
    group.balancer.replace(1, four.address);
    group.nodes[1] = four;
    group.all_ready().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (met, limited) = (load.stop().await, limited.stop().await);
    let seconds = loaded.elapsed().as_secs_f64();
    print("requests answered 200", met.answers[&200] as f64, "");
    print("that is", met.answers[&200] as f64 / seconds, "a second");
    print("requests that failed", met.failures.len() as f64, "");
    assert!(met.failures.len() <= RATE.1, "{met:?}");
    assert_eq!(met.answers.keys().collect::<Vec<_>>(), [&200], "{:?}", met.answers);
    print("calls of a key of 200 that were answered", limited.answers[&200] as f64, "");
    assert!(limited.answers[&200] + limited.failures.len() as u64 >= 200 && limited.answers[&200] <= 200);
    let counted = met.answers[&200] + 200;
    let audit = kit::wait_for(TIMEOUT, "the ledger", async || {
        let audit = run_json(&group.write(), &["audit", "verify"]).pop().unwrap();
        (audit["calls"].as_u64() >= Some(counted)).then_some(audit)
    })
    .await;
    print("calls that the ledger counts", audit["calls"].as_u64().unwrap() as f64, "");
    assert_eq!(audit["differences"], json!([]));

    group.import_as("Tower", EVENTS);
    let old = [("LOGGIA_SNAPSHOT", snapshot.to_str().unwrap())];
    let (_five, seconds) = timed(&group, "five", &old).await;
    print("a new node from a snapshot that is 100,000 events old, ready after", seconds, "s");
}

/// Starts a node, and returns the seconds until it was ready.
async fn timed(group: &NodeGroup, name: &str, settings: &[(&str, &str)]) -> (ReadNode, f64) {
    let began = Instant::now();
    let node = group.start(name, settings).await;
    let http = Http::new(format!("http://{}", node.address));
    kit::wait_until(10 * TIMEOUT, "readiness", async || http.get("/readyz").await.status == 200).await;
    (node, began.elapsed().as_secs_f64())
}

#[allow(clippy::print_stdout, reason = "it measures")]
fn print(what: &str, value: f64, unit: &str) {
    println!("{what:<66} {value:>10.2} {unit}");
}
