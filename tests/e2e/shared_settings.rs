//! Nodes whose shared settings differ from those of the write side.

use bench::steady::SteadyLoad;
use kit::ProgramOutput;
use kit::http::Http;
use serde_json::json;

use crate::node_group::{NodeGroup, searches};
use crate::service::{LOGGIA, TIMEOUT};

#[tokio::test]
async fn a_node_with_different_tiers_is_not_ready_and_names_the_setting() {
    let settings = [("LOGGIA_AUTH", "keys"), ("LOGGIA_TIERS", "free=500, studio=900")];
    let Some(group) = NodeGroup::of(&["one"], 3, &settings).await else { return };
    Http::new(format!("http://{}", group.nodes[0].address)).ready().await;
    let mut issue = kit::process::command(&LOGGIA, &group.write());
    issue.args(["keys", "issue", "--email", "a@example.org", "--tier", "studio", "--json"]).envs(settings);
    let issued = ProgramOutput::of(&mut issue).success().json();
    let key = issued["key"].as_str().unwrap();
    for (name, tiers) in
        [("two", "free=50, studio=900"), ("three", "free=900, studio=900"), ("four", "free=500")]
    {
        let node = group.start(name, &[("LOGGIA_TIERS", tiers)]).await;
        let http = Http::new(format!("http://{}", node.address));
        let sentence = format!(
            "tiers is “{tiers}” here and “free=500, studio=900” on the write side (LOGGIA_TIERS); set the same for all nodes \
             and start this one again"
        );
        kit::wait_until(TIMEOUT, "the reason", async || {
            let answer = http.get("/readyz").await;
            answer.status == 503 && answer.text().contains(&sentence)
        })
        .await;
        if name == "four" {
            // A key of the tier that it lacks is served as one of the first tier.
            let answer = kit::wait_for(TIMEOUT, "the key", async || {
                let answer = http.get(&format!("/v1/usage?key={key}")).await;
                (answer.status == 200).then(|| answer.json())
            })
            .await;
            assert_eq!((&answer["tier"], &answer["limit"]), (&json!("free"), &json!(500)), "{answer}");
            assert_eq!(http.get(&format!("/v1/search?q=bridge&key={key}")).await.status, 200);
        }
    }
}

/// The order of docs/scale.md: one node, the write side, the other nodes.
#[tokio::test]
async fn a_shared_setting_is_changed_without_one_failed_request() {
    let Some(mut group) = NodeGroup::three(30, &[("LOGGIA_TIERS", "free=500")]).await else { return };
    let changed = [("LOGGIA_TIERS", "free=900")];
    let load = SteadyLoad::start(group.balancer.address, &searches(), 12, 150.0);
    group.restart(0, "one", &changed).await;
    let first = Http::new(format!("http://{}", group.nodes[0].address));
    kit::wait_until(TIMEOUT, "the reason why the first is not ready", async || {
        let answer = first.get("/readyz").await;
        answer.status == 503
            && answer.text().contains("tiers is “free=900” here and “free=500” on the write side")
    })
    .await;
    group.restart_write_side(&changed).await;
    // The first agrees now, and the others, which have the old value, stay ready until it is.
    group.all_ready().await;
    group.restart(1, "two", &changed).await;
    group.restart(2, "three", &changed).await;
    group.all_ready().await;
    kit::wait_until(TIMEOUT, "many answers", async || load.answered() > 300).await;
    let met = load.stop().await;
    assert_eq!(met.failures, [""; 0]);
    assert_eq!(met.answers.keys().collect::<Vec<_>>(), [&200], "{met:?}");
}
