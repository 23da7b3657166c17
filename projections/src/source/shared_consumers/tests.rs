//! Shared consumers over an in-memory log, with paused time.
#![allow(clippy::disallowed_methods, reason = "each task that is spawned here is awaited")]

mod histories;
mod log;

use std::time::Duration;

use super::*;
use log::{Log, SIZE};

const TIMEOUT: Duration = Duration::from_secs(2);
const LOW_PRIORITY_TIMEOUT: Duration = Duration::from_millis(50);
const SOON: Duration = Duration::from_millis(10);

/// A window of ten events.
fn bounds() -> Bounds {
    Bounds { events: 10, bytes: usize::MAX, time_limit: TIMEOUT, low_priority_timeout: LOW_PRIORITY_TIMEOUT }
}

/// Returns a log of this many events and its consumers.
fn log_of(events: u64) -> (Log, Arc<SharedConsumers>) {
    let log = Log::new(events);
    let consumers = log.consumers(bounds());
    (log, consumers)
}

/// Reads up to this position, and checks that no event is missing or repeated.
async fn read(subscription: &mut Subscription, from: u64, to: u64) {
    let mut expected = from..=to;
    while !expected.is_empty() {
        let limit = usize::try_from(to - expected.start() + 1).unwrap();
        let batch = tokio::time::timeout(10 * TIMEOUT, subscription.next(limit)).await;
        for delivery in batch.expect("an event comes").unwrap() {
            assert_eq!(Some(delivery.position.0), expected.next());
        }
    }
}

fn subscribe(consumers: &Arc<SharedConsumers>, after: u64) -> Subscription {
    Subscription::new(consumers, Position(after), Sharing::Shared)
}

/// Returns the number of events that are there without waiting.
async fn ready(subscription: &mut Subscription) -> usize {
    tokio::time::sleep(SOON).await;
    let mut batch = Vec::new();
    subscription.take_ready(&mut batch, usize::MAX).unwrap();
    batch.len()
}

#[tokio::test(start_paused = true)]
async fn subscriptions_that_have_caught_up_share_a_consumer_that_ends_with_the_last() {
    let (log, consumers) = log_of(3);
    let mut subscribers: Vec<Subscription> =
        (0..4).map(|after| subscribe(&consumers, after.min(1))).collect();
    for (subscriber, from) in subscribers.iter_mut().zip([1, 2, 2, 2]) {
        read(subscriber, from, 3).await;
    }
    log.has_readers(1).await;
    log.grow(40);
    for to in [10, 20, 30, 40] {
        for subscriber in &mut subscribers {
            read(subscriber, to - 9 + if to == 10 { 3 } else { 0 }, to).await;
        }
    }
    log.has_readers(1).await;
    subscribers.truncate(1);
    log.has_readers(1).await;
    drop(subscribers);
    log.has_readers(0).await;
    assert!(log.readers_started() <= 2, "the first one started at another position than the others");
}

