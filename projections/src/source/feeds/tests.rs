//! Feeds over a log that needs no server, under a clock that jumps.
#![allow(clippy::disallowed_methods, reason = "each task that is spawned here is awaited")]

mod log;
mod together;

use std::time::Duration;

use super::super::following::Following;
use super::*;
use log::{Log, SIZE};

const PATIENCE: Duration = Duration::from_secs(2);
const MOMENT: Duration = Duration::from_millis(50);
const SOON: Duration = Duration::from_millis(10);

/// Room for ten events.
fn bounds() -> Bounds {
    Bounds { events: 10, bytes: usize::MAX, patience: PATIENCE, moment: MOMENT }
}

/// Takes what comes until it has had this position, and checks that nothing is missing or doubled.
async fn read(following: &mut Following, from: u64, to: u64) {
    let mut expected = from..=to;
    while !expected.is_empty() {
        let most = usize::try_from(to - expected.start() + 1).unwrap();
        let batch = tokio::time::timeout(10 * PATIENCE, following.next(most)).await;
        for arrived in batch.expect("more is there").unwrap() {
            assert_eq!(Some(arrived.position.0), expected.next());
        }
    }
}

fn follow(feeds: &Arc<Feeds>, after: u64) -> Following {
    Following::new(feeds, Position(after), Sharing::Shared)
}

/// What a follower can take without waiting.
async fn at_hand(following: &mut Following) -> usize {
    tokio::time::sleep(SOON).await;
    let mut batch = Vec::new();
    following.more(&mut batch, usize::MAX).unwrap();
    batch.len()
}

#[tokio::test(start_paused = true)]
async fn who_is_level_reads_together_and_the_last_ends_it() {
    let log = Log::new(3);
    let feeds = log.feeds(bounds());
    let mut followers: Vec<Following> = (0..4).map(|after| follow(&feeds, after.min(1))).collect();
    for (follower, from) in followers.iter_mut().zip([1, 2, 2, 2]) {
        read(follower, from, 3).await;
    }
    log.is_read_by(1).await;
    log.grow(40);
    for to in [10, 20, 30, 40] {
        for follower in &mut followers {
            read(follower, to - 9 + if to == 10 { 3 } else { 0 }, to).await;
        }
    }
    log.is_read_by(1).await;
    followers.truncate(1);
    log.is_read_by(1).await;
    drop(followers);
    log.is_read_by(0).await;
    assert!(log.begun() <= 2, "the first was at another place than the others");
}

#[tokio::test(start_paused = true)]
async fn a_feed_holds_no_more_than_its_bounds() {
    for bounds in [bounds(), Bounds { events: usize::MAX, bytes: 10 * SIZE + 5, ..bounds() }] {
        let log = Log::new(100);
        let feeds = log.feeds(bounds);
        let mut slow = follow(&feeds, 0);
        let mut fast = follow(&feeds, 0);
        assert_eq!([at_hand(&mut fast).await, at_hand(&mut fast).await], [10, 0]);
        assert_eq!(slow.next(4).await.unwrap().len(), 4);
        assert_eq!([at_hand(&mut fast).await, at_hand(&mut fast).await], [4, 0]);
        assert_eq!(at_hand(&mut slow).await, 10);
        assert_eq!(log.begun(), 1);
    }
    let log = Log::new(3);
    let feeds = log.feeds(Bounds { bytes: SIZE - 1, ..bounds() });
    read(&mut follow(&feeds, 0), 1, 3).await;
    let log = Log::new(100);
    let feeds = log.feeds(bounds());
    assert_eq!(
        at_hand(&mut Following::new(&feeds, Position(0), Sharing::Apart)).await,
        20,
        "a replay has twice the room"
    );
}

