//! The leader of a NATS cluster is killed repeatedly under load, or hangs.

use std::time::{Duration, Instant};

use kit::nats::Cluster;

use crate::cluster_load::{STREAMS, UnderLoad};
use crate::minutes;

/// A fault of the leader.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Its process is killed, and restarted after a third of the time.
    Killed,
    /// Its process is stopped with all connections open, and resumed at the end.
    Hangs,
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_leader_loses_nothing() {
    match minutes() {
        Some(minutes) => nothing_is_lost(Fault::Killed, minutes * 3, Duration::from_secs(20)).await,
        None => nothing_is_lost(Fault::Killed, 3, Duration::from_secs(6)).await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_leader_loses_nothing() {
    // Longer than its clients wait before they connect to another server.
    nothing_is_lost(Fault::Hangs, 1, Duration::from_secs(25)).await;
}

/// Injects the fault into the leader of each stream in turn.
async fn nothing_is_lost(fault: Fault, times: u32, apart: Duration) {
    let seed = kit::seed();
    let Some(cluster) = Cluster::start().await else { return };
    let mut under_load = UnderLoad::start(cluster, seed).await;
    for stream in STREAMS.into_iter().cycle().take(times as usize) {
        let began = Instant::now();
        let cluster = &mut under_load.cluster;
        let leader = cluster.leader(stream).await;
        match fault {
            Fault::Killed => {
                cluster.kill9(leader);
                // Down long enough for a new leader to be elected and to receive messages.
                tokio::time::sleep(apart / 3).await;
                cluster.restart(leader);
            }
            Fault::Hangs => {
                cluster.pause(leader);
                tokio::time::sleep(apart).await;
                cluster.resume(leader);
            }
        }
        under_load.in_sync().await;
        tokio::time::sleep(apart.saturating_sub(began.elapsed())).await;
    }
    println!("{times} times, {fault:?}");
    under_load.stop_and_check().await;
}
