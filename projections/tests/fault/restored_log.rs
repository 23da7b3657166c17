//! A log restored from an older backup: models that had applied lost events are rebuilt from it.

use std::path::Path;

use projections::error::WorkerError;
use projections::snapshot::{self, SnapshotError};
use projections::source::EventSource;
use read::generation::Generations;
use schemas::ids::Position;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tempfile::TempDir;

use crate::running_projections::{RunningProjections, digests};
use crate::test_stream::{SELECTED, TestStream, project, selected};

/// Publishes projects with these numbers.
async fn publish(stream: &mut TestStream, numbers: std::ops::Range<u32>) {
    for number in numbers {
        stream.publish(&project(number), SELECTED, selected(&format!("house-{number}"))).await;
    }
}

/// A log whose first five events a node has applied.
struct Applied {
    stream: TestStream,
    folder: TempDir,
    running: RunningProjections,
}

impl Applied {
    /// Publishes and applies five events; the write side answers requests for the log if `answers`.
    async fn five(answers: bool) -> Option<Applied> {
        let mut stream = TestStream::start().await?;
        if answers {
            stream.serve_log().await;
        }
        publish(&mut stream, 1..6).await;
        let folder = tempfile::tempdir().unwrap();
        let running = RunningProjections::on(folder.path(), &stream.client);
        running.log_at("g000001", Position(5)).await;
        Some(Applied { stream, folder, running })
    }
}

/// Checks that the models equal those of a node that only ever saw this log.
async fn equal_a_new_node(models: &Path, client: &async_nats::Client, head: Position) {
    let folder = tempfile::tempdir().unwrap();
    let new = RunningProjections::on(folder.path(), client);
    new.log_at("g000001", head).await;
    new.end().await;
    assert_eq!(digests(models).await, digests(folder.path()).await);
}

#[tokio::test]
async fn models_ahead_of_a_restored_log_are_rebuilt() {
    let Some(Applied { mut stream, folder, running }) = Applied::five(true).await else { return };
    stream.recreate_empty().await;
    publish(&mut stream, 11..14).await;
    running.log_at("g000002", Position(3)).await;
    publish(&mut stream, 14..18).await;
    running.log_at("g000002", Position(7)).await;
    running.end().await;
    equal_a_new_node(folder.path(), &stream.client, Position(7)).await;
}

#[tokio::test]
async fn an_event_with_a_wrong_hash_causes_a_rebuild() {
    let Some(Applied { mut stream, folder, running }) = Applied::five(false).await else { return };
    // No write side could report the length of its log.
    stream.recreate_empty().await;
    publish(&mut stream, 11..19).await;
    running.log_at("g000002", Position(8)).await;
    running.end().await;
    // A log of the same length is detected at the start.
    stream.recreate_empty().await;
    publish(&mut stream, 21..29).await;
    let running = RunningProjections::on(folder.path(), &stream.client);
    running.log_at("g000003", Position(8)).await;
    running.end().await;
    equal_a_new_node(folder.path(), &stream.client, Position(8)).await;
}

#[tokio::test]
async fn refilling_the_stream_with_the_same_log_changes_nothing() {
    let Some(Applied { mut stream, folder: _folder, running }) = Applied::five(true).await else { return };
    stream.refill(2).await;
    // Above the minimum difference that counts as a restored log.
    tokio::time::sleep(std::time::Duration::from_secs(8)).await;
    stream.refill(5).await;
    publish(&mut stream, 6..8).await;
    running.log_at("g000001", Position(7)).await;
    running.end().await;
}

#[tokio::test]
async fn a_damaged_message_is_replaced_from_the_event_store() {
    let Some(mut stream) = TestStream::start().await else { return };
    stream.serve_log().await;
    publish(&mut stream, 1..4).await;
    let folder = tempfile::tempdir().unwrap();
    let running = RunningProjections::on(folder.path(), &stream.client);
    running.log_at("g000001", Position(3)).await;
    // While following the stream, among other messages.
    publish(&mut stream, 4..5).await;
    stream.publish_damaged(5, Some(selected("forged"))).await;
    publish(&mut stream, 6..7).await;
    running.log_at("g000001", Position(6)).await;
    running.end().await;
    // As the first message, and as one that is not an event.
    stream.publish_damaged(7, Some(selected("forged"))).await;
    stream.publish_damaged(8, None).await;
    publish(&mut stream, 9..10).await;
    let running = RunningProjections::on(folder.path(), &stream.client);
    running.log_at("g000001", Position(9)).await;
    running.end().await;
    // A replay reads all of them and must equal that of an undamaged stream.
    equal_a_new_node(folder.path(), &stream.client, Position(9)).await;
    stream.refill(9).await;
    equal_a_new_node(folder.path(), &stream.client, Position(9)).await;
}

