//! The spool under faults: calls that no stream accepts, a missing stream, a full spool, a NATS that hangs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use ledger::usage_streams;
use metering::Policy;
use schemas::command::{Command, CommandMessage};
use schemas::control::LedgerSource;
use schemas::key::Key;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use schemas::usage::{Call, CallId, Surface};
use uuid::{ContextV7, Uuid};

use crate::TIMEOUT;
use crate::metered_nodes::{MeteredNodes, call_concurrently, call_id};

fn call(key: &Key, tier: &str, ago: SignedDuration) -> Call {
    let time = Timestamp::now() - ago;
    let seconds = u64::try_from(time.as_second()).unwrap();
    Call {
        id: CallId(Uuid::new_v7(uuid::Timestamp::from_unix(ContextV7::new(), seconds, 0))),
        key_id: key.id(),
        tier: tier.parse().unwrap(),
        month: Month::of(time),
        time,
        surface: Surface::Rest,
        operation: "search".into(),
    }
}

impl MeteredNodes {
    /// Writes a file into the spool's folder, like a killed process leaves it.
    fn write_spool_file(&self, name: &str, lines: &[String]) {
        std::fs::create_dir_all(self.spool()).unwrap();
        std::fs::write(self.spool().join(name), lines.concat()).unwrap();
    }

    async fn message_count(&self, stream: &str) -> u64 {
        let jetstream = async_nats::jetstream::new(self.nats.client().await);
        jetstream.get_stream(stream).await.unwrap().cached_info().state.messages
    }

    async fn wait_for_messages(&self, stream: &str, calls: u64) {
        kit::wait_until(TIMEOUT, "the calls in their stream", async || {
            self.message_count(stream).await == calls
        })
        .await;
    }
}

