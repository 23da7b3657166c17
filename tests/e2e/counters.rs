//! `loggia rebuild counters`, `verify counters` and `status`, during traffic and without a service.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use schemas::usage::Call;
use serde_json::{Value, json};

use crate::audit::TestPublisher;
use crate::service::{Service, TIMEOUT, json as run_json};

async fn counted(service: &Service, calls: u64) {
    kit::wait_until(TIMEOUT, &format!("{calls} counted calls"), async || {
        let status = service.json(&["status"]).pop().unwrap();
        let projections = status["projections"].as_array().unwrap();
        projections.iter().any(|p| p["name"] == "counters" && p["position"] == calls)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_are_rebuilt_and_verified_during_traffic() {
    let args = ["--no-demo", "--auth", "keys", "--tiers", "free=100000"];
    let Some(mut service) = Service::with(&args).await else { return };
    let publisher = TestPublisher::of(&service).await;
    for _ in 0..40 {
        publisher.publish(Call::subject).await;
    }
    publisher.publish(Call::overrun_subject).await;
    counted(&service, 41).await;
    let made = Arc::new(AtomicU64::new(41));
    let making = made.clone();
    let calling = tokio::spawn(async move {
        loop {
            publisher.publish(Call::subject).await;
            making.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    });
    let verified = service.json(&["verify", "counters"]).pop().unwrap();
    assert_eq!(verified["equal"], true, "{verified}");
    let rebuilt = service.json(&["rebuild", "counters"]).pop().unwrap();
    let swapped = &rebuilt["swapped"];
    assert_eq!((&swapped["model"], &swapped["generation"]), (&json!("counters"), &json!("g000002")));
    assert!(swapped["events"].as_u64().unwrap() > 41, "{swapped}");
    let verified = service.json(&["verify", "counters"]).pop().unwrap();
    assert_eq!(verified["equal"], true, "{verified}");
    calling.abort();
    let _ = calling.await;

    // NATS may have stored a call whose acknowledgement did not reach its publisher.
    let total = made.load(Ordering::SeqCst);
    let position = kit::wait_for(TIMEOUT, "every call", async || {
        let status = service.json(&["status"]).pop().unwrap();
        let usage = &status["usage"];
        let (calls, over, keys) = (usage["calls"].as_u64()?, usage["overrun"].as_u64()?, &usage["keys"]);
        let all = status["ledger"]["position"] == calls + over && calls + over >= total && *keys == 1;
        all.then_some(calls + over)
    })
    .await;
    assert!(position <= total + 1, "{position} counted of {total}");
    let screen = service.run(&["status"]).stdout;
    assert!(screen.contains(", keys 1, over the quota 1\n"), "{screen}");

    assert!(service.loggia.terminate().await.success());
    let verified = run_json(service.folder.path(), &["verify", "counters", "--auth", "keys"]);
    let results: Vec<(&Value, &Value)> = verified.iter().map(|v| (&v["equal"], &v["position"])).collect();
    assert_eq!(results, [(&json!(true), &json!(position))], "without a running node");
}