#[tokio::test(start_paused = true)]
async fn a_window_stays_within_its_bounds() {
    for bounds in [bounds(), Bounds { events: usize::MAX, bytes: 10 * SIZE + 5, ..bounds() }] {
        let log = Log::new(100);
        let consumers = log.consumers(bounds);
        let mut slow = subscribe(&consumers, 0);
        let mut fast = subscribe(&consumers, 0);
        assert_eq!([ready(&mut fast).await, ready(&mut fast).await], [10, 0]);
        assert_eq!(slow.next(4).await.unwrap().len(), 4);
        assert_eq!([ready(&mut fast).await, ready(&mut fast).await], [4, 0]);
        assert_eq!(ready(&mut slow).await, 10);
        assert_eq!(log.readers_started(), 1);
    }
    let log = Log::new(3);
    let consumers = log.consumers(Bounds { bytes: SIZE - 1, ..bounds() });
    read(&mut subscribe(&consumers, 0), 1, 3).await;
    let (_log, consumers) = log_of(100);
    assert_eq!(
        ready(&mut Subscription::new(&consumers, Position(0), Sharing::Dedicated)).await,
        20,
        "a replay has twice the room"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stalled_subscription_is_evicted_and_rejoins() {
    let (log, consumers) = log_of(100);
    let (mut slow, mut fast) = (subscribe(&consumers, 0), subscribe(&consumers, 0));
    assert_eq!(slow.next(3).await.unwrap().len(), 3);
    read(&mut fast, 1, 13).await;
    let waited = tokio::time::Instant::now();
    read(&mut fast, 14, 100).await;
    assert!(waited.elapsed() < 2 * TIMEOUT, "the others waited once: {:?}", waited.elapsed());
    log.has_readers(1).await;
    let batch = slow.next(5).await.unwrap();
    assert_eq!(batch.iter().map(|delivery| delivery.position.0).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
    log.has_readers(2).await;
    read(&mut slow, 9, 95).await;
    log.has_readers(1).await;
    assert_eq!(ready(&mut slow).await, 5);
    log.grow(101);
    read(&mut fast, 101, 101).await;
    read(&mut slow, 101, 101).await;
    assert_eq!(log.readers_started(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_evicted_briefly_needs_no_consumer_of_its_own() {
    let (log, consumers) = log_of(14);
    let (mut slow, mut fast) = (subscribe(&consumers, 0), subscribe(&consumers, 0));
    assert_eq!(slow.next(4).await.unwrap().len(), 4);
    read(&mut fast, 1, 14).await;
    log.grow(15);
    tokio::time::sleep(2 * TIMEOUT).await;
    // The window has moved by one event only, but that was the next one to read.
    read(&mut slow, 5, 15).await;
    read(&mut fast, 15, 15).await;
    log.has_readers(1).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_evicted_when_all_subscriptions_are_stalled() {
    let (log, consumers) = log_of(100);
    let mut subscribers = [subscribe(&consumers, 0), subscribe(&consumers, 0)];
    tokio::time::sleep(10 * TIMEOUT).await;
    for subscriber in &mut subscribers {
        read(subscriber, 1, 10).await;
    }
    assert_eq!(log.readers_started(), 1, "an eviction would have helped no subscription");
}

#[tokio::test(start_paused = true)]
async fn a_low_priority_subscription_is_evicted_sooner() {
    let (log, consumers) = log_of(100);
    let mut slow = Subscription::new(&consumers, Position(0), Sharing::LowPriority);
    let mut fast = subscribe(&consumers, 0);
    read(&mut fast, 1, 10).await;
    let waited = tokio::time::Instant::now();
    read(&mut fast, 11, 100).await;
    assert!(waited.elapsed() < TIMEOUT / 2, "the other waited for {:?}", waited.elapsed());
    read(&mut slow, 1, 100).await;
    log.has_readers(1).await;
    assert_eq!(log.readers_started(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_low_priority_subscription_stays_while_others_wait_for_another_one() {
    let (log, consumers) = log_of(100);
    let mut low_priority = Subscription::new(&consumers, Position(0), Sharing::LowPriority);
    let (mut slow, mut fast) = (subscribe(&consumers, 0), subscribe(&consumers, 0));
    read(&mut fast, 1, 10).await;
    tokio::time::sleep(2 * LOW_PRIORITY_TIMEOUT).await;
    for subscriber in [&mut slow, &mut low_priority] {
        read(subscriber, 1, 10).await;
    }
    log.has_readers(1).await;
    assert_eq!(log.readers_started(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_subscription_no_longer_delays_the_others() {
    let (log, consumers) = log_of(100);
    let (slow, mut fast) = (subscribe(&consumers, 0), subscribe(&consumers, 0));
    read(&mut fast, 1, 10).await;
    let began = tokio::time::Instant::now();
    drop(slow);
    read(&mut fast, 11, 100).await;
    assert!(began.elapsed() < TIMEOUT, "a dropped subscription is not waited for");
    log.has_readers(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_subscription_at_the_head_joins_the_others_once_they_have_caught_up() {
    let (log, consumers) = log_of(100);
    let (mut lagging, mut at_head) = (subscribe(&consumers, 0), subscribe(&consumers, 100));
    log.has_readers(2).await;
    let waits = tokio::spawn(async move {
        read(&mut at_head, 101, 101).await;
        at_head
    });
    read(&mut lagging, 1, 100).await;
    // It was assigned to the other consumer while it was waiting, and its own has ended.
    log.has_readers(1).await;
    log.grow(101);
    let at_head = waits.await.unwrap();
    read(&mut lagging, 101, 101).await;
    drop((lagging, at_head));
    log.has_readers(0).await;
}

#[tokio::test(start_paused = true)]
async fn every_subscription_receives_the_error_after_the_last_event() {
    let (log, consumers) = log_of(5);
    let mut subscribers = [subscribe(&consumers, 0), subscribe(&consumers, 0), subscribe(&consumers, 0)];
    read(&mut subscribers[0], 1, 5).await;
    log.fail_readers();
    log.has_readers(0).await;
    log.grow(8);
    read(&mut subscribers[1], 1, 5).await;
    read(&mut subscribers[2], 1, 2).await;
    read(&mut subscribers[2], 3, 5).await;
    for subscriber in &mut subscribers {
        for _ in 0..2 {
            let error = subscriber.next(1).await.unwrap_err().to_string();
            assert_eq!(error, "events cannot be read from NATS at present: broken off");
        }
        assert!(subscriber.take_ready(&mut Vec::new(), 1).is_err());
        *subscriber = subscribe(&consumers, 5);
    }
    for subscriber in &mut subscribers {
        read(subscriber, 6, 8).await;
    }
    log.has_readers(1).await;
    assert_eq!(log.readers_started(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_reading_is_returned_as_an_error() {
    let consumers = SharedConsumers::new(bounds(), |_| async { panic!("a fault in the reader") });
    let error = subscribe(&consumers, 0).next(1).await.unwrap_err().to_string();
    assert_eq!(error, "events cannot be read from NATS at present: the reader of the stream ended");
}

#[tokio::test(start_paused = true)]
async fn a_replay_has_its_own_consumer() {
    let (log, consumers) = log_of(5);
    let mut live = subscribe(&consumers, 0);
    read(&mut live, 1, 5).await;
    let mut replays = [0, 0].map(|after| Subscription::new(&consumers, Position(after), Sharing::Dedicated));
    log.has_readers(3).await;
    for replay in &mut replays {
        read(replay, 1, 5).await;
    }
    log.has_readers(3).await;
    drop(live);
    log.has_readers(2).await;
    let _live = subscribe(&consumers, 5);
    log.has_readers(3).await;
    assert_eq!(log.readers_started(), 4, "no subscription joins a replay");
}
