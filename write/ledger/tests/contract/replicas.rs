//! The replicas of the usage streams in a cluster: never fewer than configured, and never fewer than before.

use async_nats::jetstream;
use kit::nats::{Cluster, Nats};
use ledger::usage_streams::prepare;
use process_role::ProcessRole;

#[tokio::test(flavor = "multi_thread")]
async fn streams_get_the_configured_replicas_and_keep_additional_ones() {
    let Some(cluster) = Cluster::start().await else { return };
    let client = cluster.client(ProcessRole::Write).await;
    let context = jetstream::new(client.clone());
    let tiers = "free=5".parse().unwrap();
    for (set, kept) in [(1, 1), (3, 3), (1, 3)] {
        // New servers may need a moment before they accept a stream.
        kit::wait_until(kit::TIMEOUT, "the streams", async || {
            prepare(&client, &tiers, set)
                .await
                .inspect_err(|error| println!("{set} replicas: {error}"))
                .is_ok()
        })
        .await;
        for name in ["USAGE_FREE", "USAGE_OVERRUN"] {
            let config = context.get_stream(name).await.unwrap().cached_info().config.clone();
            assert_eq!(config.num_replicas, kept, "{name} where {set} are set");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_replicas_than_servers_are_rejected() {
    let Some(nats) = Nats::start().await else { return };
    let client = nats.client().await;
    let refused = prepare(&client, &"free=5".parse().unwrap(), 3).await.unwrap_err();
    assert!(!refused.is_temporary());
    let sentences = ["USAGE_FREE", "USAGE_OVERRUN"].map(|stream| {
        format!(
            "nats_replicas is 3, and the NATS server is in no cluster, so the stream {stream} cannot be kept on 3 \
             servers; set it to 1, or name the servers of a cluster in nats_url"
        )
    });
    assert!(sentences.contains(&refused.to_string()), "{refused}");
}
