//! A log that was restored from an older backup: models that had applied what it lost are made again from it.

use std::path::Path;

use kit::nats::Nats;
use projections::failure::Failure;
use projections::snapshot::{self, SnapshotError};
use projections::source::EventSource;
use read::generation::Generations;
use schemas::ids::Position;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tempfile::TempDir;

use crate::hand_made::{HandMade, SELECTED, project, selected};
use crate::working::{Working, digests};

/// Publishes projects with these numbers.
async fn publish(stream: &mut HandMade, numbers: std::ops::Range<u32>) {
    for number in numbers {
        stream.publish(&project(number), SELECTED, selected(&format!("house-{number}"))).await;
    }
}

/// A log whose first five events a node has applied.
struct Applied {
    _nats: Nats,
    client: async_nats::Client,
    stream: HandMade,
    folder: TempDir,
    working: Working,
}

impl Applied {
    /// Publishes and applies them; a write side can be asked for the log if it `answers`.
    async fn five(answers: bool) -> Option<Applied> {
        let nats = Nats::start().await?;
        let client = nats.client().await;
        let mut stream = HandMade::new(&client).await;
        if answers {
            stream.answer(&client).await;
        }
        publish(&mut stream, 1..6).await;
        let folder = tempfile::tempdir().unwrap();
        let working = Working::on(folder.path(), &client);
        working.log_at("g000001", Position(5)).await;
        Some(Applied { _nats: nats, client, stream, folder, working })
    }
}

/// Checks that the models are those of a node that only ever saw the log as it is.
async fn equal_a_new_node(models: &Path, client: &async_nats::Client, head: Position) {
    let folder = tempfile::tempdir().unwrap();
    let new = Working::on(folder.path(), client);
    new.log_at("g000001", head).await;
    new.end().await;
    assert_eq!(digests(models).await, digests(folder.path()).await);
}

#[tokio::test]
async fn a_log_that_stays_shorter_than_the_models_has_them_made_again() {
    let Some(Applied { _nats, client, mut stream, folder, working }) = Applied::five(true).await else {
        return;
    };
    stream.begin_again().await;
    publish(&mut stream, 11..14).await;
    working.log_at("g000002", Position(3)).await;
    publish(&mut stream, 14..18).await;
    working.log_at("g000002", Position(7)).await;
    working.end().await;
    equal_a_new_node(folder.path(), &client, Position(7)).await;
}

#[tokio::test]
async fn an_event_that_does_not_follow_the_last_one_shows_another_history() {
    let Some(Applied { _nats, client, mut stream, folder, working }) = Applied::five(false).await else {
        return;
    };
    // No write side could be asked how long its log is.
    stream.begin_again().await;
    publish(&mut stream, 11..19).await;
    working.log_at("g000002", Position(8)).await;
    working.end().await;
    // A log of the same length is found at the start.
    stream.begin_again().await;
    publish(&mut stream, 21..29).await;
    let working = Working::on(folder.path(), &client);
    working.log_at("g000003", Position(8)).await;
    working.end().await;
    equal_a_new_node(folder.path(), &client, Position(8)).await;
}

#[tokio::test]
async fn a_stream_that_is_filled_again_with_the_same_log_changes_nothing() {
    let Some(Applied { _nats, client: _client, mut stream, folder: _folder, working }) =
        Applied::five(true).await
    else {
        return;
    };
    stream.fill_again(2).await;
    // Longer than a log must be shorter to count as one that was restored.
    tokio::time::sleep(std::time::Duration::from_secs(8)).await;
    stream.fill_again(5).await;
    publish(&mut stream, 6..8).await;
    working.log_at("g000001", Position(7)).await;
    working.end().await;
}

