//! The relays of two write sides on one stream: a lagging replica is not an older store.

use std::sync::Arc;
use std::time::Duration;

use event_log::EventLog;
use kit::esdb::EventStoreDb;
use kit::nats::Nats;
use kit::wait_until;
use schemas::clock::Clock;
use schemas::ids::Position;
use tokio_util::sync::CancellationToken;
use write::relay::{Relay, RelayError};

use super::opened;
use crate::append;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lagging_replica_is_not_mistaken_for_an_older_store() {
    let Some(nats) = Nats::start().await else { return };
    let (server, clock) = (EventStoreDb::start().await, Clock::system());
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let address = server.address(None).parse().unwrap();
    let first = opened(folders[0].path(), &address).await;
    let second = opened(folders[1].path(), &address).await;
    let stop = CancellationToken::new();
    let relaying = tokio::spawn(Relay::new(first.clone(), nats.client().await).run(stop.clone()));
    let (appended, until) = (first.clone(), stop.clone());
    let appending = tokio::spawn(until.run_until_cancelled_owned(async move {
        loop {
            appended.append(append(&clock, "a", "x")).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }));
    let client = nats.client().await;
    // Often, and until something was appended meanwhile.
    let mut checks = 0;
    while checks < 200 || first.head().await.unwrap().position <= Position(1) {
        checks += 1;
        match Relay::new(second.clone(), client.clone()).check().await {
            Ok(()) => {}
            Err(refused @ RelayError::Refused(_)) => panic!("{refused}"),
            Err(error) => panic!("{error}"),
        }
    }
    stop.cancel();
    let _ = tokio::join!(relaying, appending);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_log_is_rejected() {
    let Some(nats) = Nats::start().await else { return };
    let (server, clock) = (EventStoreDb::start().await, Clock::system());
    let folder = tempfile::tempdir().unwrap();
    let address = server.address(None).parse().unwrap();
    let store = opened(folder.path(), &address).await;
    for _ in 0..5 {
        store.append(append(&clock, "a", "x")).await.unwrap();
    }
    let stop = CancellationToken::new();
    let relay = Relay::new(store.clone(), nats.client().await);
    let mut relayed = relay.watch();
    let relaying = tokio::spawn(relay.run(stop.clone()));
    relayed.wait_for(|relayed| relayed.position == Position(5)).await.unwrap();
    stop.cancel();
    relaying.await.unwrap();
    store.close().await;
    server.truncate("loggia-events", 3).await;

    let elsewhere = tempfile::tempdir().unwrap();
    let older = opened(elsewhere.path(), &address).await;
    let refused = Relay::new(older, nats.client().await).check().await.unwrap_err();
    assert!(matches!(refused, RelayError::Refused(_)), "{refused}");
    assert!(refused.to_string().contains("has 5 events, the event store only 3"), "{refused}");
}

/// The relay of an idle write side follows what the other one publishes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_relays_publish_one_log_without_errors() {
    let Some(nats) = Nats::start().await else { return };
    let (server, clock) = (EventStoreDb::start().await, Clock::system());
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let address = server.address(None).parse().unwrap();
    let (stop, mut stores, mut watched, mut running) =
        (CancellationToken::new(), Vec::new(), Vec::new(), Vec::new());
    for folder in &folders {
        let store: Arc<EventLog> = opened(folder.path(), &address).await;
        let relay = Relay::new(store.clone(), nats.client().await);
        watched.push(relay.watch());
        running.push(tokio::spawn(relay.run(stop.clone())));
        stores.push(store);
    }
    for number in 0..40 {
        let one = append(&clock, &format!("s{}", number % 3), "x");
        stores[number % 2].append(one).await.unwrap();
    }
    wait_until(kit::TIMEOUT, "both relays at the end", async || {
        watched.iter().all(|relayed| {
            let relayed = relayed.borrow();
            assert!(!relayed.failure.as_deref().unwrap_or_default().contains("older"), "{relayed:?}");
            relayed.position == Position(40)
        })
    })
    .await;
    stop.cancel();
    futures::future::join_all(running).await;
}