#[tokio::test]
async fn a_checkpoint_of_version_0_1_continues_with_the_next_event() {
    let Some(mut stream) = TestStream::start().await else { return };
    publish(&mut stream, 1..4).await;
    let folder = tempfile::tempdir().unwrap();
    let running = RunningProjections::on(folder.path(), &stream.client);
    running.log_at("g000001", Position(3)).await;
    running.end().await;
    let file = folder.path().join("keys/g000001/keys.db");
    let mut database = SqliteConnectOptions::new().filename(&file).connect().await.unwrap();
    sqlx::query("UPDATE checkpoint SET state = json_remove(state, '$.hash')")
        .execute(&mut database)
        .await
        .unwrap();
    sqlx::Connection::close(database).await.unwrap();
    let running = RunningProjections::on(folder.path(), &stream.client);
    publish(&mut stream, 4..6).await;
    running.log_at("g000001", Position(5)).await;
    running.end().await;
    for (checkpoint, _) in digests(folder.path()).await {
        assert_eq!((checkpoint.position, checkpoint.hash), (Position(5), Some(stream.hash)));
    }
}

#[tokio::test]
async fn a_shorter_log_of_another_store_causes_no_rebuild() {
    let Some(Applied { mut stream, folder, running }) = Applied::five(true).await else { return };
    running.end().await;
    stream.store = stream.clock.store_id();
    stream.recreate_empty().await;
    publish(&mut stream, 1..3).await;
    let mut running = RunningProjections::on(folder.path(), &stream.client);
    let failure = running.failure().await;
    assert!(matches!(failure, WorkerError::ForeignStore { .. }), "{failure}");
    running.end().await;
    let search = Generations::in_layout(folder.path().join("search"), read::search::LAYOUT);
    assert_eq!(search.current().unwrap().unwrap().name, "g000001");
}

#[tokio::test]
async fn a_snapshot_of_a_lost_history_is_rejected() {
    let Some(Applied { mut stream, folder, running }) = Applied::five(true).await else { return };
    running.all_at("g000001", Position(5)).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let manifest = snapshot::take(
        folder.path(),
        &elsewhere.path().join("taken"),
        "2026-11-20T08:00:00Z".parse().unwrap(),
    )
    .await
    .unwrap();
    running.end().await;
    stream.recreate_empty().await;
    publish(&mut stream, 11..19).await;
    let (models, source) = (elsewhere.path().join("models"), EventSource::new(stream.client.clone()));
    let refused =
        snapshot::install(&models, &manifest, &source, async |_, _, _| unreachable!()).await.unwrap_err();
    let SnapshotError::Incompatible(reason) = refused else { panic!("{refused}") };
    assert!(reason.starts_with("it has applied an event at 5 with the hash "), "{reason}");
    assert!(!models.exists());
}

#[tokio::test]
async fn the_lag_grows_while_the_relay_is_stopped() {
    let Some(Applied { mut stream, folder: _folder, running }) = Applied::five(true).await else { return };
    let lag = async || {
        let all = running.node.status().await;
        all.iter().filter(|status| status.name != "counters").map(|status| status.lag).collect::<Vec<_>>()
    };
    assert_eq!(lag().await, [0; 5]);
    let held: Vec<_> = (6..10).map(|number| stream.record_selected(number)).collect();
    assert_eq!(lag().await, [4; 5], "NATS has none of them");
    for event in &held {
        stream.publish_event(event).await;
    }
    running.log_at("g000001", Position(9)).await;
    assert_eq!(lag().await, [0; 5]);
    running.end().await;
}
