//! Events that a projection cannot apply, or does not know yet: the worker parks or skips them and continues.

use projections::error::WorkerError;
use projections::projection::Projection;
use projections::projection::search::SearchProjection;
use projections::source::EventSource;
use projections::status::Status;
use projections::worker::{ProjectionWorker, Worker};
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::catalog::{CatalogReader, SlugResolution};
use read::keys::KeysReader;
use read::keys::KeysWriter;
use read::model::Model;
use read::neighbours::NeighboursWriter;
use schemas::clock::Clock;
use schemas::control::Parked;
use schemas::ids::{Position, StreamId};
use schemas::key::KeyHash;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::test_stream::{REVISED, SELECTED, TestStream, project, selected};

async fn publish_strange_events() -> Option<TestStream> {
    let mut stream = TestStream::start().await?;
    stream.publish(&project(1), SELECTED, selected("first")).await;
    stream.publish(&project(1), "loggia.curation.project_selected.v9", json!({"anything": 1})).await;
    stream.publish(&project(1), REVISED, json!({"record": "no record"})).await;
    stream.publish(&project(2), REVISED, json!({"record": {"name": "X", "category": "art"}})).await;
    stream.position = stream.position.next();
    stream.send("loggia.curation.stray".into(), async_nats::HeaderMap::new(), "{}".into()).await;
    stream.publish(&project(3), SELECTED, selected("last")).await;
    Some(stream)
}

async fn worker<P: Projection>(
    folder: &std::path::Path,
    stream: &TestStream,
    status: &Status,
) -> ProjectionWorker<P> {
    let source = EventSource::new(stream.client.clone());
    ProjectionWorker::open(folder, source, status.clone(), Clock::system()).await.unwrap()
}

/// The expected status after the stream.
fn parked() -> Vec<Parked> {
    let shape = "the payload of a loggia.curation.project_revised.v1 event does not have its shape: \
                 invalid type: string \"no record\", expected struct Record at line 1 column 21";
    vec![
        Parked { position: Position(3), kind: REVISED.into(), reason: shape.into() },
        Parked {
            position: Position(5),
            kind: String::new(),
            reason: "the message has no readable header ce-source: it is absent".into(),
        },
        Parked {
            position: Position(4),
            kind: REVISED.into(),
            reason: "it refers to a project that was not selected before".into(),
        },
    ]
}

async fn assert_parked_and_skipped<P: Projection>(stream: &TestStream) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let status = Status::new(P::Model::NAME);
    let mut worker: ProjectionWorker<P> = worker(folder.path(), stream, &status).await;
    worker.replay(stream.position, &CancellationToken::new(), &mut |_| {}).await.unwrap();
    let status = status.get();
    let mut expected = parked();
    expected.sort_by_key(|parked| parked.position);
    let mut found = status.parked.clone();
    found.sort_by_key(|parked| parked.position);
    assert_eq!(
        (status.position, status.skipped, found),
        (stream.position, 1, expected),
        "{}",
        P::Model::NAME
    );
    folder
}

#[tokio::test]
async fn poison_events_are_parked_and_unknown_events_skipped() {
    let Some(stream) = publish_strange_events().await else { return };
    let catalog = assert_parked_and_skipped::<CatalogWriter>(&stream).await;
    assert_parked_and_skipped::<SearchProjection>(&stream).await;
    assert_parked_and_skipped::<NeighboursWriter>(&stream).await;
    assert_parked_and_skipped::<ArchiveWriter>(&stream).await;
    let reader = CatalogReader::open(catalog.path()).await.unwrap();
    for slug in ["first", "last"] {
        assert!(matches!(reader.resolve(slug).await.unwrap(), SlugResolution::Found(_)), "{slug}");
    }
}

#[tokio::test]
async fn events_of_another_store_are_rejected() {
    let Some(mut stream) = TestStream::start().await else { return };
    stream.publish(&project(1), SELECTED, selected("first")).await;
    let folder = tempfile::tempdir().unwrap();
    let status = Status::new("catalog");
    let mut worker: ProjectionWorker<CatalogWriter> = worker(folder.path(), &stream, &status).await;
    worker.replay(stream.position, &CancellationToken::new(), &mut |_| {}).await.unwrap();
    stream.store = stream.clock.store_id();
    stream.publish(&project(2), SELECTED, selected("second")).await;
    let failure = worker.replay(stream.position, &CancellationToken::new(), &mut |_| {}).await.unwrap_err();
    assert!(matches!(failure, WorkerError::ForeignStore { model: "catalog", .. }), "{failure}");
    assert_eq!(worker.position(), Position(1), "nothing of it was applied");
}

#[tokio::test]
async fn account_events_change_the_key_model_and_not_the_catalog() {
    let Some(mut stream) = TestStream::start().await else { return };
    let account: StreamId = format!("account-{}", project(1)).parse().unwrap();
    let (opened, issued, revoked) =
        ("loggia.account.account_opened.v1", "loggia.account.key_issued.v1", "loggia.account.key_revoked.v1");
    let hash = KeyHash::of(b"a key");
    let key = json!({"key_id": "Ab3dEf9h", "hash": hash, "hint": "wxyz", "name": null, "tier": "free"});
    stream.publish_in(account.clone(), opened, json!({})).await;
    stream.publish_in(account.clone(), issued, key).await;
    stream.publish(&project(3), SELECTED, selected("first")).await;
    stream.publish_in(account, revoked, json!({"key_id": "Zb3dEf9h"})).await;

    let (folder, status) = (tempfile::tempdir().unwrap(), Status::new("keys"));
    let mut keys: ProjectionWorker<KeysWriter> = worker(folder.path(), &stream, &status).await;
    keys.replay(stream.position, &CancellationToken::new(), &mut |_| {}).await.unwrap();
    let reason = "it refers to a key that was not issued to this account before".to_owned();
    let unknown = Parked { position: Position(4), kind: revoked.into(), reason };
    assert_eq!((status.get().parked, status.get().skipped), (vec![unknown], 0));
    let reader = KeysReader::open(folder.path()).await.unwrap();
    assert_eq!(reader.find(&hash).unwrap().key_id.as_str(), "Ab3dEf9h");

    let (folder, status) = (tempfile::tempdir().unwrap(), Status::new("catalog"));
    let mut catalog: ProjectionWorker<CatalogWriter> = worker(folder.path(), &stream, &status).await;
    catalog.replay(stream.position, &CancellationToken::new(), &mut |_| {}).await.unwrap();
    assert_eq!((status.get().parked, status.get().skipped), (vec![], 0));
    let reader = CatalogReader::open(folder.path()).await.unwrap();
    assert!(matches!(reader.resolve("first").await.unwrap(), SlugResolution::Found(_)));
}
