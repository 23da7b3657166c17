//! The ledger restores calls that NATS lost, so that an exhausted quota stays exhausted.

use ledger::CopiedBatch;
use schemas::control::LedgerSource;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_stream_is_refilled_and_the_quota_stays_used_up() {
    let Some((_nats, _folder, _tiers, publisher, running)) = started("free=20").await else { return };
    publisher.calls("Ab3dEf9h", 20).await;
    publisher.calls("Zz000000", 5).await;
    running.wait_for_entries(25).await;
    publisher.jetstream.delete_stream(FREE).await.unwrap();
    wait_until(TIMEOUT, "the stream to be filled again", async || publisher.message_count(FREE).await == 25)
        .await;
    assert_eq!(publisher.count_when_open(&publisher.call("Ab3dEf9h")).await, Err(ErrorCode(10_077)));
    publisher.calls("Zz000000", 1).await;
    running.wait_for_entries(26).await;
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wiped_server_is_refilled_with_overruns_despite_new_calls() {
    let Some((mut nats, folder, tiers, publisher, running)) = started("free=20").await else { return };
    publisher.calls("Ab3dEf9h", 10).await;
    let over = publisher.call("Ab3dEf9h");
    publisher.publish(over.overrun_subject(), &over).await.unwrap();
    running.wait_for_entries(11).await;
    running.stopped().await;
    nats.wipe().await;
    prepare(&nats.client().await, &tiers, 1).await.unwrap();
    // Until the ledger is back, the stream would accept calls over the quota.
    publisher.calls("Ab3dEf9h", 15).await;
    let running = RunningLedger::of(folder.path(), &nats, &tiers).await;
    running.wait_for_entries(26).await;
    wait_until(TIMEOUT, "the quota to be used up", async || publisher.message_count(FREE).await == 20).await;
    wait_until(TIMEOUT, "the overrun to be back", async || publisher.message_count(OVERRUN).await == 1).await;
    assert_eq!(publisher.count_when_open(&publisher.call("Ab3dEf9h")).await, Err(ErrorCode(10_077)));
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_without_the_ledgers_calls_gets_them_back_by_id() {
    let Some((mut nats, folder, tiers, publisher, running)) = started("free=500").await else { return };
    publisher.calls("Ab3dEf9h", 100).await;
    running.wait_for_entries(100).await;
    running.stopped().await;
    nats.wipe().await;
    prepare(&nats.client().await, &tiers, 1).await.unwrap();
    // More than the ledger has, and all of them different.
    publisher.calls("Ab3dEf9h", 150).await;
    let running = RunningLedger::of(folder.path(), &nats, &tiers).await;
    running.wait_for_entries(250).await;
    wait_until(TIMEOUT, "all calls in NATS", async || publisher.message_count(FREE).await == 250).await;
    assert_eq!(publisher.count_when_open(&publisher.call("Ab3dEf9h")).await, Ok(251));
    running.wait_for_entries(251).await;
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_stream_accepts_no_call_until_its_calls_are_restored() {
    let Some((nats, folder, tiers, publisher, running)) = started("free=20").await else { return };
    publisher.calls("Ab3dEf9h", 20).await;
    running.wait_for_entries(20).await;
    running.stopped().await;
    publisher.jetstream.delete_stream(FREE).await.unwrap();
    let ledger = Arc::new(Ledger::open(folder.path()).await.unwrap());
    let copier = Copier::new(ledger.clone(), nats.client().await, tiers.clone(), Clock::system());
    copier.prepare().await.unwrap();
    // Created but not refilled yet: a call of a node gets no acknowledgement.
    let call = publisher.call("Ab3dEf9h");
    let sent = publisher.jetstream.publish(call.subject(), "{}".into()).await.unwrap();
    let refused = sent.await.unwrap_err().to_string();
    assert!(refused.contains("no stream"), "{refused}");
    // This survives a restart of the process, and preparing the streams without a ledger.
    prepare(&nats.client().await, &tiers, 1).await.unwrap();
    assert_eq!(publisher.message_count(FREE).await, 0);
    ledger.close().await;
    let running = RunningLedger::of(folder.path(), &nats, &tiers).await;
    assert_eq!(publisher.count_when_open(&call).await, Err(ErrorCode(10_077)));
    assert_eq!(publisher.message_count(FREE).await, 20);
    running.wait_for_entries(20).await;
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_lost_while_following_is_restored_by_the_next_comparison() {
    let Some(nats) = Nats::start().await else { return };
    let (folder, tiers) = (folder(), tiers("free=20"));
    let often = |copier: Copier| copier.compare_every(Duration::from_millis(100));
    let running = RunningLedger::with(folder.path(), &nats, &tiers, often).await;
    let publisher = TestPublisher::new(&nats).await;
    let calls = publisher.calls("Ab3dEf9h", 5).await;
    running.wait_for_entries(5).await;
    // A call lost from the middle: neither end of the stream shows it.
    let (lost, last) = (publisher.call("Ab3dEf9h"), calls.last().map(|call| call.id));
    let LedgerSource { stream, created, sequence } =
        running.ledger.watch().borrow().iter().find(|source| source.stream == FREE).unwrap().clone();
    let copied = CopiedBatch { stream, created, sequence, last, calls: vec![(3, lost.clone())] };
    running.ledger.append(copied).await.unwrap();
    wait_until(TIMEOUT, "the sixth call in NATS", async || publisher.message_count(FREE).await == 6).await;
    let entries = running.wait_for_entries(6).await;
    let kept = sorted(entries.iter().map(|entry| &entry.call));
    assert_eq!(kept, sorted(calls.iter().chain([&lost])), "a restored call is not a new call");
    running.stopped().await;
}
