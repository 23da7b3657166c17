//! Any number of subscriptions, from any position and at any speed: each receives every event once and in order.

use proptest::prelude::*;

use super::*;

/// What one subscription does.
#[derive(Debug, Clone)]
struct Behaviour {
    after: u64,
    sharing: Sharing,
    /// The most events of each batch, and the milliseconds of work after it.
    rounds: Vec<(usize, u64)>,
    /// Positions at which it is dropped and created again, as by a worker whose model failed.
    restarts: Vec<u64>,
    /// Is dropped after this position.
    ends: Option<u64>,
}

fn behaviour(start: u64) -> impl Strategy<Value = Behaviour> {
    let sharing = prop::sample::select(vec![
        Sharing::Shared,
        Sharing::Shared,
        Sharing::LowPriority,
        Sharing::Dedicated,
    ]);
    let pause = prop_oneof![6 => Just(0), 3 => 1..500u64, 1 => 1_500..6_000u64];
    let rounds = prop::collection::vec((1..30usize, pause), 1..8);
    let restarts = prop::collection::vec(0..200u64, 0..3);
    (0..=start, sharing, rounds, restarts, prop::option::weighted(0.2, 0..200u64)).prop_map(
        |(after, sharing, rounds, restarts, ends)| Behaviour { after, sharing, rounds, restarts, ends },
    )
}

/// Reads to the end of the log, subscribing again after each error.
async fn read_all(
    consumers: Arc<SharedConsumers>,
    log: Log,
    end: u64,
    behaviour: Behaviour,
) -> Option<Subscription> {
    let mut at = behaviour.after;
    let mut subscription = Subscription::new(&consumers, Position(at), behaviour.sharing);
    for (limit, pause) in behaviour.rounds.iter().cycle() {
        if at == end {
            return Some(subscription);
        }
        let before = at;
        match subscription.next(*limit).await {
            Ok(batch) => {
                for delivery in batch {
                    at += 1;
                    assert_eq!(delivery.position.0, at, "{behaviour:?}");
                }
                assert!(at <= log.head());
            }
            Err(_) => subscription = Subscription::new(&consumers, Position(at), behaviour.sharing),
        }
        if behaviour.ends.is_some_and(|ends| at > ends) {
            return None;
        }
        if behaviour.restarts.iter().any(|at_restart| (before..at).contains(at_restart)) {
            drop(subscription);
            tokio::time::sleep(SOON).await;
            subscription = Subscription::new(&consumers, Position(at), behaviour.sharing);
        }
        if *pause > 0 {
            tokio::time::sleep(Duration::from_millis(*pause)).await;
        }
    }
    None
}

/// Grows the log in steps, and fails all readers before some of them.
async fn write(log: Log, steps: Vec<(u64, u64, bool)>) {
    for (count, pause, fails) in steps {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        if fails {
            log.fail_readers();
        }
        log.grow(log.head() + count);
    }
}

async fn run(start: u64, behaviours: Vec<Behaviour>, steps: Vec<(u64, u64, bool)>, bounds: Bounds) {
    let log = Log::new(start);
    let consumers = log.consumers(bounds);
    let end = start + steps.iter().map(|(count, ..)| count).sum::<u64>();
    let subscribers =
        behaviours.iter().map(|behaviour| read_all(consumers.clone(), log.clone(), end, behaviour.clone()));
    let everything = futures::future::join(futures::future::join_all(subscribers), write(log.clone(), steps));
    let (subscribers, ()) = everything.await;
    let shared = behaviours.iter().zip(&subscribers).filter(|(behaviour, subscription)| {
        behaviour.sharing != Sharing::Dedicated && subscription.is_some()
    });
    let (shared, dedicated) = (shared.count(), subscribers.iter().flatten().count());
    let dedicated = dedicated - shared;
    // All that have caught up share one consumer as soon as each has read again, which a waiting one does by itself.
    let waiting = behaviours.iter().zip(subscribers).filter_map(|(behaviour, subscription)| {
        let (consumers, sharing, mut subscription) = (consumers.clone(), behaviour.sharing, subscription?);
        Some(tokio::spawn(async move {
            loop {
                match subscription.next(1).await {
                    Ok(batch) => return batch[0].position.0,
                    // The error of the last failure, after the last event.
                    Err(_) => subscription = Subscription::new(&consumers, Position(end), sharing),
                }
            }
        }))
    });
    let waiting: Vec<_> = waiting.collect();
    log.has_readers(dedicated + usize::from(shared > 0)).await;
    log.grow(end + 1);
    for subscriber in waiting {
        assert_eq!(subscriber.await.unwrap(), end + 1);
    }
    log.has_readers(0).await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_subscription_receives_every_event_once_in_order(
        (start, behaviours) in (0..60u64).prop_flat_map(|start| (Just(start), prop::collection::vec(behaviour(start), 1..5))),
        steps in prop::collection::vec((0..60u64, 0..3_000u64, prop::bool::weighted(0.15)), 0..6),
        events in 1..25usize,
        bytes in prop_oneof![Just(usize::MAX), 1..20 * SIZE],
    ) {
        let bounds = Bounds { events, bytes, time_limit: TIMEOUT, low_priority_timeout: LOW_PRIORITY_TIMEOUT };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let everything = run(start, behaviours, steps, bounds);
            tokio::time::timeout(Duration::from_secs(3_600), everything).await.expect("it ends");
        });
    }
}
