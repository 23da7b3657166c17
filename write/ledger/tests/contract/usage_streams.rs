//! The usage streams on a real nats-server: quotas are raised and lowered, and no counted call is lost.

use std::time::Duration;

use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, ErrorCode};
use kit::nats::Nats;
use ledger::usage_streams::{UsageStreamError, prepare};

use crate::ledger::{FREE, TestPublisher, tiers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_raised_quota_applies_at_once_and_a_lowered_one_loses_no_call() {
    let Some(nats) = Nats::start().await else { return };
    let publisher = TestPublisher::new(&nats).await;
    let client = nats.client().await;
    prepare(&client, &tiers("free=5"), 1).await.unwrap();
    let limit = async || {
        let stream = publisher.jetstream.get_stream(FREE).await.unwrap();
        let config = &stream.cached_info().config;
        (config.max_messages_per_subject, config.max_message_size)
    };
    publisher.calls("Ab3dEf9h", 5).await;
    assert_eq!(publisher.count(&publisher.call("Ab3dEf9h")).await, Err(ErrorCode(10_077)));

    prepare(&client, &tiers("free=8"), 1).await.unwrap();
    publisher.calls("Ab3dEf9h", 3).await;
    assert_eq!(publisher.count(&publisher.call("Ab3dEf9h")).await, Err(ErrorCode(10_077)));

    // One key has 8 calls: a lower limit would delete some of them, so the limit stays.
    prepare(&client, &tiers("free=7"), 1).await.unwrap();
    assert_eq!((limit().await, publisher.message_count(FREE).await), ((8, -1), 8));
    assert_eq!(publisher.count(&publisher.call("Ab3dEf9h")).await, Err(ErrorCode(10_077)));

    prepare(&client, &tiers("free=100"), 1).await.unwrap();
    prepare(&client, &tiers("free=8"), 1).await.unwrap();
    assert_eq!((limit().await, publisher.message_count(FREE).await), ((8, -1), 8));
    publisher.calls("Zz000000", 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_halted_stream_is_resumed() {
    let Some(nats) = Nats::start().await else { return };
    let publisher = TestPublisher::new(&nats).await;
    let client = nats.client().await;
    prepare(&client, &tiers("free=5"), 1).await.unwrap();
    let config = publisher.jetstream.get_stream(FREE).await.unwrap().cached_info().config.clone();
    publisher.jetstream.update_stream(Config { max_message_size: 1, ..config }).await.unwrap();
    assert_eq!(
        publisher.count(&publisher.call("Ab3dEf9h")).await,
        Err(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM)
    );
    prepare(&client, &tiers("free=5"), 1).await.unwrap();
    publisher.calls("Ab3dEf9h", 5).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_streams_are_rejected() {
    let Some(nats) = Nats::start().await else { return };
    let client = nats.client().await;
    let jetstream = jetstream::new(client.clone());
    let refused = async || match prepare(&client, &tiers("free=5"), 1).await.unwrap_err() {
        UsageStreamError::Refused(sentence) => sentence,
        other => panic!("{other}"),
    };
    let foreign = |name: &str, subject: &str| Config {
        name: name.into(),
        subjects: vec![subject.to_owned()],
        ..Config::default()
    };
    jetstream.create_stream(foreign("OTHER", "loggia.usage.>")).await.unwrap();
    assert_eq!(
        refused().await,
        "the stream USAGE_FREE cannot be made on NATS, because another stream has some of its subjects \
         (loggia.usage.free.*.*); delete that stream, or use another NATS account"
    );
    jetstream.delete_stream("OTHER").await.unwrap();
    jetstream.create_stream(foreign(FREE, "any")).await.unwrap();
    assert_eq!(
        refused().await,
        "the stream USAGE_FREE on NATS was not made by Loggia; delete or rename it, or use another NATS account"
    );
    jetstream.delete_stream(FREE).await.unwrap();
    prepare(&client, &tiers("free=5"), 1).await.unwrap();
    let config = jetstream.get_stream(FREE).await.unwrap().cached_info().config.clone();
    jetstream.update_stream(Config { max_age: Duration::from_secs(3_600), ..config }).await.unwrap();
    let sentence = refused().await;
    assert!(
        sentence.starts_with("the stream USAGE_FREE on NATS has another setting of max_age"),
        "{sentence}"
    );
}
