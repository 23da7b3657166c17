//! The relay on three real servers with a replicated stream: events are published in atomic batches.

use kit::nats::Cluster;
use process_role::ProcessRole;

use super::*;

/// Starts a cluster with a stream of this number of replicas, and the log for it; `None` as for [`Cluster::start`].
async fn replicated(replicas: usize) -> Option<(Cluster, Log)> {
    let (cluster, log) = (Cluster::start().await?, Log::new().await);
    let client = cluster.client(ProcessRole::Write).await;
    let relay = Relay::new(log.store.clone(), client).replicas(replicas);
    // New servers may need a moment before they accept a stream.
    wait_until(TIMEOUT, "the stream", async || relay.check().await.is_ok()).await;
    Some((cluster, log))
}

/// Returns the size of each batch, and `1` for each message outside of one, in stream order.
async fn batches(client: Client) -> Vec<u64> {
    let stream = jetstream::new(client).get_stream(subject::EVENTS).await.unwrap();
    let mut sizes = Vec::new();
    for sequence in 1..=stream.cached_info().state.last_sequence {
        let message = stream.get_raw_message(sequence).await.unwrap();
        match message.headers.get("Nats-Batch-Sequence").map(|number| number.as_str()) {
            None | Some("1") => sizes.push(1),
            Some(number) => *sizes.last_mut().unwrap() = number.parse().unwrap(),
        }
    }
    sizes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_concurrent_relays_neither_reorder_nor_repeat_batches() {
    let Some((cluster, log)) = replicated(3).await else { return };
    log.add(2_500).await;
    let client = cluster.client(ProcessRole::Write).await;
    let mut relays =
        [client, cluster.client(ProcessRole::Write).await].map(|client| RunningRelay::into(&log, client, 3));
    for _ in 0..5 {
        log.add(600).await;
    }
    for relay in &mut relays {
        relay.wait_until_caught_up(&log).await;
    }
    assert_stream_is_log(&log, cluster.client(ProcessRole::Up).await).await;
    let sizes = batches(cluster.client(ProcessRole::Up).await).await;
    assert_eq!(sizes.iter().sum::<u64>(), 5_500);
    assert_eq!(sizes.first(), Some(&1_000), "as many as JetStream takes at once");
    for relay in relays {
        relay.stopped().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replicated_stream_accepts_batches_after_scaling_up() {
    let Some((cluster, log)) = replicated(1).await else { return };
    let (client, operator) =
        (cluster.client(ProcessRole::Write).await, cluster.client(ProcessRole::Up).await);
    log.add(20).await;
    let mut alone = RunningRelay::into(&log, client.clone(), 1);
    alone.wait_until_caught_up(&log).await;
    alone.stopped().await;
    assert_eq!(batches(operator.clone()).await, [1; 20]);

    log.add(30).await;
    let mut together = RunningRelay::into(&log, client, 3);
    together.wait_until_caught_up(&log).await;
    let stream = jetstream::new(operator.clone()).get_stream(subject::EVENTS).await.unwrap();
    let config = &stream.cached_info().config;
    assert_eq!((config.num_replicas, config.allow_atomic_publish), (3, true));
    assert_eq!(batches(operator.clone()).await, [vec![1; 20], vec![30]].concat());
    assert_stream_is_log(&log, operator).await;
    together.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_before_a_damaged_one_are_published_and_none_after_it() {
    let Some((cluster, log)) = replicated(3).await else { return };
    log.add(10).await;
    let damaged = log.damaged().await;
    let relay = RunningRelay::into(&damaged, cluster.client(ProcessRole::Write).await, 3);
    let failure = relay.wait_for_failure().await;
    assert!(failure.contains("the event at position 7 does not match its hash"), "{failure}");
    let operator = cluster.client(ProcessRole::Up).await;
    wait_until(TIMEOUT, "the events before it", async || stream_events(operator.clone()).await.len() == 6)
        .await;
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_gets_the_configured_replicas_and_keeps_additional_ones() {
    let Some((cluster, log)) = replicated(1).await else { return };
    let client = cluster.client(ProcessRole::Write).await;
    let context = jetstream::new(client.clone());
    for (set, kept) in [(1, 1), (3, 3), (1, 3)] {
        let relay = Relay::new(log.store.clone(), client.clone()).replicas(set);
        wait_until(TIMEOUT, "the stream", async || relay.check().await.is_ok()).await;
        let config = context.get_stream(subject::EVENTS).await.unwrap().cached_info().config.clone();
        assert_eq!(config.num_replicas, kept, "where {set} are set");
    }
}