#[tokio::test(start_paused = true)]
async fn one_that_stands_still_is_let_go_and_comes_back() {
    let log = Log::new(100);
    let feeds = log.feeds(bounds());
    let (mut slow, mut fast) = (follow(&feeds, 0), follow(&feeds, 0));
    assert_eq!(slow.next(3).await.unwrap().len(), 3);
    read(&mut fast, 1, 13).await;
    let waited = tokio::time::Instant::now();
    read(&mut fast, 14, 100).await;
    assert!(waited.elapsed() < 2 * PATIENCE, "the others waited once: {:?}", waited.elapsed());
    log.is_read_by(1).await;
    let batch = slow.next(5).await.unwrap();
    assert_eq!(batch.iter().map(|arrived| arrived.position.0).collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
    log.is_read_by(2).await;
    read(&mut slow, 9, 95).await;
    log.is_read_by(1).await;
    assert_eq!(at_hand(&mut slow).await, 5);
    log.grow(101);
    read(&mut fast, 101, 101).await;
    read(&mut slow, 101, 101).await;
    assert_eq!(log.begun(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_that_was_let_go_for_a_moment_needs_no_reading_of_its_own() {
    let log = Log::new(14);
    let feeds = log.feeds(bounds());
    let (mut slow, mut fast) = (follow(&feeds, 0), follow(&feeds, 0));
    assert_eq!(slow.next(4).await.unwrap().len(), 4);
    read(&mut fast, 1, 14).await;
    log.grow(15);
    tokio::time::sleep(2 * PATIENCE).await;
    // The window has moved on by one event only, but that was the next one.
    read(&mut slow, 5, 15).await;
    read(&mut fast, 15, 15).await;
    log.is_read_by(1).await;
}

#[tokio::test(start_paused = true)]
async fn who_stands_still_alone_is_waited_for() {
    let log = Log::new(100);
    let feeds = log.feeds(bounds());
    let mut followers = [follow(&feeds, 0), follow(&feeds, 0)];
    tokio::time::sleep(10 * PATIENCE).await;
    for follower in &mut followers {
        read(follower, 1, 10).await;
    }
    assert_eq!(log.begun(), 1, "nobody would have gained by letting them go");
}

#[tokio::test(start_paused = true)]
async fn one_that_yields_is_waited_for_a_moment_only() {
    let log = Log::new(100);
    let feeds = log.feeds(bounds());
    let mut slow = Following::new(&feeds, Position(0), Sharing::Yielding);
    let mut fast = follow(&feeds, 0);
    read(&mut fast, 1, 10).await;
    let waited = tokio::time::Instant::now();
    read(&mut fast, 11, 100).await;
    assert!(waited.elapsed() < PATIENCE / 2, "the other waited for {:?}", waited.elapsed());
    read(&mut slow, 1, 100).await;
    log.is_read_by(1).await;
    assert_eq!(log.begun(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_that_yields_stays_where_the_others_wait_for_another_one() {
    let log = Log::new(100);
    let feeds = log.feeds(bounds());
    let mut yielding = Following::new(&feeds, Position(0), Sharing::Yielding);
    let (mut slow, mut fast) = (follow(&feeds, 0), follow(&feeds, 0));
    read(&mut fast, 1, 10).await;
    tokio::time::sleep(2 * MOMENT).await;
    for follower in [&mut slow, &mut yielding] {
        read(follower, 1, 10).await;
    }
    log.is_read_by(1).await;
    assert_eq!(log.begun(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_goes_frees_the_others() {
    let log = Log::new(100);
    let feeds = log.feeds(bounds());
    let (slow, mut fast) = (follow(&feeds, 0), follow(&feeds, 0));
    read(&mut fast, 1, 10).await;
    let began = tokio::time::Instant::now();
    drop(slow);
    read(&mut fast, 11, 100).await;
    assert!(began.elapsed() < PATIENCE, "nobody waits for one that is gone");
    log.is_read_by(1).await;
}

#[tokio::test(start_paused = true)]
async fn one_ahead_waits_for_the_others_to_come_and_reads_with_them() {
    let log = Log::new(100);
    let feeds = log.feeds(bounds());
    let (mut behind, mut ahead) = (follow(&feeds, 0), follow(&feeds, 100));
    log.is_read_by(2).await;
    let waits = tokio::spawn(async move {
        read(&mut ahead, 101, 101).await;
        ahead
    });
    read(&mut behind, 1, 100).await;
    // It moved over while it was waiting, and left no idle reading behind.
    log.is_read_by(1).await;
    log.grow(101);
    let ahead = waits.await.unwrap();
    read(&mut behind, 101, 101).await;
    drop((behind, ahead));
    log.is_read_by(0).await;
}

#[tokio::test(start_paused = true)]
async fn an_error_reaches_everybody_behind_the_last_event() {
    let log = Log::new(5);
    let feeds = log.feeds(bounds());
    let mut followers = [follow(&feeds, 0), follow(&feeds, 0), follow(&feeds, 0)];
    read(&mut followers[0], 1, 5).await;
    log.break_off();
    log.is_read_by(0).await;
    log.grow(8);
    read(&mut followers[1], 1, 5).await;
    read(&mut followers[2], 1, 2).await;
    read(&mut followers[2], 3, 5).await;
    for follower in &mut followers {
        for _ in 0..2 {
            let error = follower.next(1).await.unwrap_err().to_string();
            assert_eq!(error, "events cannot be read from NATS at present: broken off");
        }
        assert!(follower.more(&mut Vec::new(), 1).is_err());
        *follower = follow(&feeds, 5);
    }
    for follower in &mut followers {
        read(follower, 6, 8).await;
    }
    log.is_read_by(1).await;
    assert_eq!(log.begun(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_reading_that_panics_is_an_error_like_any_other() {
    let feeds = Feeds::new(bounds(), |_| async { panic!("the reader of the stream has a fault") });
    let error = follow(&feeds, 0).next(1).await.unwrap_err().to_string();
    assert_eq!(error, "events cannot be read from NATS at present: the reader of the stream ended");
}

#[tokio::test(start_paused = true)]
async fn a_replay_reads_apart() {
    let log = Log::new(5);
    let feeds = log.feeds(bounds());
    let mut live = follow(&feeds, 0);
    read(&mut live, 1, 5).await;
    let mut replays = [0, 0].map(|after| Following::new(&feeds, Position(after), Sharing::Apart));
    log.is_read_by(3).await;
    for replay in &mut replays {
        read(replay, 1, 5).await;
    }
    log.is_read_by(3).await;
    drop(live);
    log.is_read_by(2).await;
    let _live = follow(&feeds, 5);
    log.is_read_by(3).await;
    assert_eq!(log.begun(), 4, "nobody joins a replay");
}
