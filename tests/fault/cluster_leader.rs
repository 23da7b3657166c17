//! The leader of a NATS cluster is killed repeatedly under load, or hangs.

use std::time::{Duration, Instant};

use kit::nats::Cluster;

use crate::cluster_load::{STREAMS, UnderLoad};
use crate::{TIMEOUT, minutes};

/// A fault of the leader.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Its process is killed, and restarted once commands and calls of its clients are answered by others.
    Killed,
    /// Its process is stopped with all connections open, and resumed once it is the leader no more.
    Hangs,
}

/// In the long run, a fault lasts longer than clients wait before they connect to another server.
const LONG: Duration = Duration::from_secs(25);

// A test for each stream, so that they run at the same time: each waits for an election.

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_leader_of_the_events_loses_nothing() {
    nothing_is_lost(Fault::Killed, &STREAMS[..1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_leader_of_the_calls_loses_nothing() {
    nothing_is_lost(Fault::Killed, &STREAMS[1..]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_leader_loses_nothing() {
    nothing_is_lost(Fault::Hangs, &STREAMS).await;
}

/// Injects the fault once, or in the long run once for each minute, into the leader of each of these streams in turn.
async fn nothing_is_lost(fault: Fault, streams: &[&str]) {
    let times = minutes().map_or(1, |minutes| minutes as usize);
    let at_least = minutes().map_or(Duration::ZERO, |_| LONG);
    let seed = kit::seed();
    let Some(cluster) = Cluster::start().await else { return };
    let mut under_load = UnderLoad::start(cluster, seed).await;
    for stream in streams.iter().copied().cycle().take(times) {
        let began = Instant::now();
        let leader = under_load.cluster.leader(stream).await;
        match fault {
            Fault::Killed => under_load.cluster.kill9(leader),
            Fault::Hangs => under_load.cluster.pause(leader),
        }
        kit::wait_until(TIMEOUT, "another leader", async || {
            let now = under_load.cluster.leader_seen_by((leader + 1) % 3, stream).await;
            now.is_some_and(|now| now != leader)
        })
        .await;
        println!("{fault:?}, the leader of {stream}: another leads after {:?}", began.elapsed());
        // The clients of a killed server connect to another at once.
        if matches!(fault, Fault::Killed) {
            under_load.goes_on().await;
        }
        tokio::time::sleep(at_least.saturating_sub(began.elapsed())).await;
        match fault {
            Fault::Killed => under_load.cluster.restart(leader),
            Fault::Hangs => under_load.cluster.resume(leader),
        }
        under_load.in_sync().await;
    }
    println!("{times} times, {fault:?}");
    under_load.stop_and_check().await;
}