fn spool_line(call: &Call) -> String {
    serde_json::to_string(call).unwrap() + "\n"
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_cannot_be_published_are_set_aside_and_block_no_others() {
    let Some(metered) = MeteredNodes::start(100, 1, 21).await else { return };
    let (key, minute) = (&metered.keys[0], SignedDuration::from_mins(1));
    // The file of version 0.1 holds all tiers.
    let gold = call(key, "gold", minute);
    let free: Vec<Call> = (0..3).map(|_| call(key, "free", minute)).collect();
    let lines = [
        spool_line(&gold),
        spool_line(&free[0]),
        "{\"id\":7}\n".into(),
        spool_line(&free[1]),
        spool_line(&free[2]),
    ];
    metered.write_spool_file("0123.spool", &lines);
    let node = metered.node(Policy::Spool).await;
    let entries = metered.wait_for_ledger(3).await;
    assert!(free.iter().all(|call| entries.iter().any(|entry| entry.call == *call)), "{entries:?}");
    kit::wait_until(TIMEOUT, "an empty spool", async || node.meter.spooled() == 0).await;
    let files = std::fs::read_dir(metered.spool()).unwrap().map(|entry| entry.unwrap().path());
    let stuck: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "stuck")).collect();
    assert_eq!(std::fs::read_to_string(&stuck[0]).unwrap(), format!("{{\"id\":7}}\n{}", spool_line(&gold)));
    assert_eq!(stuck.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lost_stream_of_one_tier_blocks_no_other_tier() {
    let Some(mut metered) = MeteredNodes::start(100, 1, 22).await else { return };
    metered.tiers = "free=100, studio=100".parse().unwrap();
    let (key, minute) = (metered.keys[0].clone(), SignedDuration::from_mins(1));
    let of = |tier| (0..3).map(|_| spool_line(&call(&key, tier, minute))).collect::<Vec<_>>();
    metered.write_spool_file("01.studio.spool", &of("studio"));
    metered.write_spool_file("02.free.spool", &of("free"));
    let node = metered.node(Policy::Spool).await;
    metered.wait_for_messages("USAGE_FREE", 3).await;
    assert_eq!(node.call(&key).await.status, 200);
    metered.wait_for_messages("USAGE_FREE", 4).await;
    kit::wait_until(TIMEOUT, "the calls of the other tier to wait", async || node.meter.spooled() == 3).await;
    kit::wait_until(TIMEOUT, "the reason to be reported", async || {
        metered.health.failing().iter().any(|failing| failing.reason.contains("USAGE_STUDIO"))
    })
    .await;
    assert_eq!(metered.health.not_ready(), None, "calls are answered");
    usage_streams::prepare(&metered.nats.client().await, &metered.tiers, 1).await.unwrap();
    metered.wait_for_messages("USAGE_STUDIO", 3).await;
    kit::wait_until(TIMEOUT, "an empty spool", async || {
        node.meter.spooled() == 0 && metered.health.failing().is_empty()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_spool_rejects_calls_and_loses_none() {
    let Some(mut metered) = MeteredNodes::start(100, 1, 23).await else { return };
    metered.spool_limit = 1;
    let (node, key) = (metered.node(Policy::Spool).await, metered.keys[0].clone());
    metered.nats.kill9().await;
    let mut answers = call_concurrently(4, 20, async |_| node.call(&key).await).await;
    answers.push(node.call(&key).await);
    let refused = answers.last().unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("2")));
    let not_ready = metered.health.not_ready().unwrap();
    assert!(not_ready.contains("spool_limit"), "{not_ready}");
    metered.nats.restart().await;
    answers.retain(|answer| answer.status == 200);
    assert!(!answers.is_empty());
    let entries = metered.wait_for_ledger(answers.len()).await;
    for answer in &answers {
        assert!(entries.iter().any(|entry| entry.call.id.to_string() == call_id(answer)));
    }
    kit::wait_until(TIMEOUT, "a node that is ready", async || metered.health.not_ready().is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strict_metering_fails_fast_and_is_not_ready_while_nats_hangs() {
    let Some(metered) = MeteredNodes::start(10_000, 1, 24).await else { return };
    let (node, key) = (metered.node(Policy::Refuse).await, metered.keys[0].clone());
    // On a busy machine NATS may answer too late for a strict node.
    kit::wait_until(TIMEOUT, "a counted call", async || node.call(&key).await.status == 200).await;
    metered.nats.freeze();
    let is_unanswered = AtomicBool::new(false);
    let under_way = async {
        let mut answers = Vec::new();
        // The server may answer some before it stops; the last one finds out.
        while !is_unanswered.load(Ordering::Relaxed) {
            answers.push(node.call(&key).await);
        }
        answers
    };
    let others = async {
        kit::wait_until(TIMEOUT, "an unanswered call", async || !metered.health.failing().is_empty()).await;
        is_unanswered.store(true, Ordering::Relaxed);
        let others =
            [node.call(&key).await.status, node.call(&key).await.status, node.call(&key).await.status];
        // They are not sent, and so need not wait for NATS: what is sent may count, and is answered.
        assert_eq!(others, [503; 3]);
        kit::wait_until(TIMEOUT, "a node that is not ready", async || metered.health.not_ready().is_some())
            .await;
        metered.nats.thaw();
    };
    let (under_way, ()) = tokio::join!(under_way, others);
    assert!(under_way.iter().all(|answer| answer.status == 200), "what may count is answered: {under_way:?}");
    let entries = metered.wait_for_ledger(1 + under_way.len()).await;
    for answer in &under_way {
        assert!(entries.iter().any(|entry| entry.call.id.to_string() == call_id(answer)));
    }
    kit::wait_until(TIMEOUT, "a node that is ready", async || {
        node.call(&key).await;
        metered.health.not_ready().is_none()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_overruns_outside_the_duplicate_window_are_not_counted_twice() {
    drain_repeated_calls(1).await;
}

/// The ids of many keys are looked up together.
#[tokio::test(flavor = "multi_thread")]
async fn calls_of_many_keys_outside_the_duplicate_window_are_not_counted_twice() {
    drain_repeated_calls(40).await;
}

/// Leaves five old calls of each key twice, for a quota of two, with a NATS whose duplicate window has passed.
async fn drain_repeated_calls(keys: u64) {
    let Some(metered) = MeteredNodes::start(2, keys as usize, 25).await else { return };
    // The ledger refuses to start on a stream with other settings, but does not check a stream that it already follows.
    let both = |sources: &Vec<LedgerSource>| sources.len() == 2;
    metered.ledger.watch().wait_for(both).await.unwrap();
    let jetstream = async_nats::jetstream::new(metered.nats.client().await);
    for stream in [usage_stream(&metered.tiers.first().name), OVERRUN.to_owned()] {
        let mut config = jetstream.get_stream(&stream).await.unwrap().cached_info().config.clone();
        config.duplicate_window = Duration::from_millis(100);
        jetstream.update_stream(&config).await.unwrap();
    }
    let old: Vec<String> = metered
        .keys
        .iter()
        .flat_map(|key| (0..5).map(move |_| spool_line(&call(key, "free", SignedDuration::from_mins(20)))))
        .collect();
    for name in ["01.spool", "02.free.spool"] {
        metered.write_spool_file(name, &old);
        let node = metered.node(Policy::Spool).await;
        kit::wait_until(TIMEOUT, "an empty spool", async || node.meter.spooled() == 0).await;
        node.end().await;
        assert_eq!(
            (metered.message_count("USAGE_FREE").await, metered.message_count(OVERRUN).await),
            (2 * keys, 3 * keys),
            "{name}"
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let entries = metered.wait_for_ledger(5 * metered.keys.len()).await;
    assert_eq!(entries.iter().filter(|entry| entry.overrun).count(), 3 * metered.keys.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_request_expires_before_its_sender_gives_up() {
    let Some(metered) = MeteredNodes::start(2, 1, 26).await else { return };
    let node = metered.node(Policy::Spool).await;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = node.http.send("POST", "/keys", &form, "email=ada%40example.org").await;
    assert!(
        answer.status == 503 && answer.text().contains("nothing was changed"),
        "no write side: {answer:?}"
    );
    // A write side that receives commands and does not answer in time.
    let mut commands = metered.nats.client().await.subscribe("loggia.command.issue_key").await.unwrap();
    let begun = Timestamp::now();
    let answer = node.http.send("POST", "/keys", &form, "email=ada%40example.org").await;
    let ended = Timestamp::now();
    assert!(answer.status == 503 && answer.text().contains("it is not known whether"), "{answer:?}");
    let first = commands.next().await.unwrap();
    let message: CommandMessage = serde_json::from_slice(&first.payload).unwrap();
    assert!(matches!(message.command, Command::IssueKey { .. }), "{message:?}");
    let not_after = message.not_after.unwrap();
    assert!(
        begun < not_after && not_after + SignedDuration::from_secs(1) < ended,
        "{begun} {not_after} {ended}"
    );
}

/// A measurement, not part of the suite. Counts live calls over many keys, then as many from another process's spool,
/// old enough that each is looked up first, and from the node's own.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "measures how fast a spool drains"]
async fn draining_is_faster_than_live_traffic() {
    const KEYS: usize = 10_000;
    let calls = crate::rounds(50_000);
    let Some(metered) = MeteredNodes::start(200, 1, 27).await else { return };
    let mut random = 0_u64;
    let keys: Vec<Key> = (0..KEYS)
        .map(|_| {
            Key::generate(|bytes| {
                for byte in bytes {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    *byte = (random >> 56) as u8;
                }
            })
        })
        .collect();
    let node = metered.node(Policy::Spool).await;
    let live = Instant::now();
    call_concurrently(64, calls.min(20_000), async |_| node.call(&metered.keys[0]).await).await;
    let live = calls.min(20_000) as f64 / live.elapsed().as_secs_f64();
    node.end().await;
    for (name, ago) in [("old", 20), ("new", 1)] {
        let lines: Vec<String> = (0..calls)
            .map(|index| spool_line(&call(&keys[index % KEYS], "free", SignedDuration::from_mins(ago))))
            .collect();
        metered.write_spool_file(&format!("{name}.free.spool"), &lines);
        let node = metered.node(Policy::Spool).await;
        let begun = Instant::now();
        kit::wait_until(Duration::from_secs(600), "an empty spool", async || node.meter.spooled() == 0).await;
        let drained = calls as f64 / begun.elapsed().as_secs_f64();
        println!("{name}: {drained:.0} calls/s drained, {live:.0} calls/s live, {:.1} times", drained / live);
        node.end().await;
    }
}