#[tokio::test]
async fn a_damaged_message_is_replaced_by_the_event_of_the_log() {
    let Some(nats) = Nats::start().await else { return };
    let client = nats.client().await;
    let mut stream = HandMade::new(&client).await;
    stream.answer(&client).await;
    publish(&mut stream, 1..4).await;
    let folder = tempfile::tempdir().unwrap();
    let working = Working::on(folder.path(), &client);
    working.log_at("g000001", Position(3)).await;
    // While it is followed, and among others.
    publish(&mut stream, 4..5).await;
    stream.publish_damaged(5, Some(selected("forged"))).await;
    publish(&mut stream, 6..7).await;
    working.log_at("g000001", Position(6)).await;
    working.end().await;
    // As the first one that is read, and one that is no event.
    stream.publish_damaged(7, Some(selected("forged"))).await;
    stream.publish_damaged(8, None).await;
    publish(&mut stream, 9..10).await;
    let working = Working::on(folder.path(), &client);
    working.log_at("g000001", Position(9)).await;
    working.end().await;
    // A replay meets all of them; a stream without damage gives the same.
    equal_a_new_node(folder.path(), &client, Position(9)).await;
    stream.fill_again(9).await;
    equal_a_new_node(folder.path(), &client, Position(9)).await;
}

#[tokio::test]
async fn a_checkpoint_of_version_0_1_goes_on_with_the_next_event() {
    let Some(nats) = Nats::start().await else { return };
    let client = nats.client().await;
    let mut stream = HandMade::new(&client).await;
    publish(&mut stream, 1..4).await;
    let folder = tempfile::tempdir().unwrap();
    let working = Working::on(folder.path(), &client);
    working.log_at("g000001", Position(3)).await;
    working.end().await;
    let file = folder.path().join("keys/g000001/keys.db");
    let mut database = SqliteConnectOptions::new().filename(&file).connect().await.unwrap();
    sqlx::query("UPDATE checkpoint SET state = json_remove(state, '$.hash')")
        .execute(&mut database)
        .await
        .unwrap();
    sqlx::Connection::close(database).await.unwrap();
    let working = Working::on(folder.path(), &client);
    publish(&mut stream, 4..6).await;
    working.log_at("g000001", Position(5)).await;
    working.end().await;
    for (checkpoint, _) in digests(folder.path()).await {
        assert_eq!((checkpoint.position, checkpoint.hash), (Position(5), Some(stream.hash)));
    }
}

#[tokio::test]
async fn a_shorter_log_of_another_store_has_nothing_made_again() {
    let Some(Applied { _nats, client, mut stream, folder, working }) = Applied::five(true).await else {
        return;
    };
    working.end().await;
    stream.store = stream.clock.store_id();
    stream.begin_again().await;
    publish(&mut stream, 1..3).await;
    let mut working = Working::on(folder.path(), &client);
    let failure = working.failure().await;
    assert!(matches!(failure, Failure::ForeignStore { .. }), "{failure}");
    working.end().await;
    let search = Generations::in_layout(folder.path().join("search"), read::search::LAYOUT);
    assert_eq!(search.current().unwrap().unwrap().name, "g000001");
}

#[tokio::test]
async fn a_snapshot_of_a_history_that_the_log_lost_is_refused() {
    let Some(Applied { _nats, client, mut stream, folder, working }) = Applied::five(true).await else {
        return;
    };
    working.all_at("g000001", Position(5)).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let manifest = snapshot::take(
        folder.path(),
        &elsewhere.path().join("taken"),
        "2026-11-20T08:00:00Z".parse().unwrap(),
    )
    .await
    .unwrap();
    working.end().await;
    stream.begin_again().await;
    publish(&mut stream, 11..19).await;
    let (models, source) = (elsewhere.path().join("models"), EventSource::new(client));
    let refused =
        snapshot::install(&models, &manifest, &source, async |_, _, _| unreachable!()).await.unwrap_err();
    let SnapshotError::Unfit(reason) = refused else { panic!("{refused}") };
    assert!(reason.starts_with("it has applied an event at 5 with the hash "), "{reason}");
    assert!(!models.exists());
}

#[tokio::test]
async fn the_lag_rises_while_the_relay_stands_still() {
    let Some(Applied { _nats, client: _client, mut stream, folder: _folder, working }) =
        Applied::five(true).await
    else {
        return;
    };
    let lag = async || {
        let all = working.node.status().await;
        all.iter().filter(|status| status.name != "counters").map(|status| status.lag).collect::<Vec<_>>()
    };
    assert_eq!(lag().await, [0; 5]);
    let held: Vec<_> = (6..10).map(|number| stream.record_selected(number)).collect();
    assert_eq!(lag().await, [4; 5], "NATS has none of them");
    for event in &held {
        stream.carry(event).await;
    }
    working.log_at("g000001", Position(9)).await;
    assert_eq!(lag().await, [0; 5]);
    working.end().await;
}
