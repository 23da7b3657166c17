//! NATS is away for a moment, or for longer: calls wait for it, and then each node admits its share.

use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream;
use async_nats::jetstream::consumer::pull;
use futures::future::join;
use kit::http::Answer;
use metering::Policy;
use schemas::subject::usage_stream;

use crate::TIMEOUT;
use crate::metered_nodes::{MeteredNodes, call_concurrently};

fn with_status(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

impl MeteredNodes {
    /// Lets the stream of calls have as many further consumers, as the counters of read nodes make them.
    async fn read_by(&self, nodes: usize) {
        let jetstream = jetstream::new(self.nats.client().await);
        let stream = jetstream.get_stream(usage_stream(&self.tiers.first().name)).await.unwrap();
        for _ in 0..nodes {
            let inactive_threshold = Duration::from_secs(3_600);
            stream.create_consumer(pull::Config { inactive_threshold, ..Default::default() }).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_wait_for_a_server_that_restarts_and_none_is_over_the_quota() {
    let Some(mut metered) = MeteredNodes::start(10, 1, 41).await else { return };
    let nodes = [metered.node(Policy::Spool).await, metered.node(Policy::Spool).await];
    let key = metered.keys[0].clone();
    metered.nats.kill9().await;
    let calls = call_concurrently(16, 16, async |index| nodes[index % 2].call(&key).await);
    let restarting = async {
        kit::wait_until(TIMEOUT, "all calls to wait", async || {
            nodes.iter().map(|node| node.meter.waiting()).sum::<u64>() == 16
        })
        .await;
        metered.nats.restart().await;
    };
    let (answers, ()) = join(calls, restarting).await;
    assert_eq!((with_status(&answers, 200), with_status(&answers, 429)), (10, 6), "{answers:?}");
    let entries = metered.wait_for_ledger(10).await;
    assert!(entries.iter().all(|entry| !entry.overrun), "{entries:?}");
    assert_eq!(nodes[0].meter.waiting() + nodes[1].meter.waiting(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_calls_of_a_key_wait_and_the_rest_is_told_when_to_come_again() {
    let Some(mut metered) = MeteredNodes::start(1_000, 2, 42).await else { return };
    let node = metered.node(Policy::Spool).await;
    let (key, other) = (metered.keys[0].clone(), metered.keys[1].clone());
    metered.nats.kill9().await;
    let waiting = async |calls: u64| {
        kit::wait_until(TIMEOUT, &format!("{calls} calls to wait"), async || node.meter.waiting() == calls)
            .await;
    };
    let first = node.call(&other);
    let others = async {
        // From then on calls wait without being published.
        waiting(1).await;
        let calls = call_concurrently(300, 300, async |_| node.call(&key).await);
        let last = async {
            waiting(257).await;
            let restarting = async {
                waiting(258).await;
                metered.nats.restart().await;
            };
            join(node.call(&other), restarting).await.0
        };
        join(calls, last).await
    };
    let (first, (answers, last)) = join(first, others).await;
    assert_eq!((first.status, last.status), (200, 200), "the calls of another key");
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 503).collect();
    assert!(refused.iter().all(|answer| answer.header("retry-after") == Some("2")), "{refused:?}");
    assert_eq!((with_status(&answers, 200), refused.len()), (256, 44));
    metered.wait_for_ledger(258).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_nats_the_nodes_together_admit_what_was_left_of_a_quota() {
    let Some(mut metered) = MeteredNodes::start(10, 1, 43).await else { return };
    let counters = metered.count().await;
    let nodes = [metered.node(Policy::Spool).await, metered.node(Policy::Spool).await];
    let key = metered.keys[0].clone();
    // The counters of one folder, which both read here, and those of another.
    metered.read_by(1).await;
    let observed = |node: usize| (node, nodes[node].meter.nodes());
    kit::wait_until(TIMEOUT, "both nodes to know of each other", async || {
        [observed(0), observed(1)] == [(0, 2), (1, 2)]
    })
    .await;
    let mut answers = vec![nodes[0].call(&key).await, nodes[1].call(&key).await];
    counters.wait_for_calls(2).await;
    metered.nats.kill9().await;
    let one = call_concurrently(4, 12, async |_| nodes[0].call(&key).await);
    let other = call_concurrently(4, 12, async |_| nodes[1].call(&key).await);
    let (one, other) = join(one, other).await;
    assert_eq!(
        (with_status(&one, 200), with_status(&other, 200)),
        (4, 4),
        "each has half of the eight that were left"
    );
    assert_eq!(
        (with_status(&one, 503), with_status(&other, 503)),
        (8, 8),
        "the rest may be left: it is refused for now"
    );
    answers.extend(one);
    answers.extend(other);
    metered.nats.restart().await;
    kit::wait_until(TIMEOUT, "a key that is used up", async || nodes[0].call(&key).await.status == 429).await;
    let entries = metered.wait_for_ledger(10).await;
    assert!(entries.iter().all(|entry| !entry.overrun), "{entries:?}");
    assert_eq!((entries.len(), with_status(&answers, 200)), (10, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_starts_without_nats_admits_its_share() {
    let Some(mut metered) = MeteredNodes::start(9, 1, 44).await else { return };
    let node = metered.node(Policy::Spool).await;
    metered.read_by(3).await;
    let kept = metered.spool().join(metering::NODES_FILE);
    kit::wait_until(TIMEOUT, "the number of nodes to be kept", async || {
        std::fs::read_to_string(&kept).is_ok_and(|kept| kept == "3\n")
    })
    .await;
    node.end().await;
    let client = metered.nats.client().await;
    metered.nats.kill9().await;
    kit::wait_until(TIMEOUT, "a lost connection", async || client.connection_state() != State::Connected)
        .await;
    let node = metered.node_over(client, Policy::Spool).await;
    let answers = call_concurrently(4, 12, async |_| node.call(&metered.keys[0]).await).await;
    assert_eq!((with_status(&answers, 200), with_status(&answers, 503)), (3, 9), "{answers:?}");
    assert_eq!(node.meter.spooled(), 3);
}
