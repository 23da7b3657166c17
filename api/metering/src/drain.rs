//! Publishes the spool once NATS is reachable. Each tier has its own lane; lanes work concurrently.

mod known;
mod lane;

use std::collections::HashMap;
use std::time::Duration;

use futures::future::join_all;
use schemas::tier::TierName;
use tokio::time::timeout;

use super::Inner;
use lane::Lane;

/// The pause after calls that could not be published.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// How often an empty spool is reported as one that works: a call that could not be added may have been reported in between.
const EMPTY_INTERVAL: Duration = Duration::from_secs(1);

/// Publishes whenever the spool is not empty; never returns.
pub(super) async fn run(inner: &Inner) {
    let (mut lanes, mut published) = (HashMap::new(), 0);
    let mut waiting = inner.spool.watch();
    loop {
        if *waiting.borrow_and_update() == 0 {
            if published > 0 {
                tracing::info!(calls = published, "calls that waited for NATS are counted");
            }
            (lanes, published) = (HashMap::new(), 0);
            inner.draining.recovered();
            inner.keeping.recovered();
            // Calls were added, or it is time to report again.
            let _elapsed = timeout(EMPTY_INTERVAL, waiting.changed()).await;
            continue;
        }
        let (calls, troubles) = round(inner, &mut lanes).await;
        published += calls;
        if calls > 0 {
            inner.keeping.recovered();
        }
        if troubles.is_empty() {
            inner.draining.recovered();
        } else {
            inner.draining.failed(format_args!("calls still wait in it: {}", troubles.join("; ")));
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }
}

/// Publishes some calls of each lane; returns their number and the failures.
async fn round(inner: &Inner, lanes: &mut HashMap<Option<TierName>, Lane>) -> (usize, Vec<String>) {
    let going = inner.spool.lanes().into_iter().map(|(tier, files)| {
        let mut lane = lanes.remove(&tier).unwrap_or_default();
        async move {
            let outcome = lane.publish_some(inner, &files).await;
            (tier, lane, outcome)
        }
    });
    let (mut calls, mut troubles) = (0, Vec::new());
    for (tier, lane, (published, outcome)) in join_all(going).await {
        lanes.insert(tier, lane);
        calls += published;
        troubles.extend(outcome.err());
    }
    (calls, troubles)
}
