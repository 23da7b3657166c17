//! Any number of followers, from any place and at any speed: each gets every event once and in order.

use proptest::prelude::*;

use super::*;

/// One follower and its habits.
#[derive(Debug, Clone)]
struct Habits {
    after: u64,
    sharing: Sharing,
    /// How much it takes at once, and how long it then works.
    rounds: Vec<(usize, u64)>,
    /// Goes away here and comes back at its place, as a worker does whose model failed.
    leaves: Vec<u64>,
    /// Goes away for ever behind this position.
    ends: Option<u64>,
}

fn habits(start: u64) -> impl Strategy<Value = Habits> {
    let sharing =
        prop::sample::select(vec![Sharing::Shared, Sharing::Shared, Sharing::Yielding, Sharing::Apart]);
    let pause = prop_oneof![6 => Just(0), 3 => 1..500u64, 1 => 1_500..6_000u64];
    let rounds = prop::collection::vec((1..30usize, pause), 1..8);
    let leaves = prop::collection::vec(0..200u64, 0..3);
    (0..=start, sharing, rounds, leaves, prop::option::weighted(0.2, 0..200u64))
        .prop_map(|(after, sharing, rounds, leaves, ends)| Habits { after, sharing, rounds, leaves, ends })
}

/// Reads to the end of the log, as its habits are, through every error.
async fn live(feeds: Arc<Feeds>, log: Log, end: u64, habits: Habits) -> Option<Following> {
    let mut at = habits.after;
    let mut following = Following::new(&feeds, Position(at), habits.sharing);
    for (most, pause) in habits.rounds.iter().cycle() {
        if at == end {
            return Some(following);
        }
        let before = at;
        match following.next(*most).await {
            Ok(batch) => {
                for arrived in batch {
                    at += 1;
                    assert_eq!(arrived.position.0, at, "{habits:?}");
                }
                assert!(at <= log.head());
            }
            Err(_) => following = Following::new(&feeds, Position(at), habits.sharing),
        }
        if habits.ends.is_some_and(|ends| at > ends) {
            return None;
        }
        if habits.leaves.iter().any(|leaves| (before..at).contains(leaves)) {
            drop(following);
            tokio::time::sleep(SOON).await;
            following = Following::new(&feeds, Position(at), habits.sharing);
        }
        if *pause > 0 {
            tokio::time::sleep(Duration::from_millis(*pause)).await;
        }
    }
    None
}

/// Lets the log grow in steps, and breaks every reading off before some of them.
async fn write(log: Log, steps: Vec<(u64, u64, bool)>) {
    for (more, pause, breaks) in steps {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        if breaks {
            log.break_off();
        }
        log.grow(log.head() + more);
    }
}

async fn all(start: u64, everyone: Vec<Habits>, steps: Vec<(u64, u64, bool)>, bounds: Bounds) {
    let log = Log::new(start);
    let feeds = log.feeds(bounds);
    let end = start + steps.iter().map(|(more, ..)| more).sum::<u64>();
    let followers = everyone.iter().map(|habits| live(feeds.clone(), log.clone(), end, habits.clone()));
    let everything = futures::future::join(futures::future::join_all(followers), write(log.clone(), steps));
    let (followers, ()) = everything.await;
    let shared = everyone
        .iter()
        .zip(&followers)
        .filter(|(habits, following)| habits.sharing != Sharing::Apart && following.is_some());
    let (shared, apart) = (shared.count(), followers.iter().flatten().count());
    let apart = apart - shared;
    // Who is level reads together as soon as each has looked again, which a waiting one does of itself.
    let waiting = everyone.iter().zip(followers).filter_map(|(habits, following)| {
        let (feeds, sharing, mut following) = (feeds.clone(), habits.sharing, following?);
        Some(tokio::spawn(async move {
            loop {
                match following.next(1).await {
                    Ok(batch) => return batch[0].position.0,
                    // What was broken off behind the last event is told now.
                    Err(_) => following = Following::new(&feeds, Position(end), sharing),
                }
            }
        }))
    });
    let waiting: Vec<_> = waiting.collect();
    log.is_read_by(apart + usize::from(shared > 0)).await;
    log.grow(end + 1);
    for follower in waiting {
        assert_eq!(follower.await.unwrap(), end + 1);
    }
    log.is_read_by(0).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn everyone_sees_every_event_once_in_order(
        (start, everyone) in (0..60u64).prop_flat_map(|start| (Just(start), prop::collection::vec(habits(start), 1..5))),
        steps in prop::collection::vec((0..60u64, 0..3_000u64, prop::bool::weighted(0.15)), 0..6),
        events in 1..25usize,
        bytes in prop_oneof![Just(usize::MAX), 1..20 * SIZE],
    ) {
        let bounds = Bounds { events, bytes, patience: PATIENCE, moment: MOMENT };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let everything = all(start, everyone, steps, bounds);
            tokio::time::timeout(Duration::from_secs(3_600), everything).await.expect("it comes to an end");
        });
    }
}
