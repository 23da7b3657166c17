//! Nodes whose clocks differ.

use kit::http::Http;

use crate::node_group::NodeGroup;
use crate::service::{TIMEOUT, json as run_json};

#[tokio::test]
async fn a_node_with_a_clock_months_ahead_does_not_affect_the_others() {
    let settings = [("LOGGIA_AUTH", "keys"), ("LOGGIA_BURST_PER_KEY", "0"), ("LOGGIA_TIERS", "free=20")];
    let Some(group) = NodeGroup::of(&["right"], 3, &settings).await else { return };
    let ahead = group.start("ahead", &[("LOGGIA_CLOCK_OFFSET", "100d")]).await;
    let issued = run_json(&group.write(), &["keys", "issue", "--email", "a@example.org"]).pop().unwrap();
    let key = issued["key"].as_str().unwrap().to_owned();
    let (usage, call) = (format!("/v1/usage?key={key}"), format!("/v1/search?q=bridge&key={key}"));
    let http = |address| Http::new(format!("http://{address}"));
    let (right, other) = (http(group.nodes[0].address), http(ahead.address));
    for http in [&right, &other] {
        kit::wait_until(TIMEOUT, "the key", async || http.get(&usage).await.status == 200).await;
    }
    let remaining = async |http: &Http| {
        let answer = http.get(&call).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("x-ratelimit-remaining").unwrap().to_owned()
    };
    for left in 15..20 {
        assert_eq!(remaining(&right).await, (34 - left).to_string());
    }
    assert_eq!(remaining(&other).await, "19", "its month is another one");
    // A node started later knows the calls only from the counters.
    let late = group.start("late", &[]).await;
    let late_http = http(late.address);
    kit::wait_until(TIMEOUT, "the calls on the new node", async || {
        late_http.get(&usage).await.json()["used"] == 5
    })
    .await;
    assert_eq!(remaining(&late_http).await, "14");
    let log = ahead.process.stderr();
    assert!(log.contains("clock_offset is set"), "{log}");
}
