//! The links of a NATS cluster are cut under load; each server has its own host.

use std::time::{Duration, Instant};

use kit::nats::Cluster;
use kit::network::{self, Network, Place};

use crate::cluster_load::{STREAMS, UnderLoad};
use crate::{TIMEOUT, minutes};

/// The links that are cut, as seen from a stream's leader.
#[derive(Debug, Clone, Copy)]
enum LinkCut {
    /// Between the leader and the other servers; the roles reach all three.
    Peers,
    /// Between leader and roles on one side and the other servers: no majority is reachable.
    Halves,
    /// Between the leader and one other server.
    Pair,
    /// Between the leader and everything else.
    Cable,
    /// From one other server to the leader only; the opposite direction works.
    OneWay,
}

const CUTS: [LinkCut; 5] = [LinkCut::Peers, LinkCut::Halves, LinkCut::Pair, LinkCut::Cable, LinkCut::OneWay];

/// The number of cuts, one for each stream, starting with a random one, unless the duration is set.
const FEW: usize = STREAMS.len();

/// The minimum duration: elections begin after 4 s, and clients switch servers after 15 s.
const SHORT: Duration = Duration::from_secs(5);
const LONG: Duration = Duration::from_secs(20);

#[test]
fn cut_links_lose_nothing() {
    network::inside("cluster_links::cut_links_lose_nothing", async {
        let seed = kit::seed();
        let Some(cluster) = Cluster::start_on(Network::of(3)).await else { return };
        let mut under_load = UnderLoad::start(cluster, seed).await;
        let (began, lasts) = (Instant::now(), minutes().map(|minutes| Duration::from_secs(60) * minutes));
        let first = usize::try_from(seed % CUTS.len() as u64).unwrap();
        let mut times = 0;
        while lasts.map_or(times < FEW, |lasts| began.elapsed() < lasts) {
            let (cut, stream) = (CUTS[(first + times) % CUTS.len()], STREAMS[times % STREAMS.len()]);
            let at_least = if (times / CUTS.len()).is_multiple_of(2) { SHORT } else { LONG };
            cut_and_heal(&mut under_load, cut, stream, at_least).await;
            times += 1;
        }
        println!("{times} cuts within {:?}", began.elapsed());
        under_load.stop_and_check().await;
    });
}

async fn cut_and_heal(under_load: &mut UnderLoad, cut: LinkCut, stream: &str, at_least: Duration) {
    let cluster = &mut under_load.cluster;
    let leader = cluster.leader(stream).await;
    let [one, other] = [(leader + 1) % 3, (leader + 2) % 3];
    let [at_leader, at_one, at_other] = [leader, one, other].map(Place::Host);
    let began = Instant::now();
    let network = cluster.network();
    match cut {
        LinkCut::Peers => network.cut(&[at_leader], &[at_one, at_other]),
        LinkCut::Halves => network.cut(&[at_leader, Place::Here], &[at_one, at_other]),
        LinkCut::Pair => network.cut(&[at_leader], &[at_one]),
        LinkCut::Cable => network.unplug(leader),
        LinkCut::OneWay => network.cut_direction(at_one, at_leader),
    }
    let ways =
        [(Place::Here, leader), (Place::Here, one), (at_leader, one), (at_leader, other), (at_one, other)];
    // Repeated, since a whole link may be too slow for a check on a busy machine; a cut one never becomes whole.
    kit::wait_until(TIMEOUT, &format!("the cut of {cut:?}"), async || {
        ways.map(|(from, to)| cluster.reaches(from, to)) == cut.leaves_whole()
    })
    .await;
    if matches!(cut, LinkCut::Peers | LinkCut::Cable) {
        kit::wait_until(TIMEOUT, "another leader", async || {
            cluster.leader_seen_by(one, stream).await.is_some_and(|now| now != leader)
        })
        .await;
        println!("{cut:?} of {stream}: another leads after {:?}", began.elapsed());
    }
    tokio::time::sleep(at_least.saturating_sub(began.elapsed())).await;
    cluster.network().heal();
    let lasted = began.elapsed();
    under_load.in_sync().await;
    println!("{cut:?} of {stream} for {lasted:?}: in sync {:?} after it", began.elapsed() - lasted);
}

impl LinkCut {
    /// Returns which connections are possible: from the roles to the leader and to one other server, from the leader to
    /// that one and to the third, and between those two. TCP needs both directions.
    fn leaves_whole(self) -> [bool; 5] {
        match self {
            LinkCut::Peers => [true, true, false, false, true],
            LinkCut::Halves => [true, false, false, false, true],
            LinkCut::Pair | LinkCut::OneWay => [true, true, false, true, true],
            LinkCut::Cable => [false, true, false, false, true],
        }
    }
}
