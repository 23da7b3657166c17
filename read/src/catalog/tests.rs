#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod awaited;
mod changed;
mod changes;
mod history;

use std::ops::Range;

use bytes::Bytes;
use schemas::envelope::Recorded;
use schemas::event::{
    Event, ProjectRenamed, ProjectRestored, ProjectRevised, ProjectSelected, ProjectWithdrawn,
};
use schemas::hash::Hash;
use schemas::ids::{CommandId, Position, ProjectId, StreamId};
use serde_json::json;

use super::*;
use model::checkpoint::Checkpoint;

fn project(number: u64) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

fn selected(slug: &str) -> Event {
    let record = serde_json::from_value(json!({"name": slug.to_uppercase(), "category": "art"})).unwrap();
    Event::ProjectSelected(ProjectSelected { slug: slug.parse().unwrap(), record, id: None })
}

fn revised(name: &str) -> Event {
    let record = serde_json::from_value(json!({"name": name, "category": "art", "city": "Łódź"})).unwrap();
    Event::ProjectRevised(ProjectRevised { record })
}

fn renamed(slug: &str) -> Event {
    Event::ProjectRenamed(ProjectRenamed { slug: slug.parse().unwrap() })
}

fn withdrawn() -> Event {
    Event::ProjectWithdrawn(ProjectWithdrawn { reason: "The owners asked for it.".into() })
}

fn recorded(position: u64, id: ProjectId, event: &Event) -> Recorded {
    kit::samples::recorded(Position(position), StreamId::project(id), event)
}

/// Applies the events in batches that end at `cuts`, at positions from 1.
async fn catalog(folder: &Path, events: &[(u64, Event)], cuts: &[usize]) -> CatalogReader {
    let mut writer = CatalogWriter::open(folder).await.unwrap();
    let mut start = 0;
    for end in cuts.iter().copied().chain([events.len()]) {
        write(&mut writer, events, start..end).await;
        start = end;
    }
    writer.close().await.unwrap();
    CatalogReader::open(folder).await.unwrap()
}

/// Commits a range of the events, at positions from 1.
async fn write(writer: &mut CatalogWriter, events: &[(u64, Event)], part: Range<usize>) {
    let batch = &events[part.clone()];
    writer.load(batch.iter().map(|(number, _)| project(*number))).await.unwrap();
    for (position, (number, event)) in (part.start as u64 + 1..).zip(batch) {
        let id = project(*number);
        writer.apply(&recorded(position, id, event), id, event).unwrap();
    }
    writer.commit(Checkpoint { position: Position(part.end as u64), ..Checkpoint::default() }).await.unwrap();
}

fn sample_events() -> Vec<(u64, Event)> {
    vec![
        (1, selected("a")),
        (2, selected("b")),
        (1, revised("A2")),
        (1, renamed("a-moved")),
        (2, withdrawn()),
        (3, selected("c")),
        (3, withdrawn()),
        (3, Event::ProjectRestored(ProjectRestored {})),
        (1, renamed("a")),
        (1, renamed("a-again")),
    ]
}

#[tokio::test]
async fn a_slug_is_resolved_as_the_events_say() {
    let folder = tempfile::tempdir().unwrap();
    let reader = catalog(folder.path(), &sample_events(), &[]).await;
    assert_eq!(reader.resolve("a").await.unwrap(), SlugResolution::Redirect("a-again".into()));
    assert_eq!(reader.resolve("a-moved").await.unwrap(), SlugResolution::Redirect("a-again".into()));
    assert_eq!(
        reader.resolve("b").await.unwrap(),
        SlugResolution::Gone {
            reason: "The owners asked for it.".into(),
            citation: Bytes::from_static(b"\x01/cite/b/1"),
            revision_url: Bytes::from_static(b"\x01/cite/b/1"),
        }
    );
    assert_eq!(reader.resolve("nothing").await.unwrap(), SlugResolution::NotFound);
    let SlugResolution::Found(answer) = reader.resolve("a-again").await.unwrap() else {
        panic!("a-again is listed")
    };
    let answer = String::from_utf8(answer.to_vec()).unwrap().replace('\u{1}', "http://h");
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["name"], "A2");
    assert_eq!(answer["revision"], 2);
    // The second revision was recorded under the first slug.
    assert_eq!(
        (&answer["citation_url"], &answer["revision_url"]),
        (&json!("http://h/cite/a/2"), &json!("http://h/cite/a/2"))
    );
    assert_eq!((&answer["slug"], &answer["added_at"]), (&json!("a-again"), &json!("2026-11-20T08:00:01Z")));
    assert_eq!(answer["updated_at"], "2026-11-20T08:00:10Z");
    assert_eq!(reader.listed().await.unwrap(), 2);
    assert_eq!(reader.checkpoint().await.unwrap().position, Position(10));
}

#[tokio::test]
async fn the_records_of_several_slugs_are_read_at_once_also_of_withdrawn_projects() {
    let folder = tempfile::tempdir().unwrap();
    let reader = catalog(folder.path(), &sample_events(), &[]).await;
    let slugs = ["nothing", "a-moved", "b", "a-again"].map(str::to_owned);
    let records = reader.records(&slugs).await.unwrap();
    let mut found: Vec<(&str, serde_json::Value)> = records
        .iter()
        .map(|(slug, record)| {
            let record = String::from_utf8(record.to_vec()).unwrap().replace('\u{1}', "http://h");
            let record: serde_json::Value = serde_json::from_str(&record).unwrap();
            (slug.as_str(), json!([record["slug"], record["name"]]))
        })
        .collect();
    found.sort_by_key(|(slug, _)| *slug);
    let expected = [
        ("a-again", json!(["a-again", "A2"])),
        ("a-moved", json!(["a-again", "A2"])),
        ("b", json!(["b", "B"])),
    ];
    assert_eq!(found, expected);
    assert_eq!(reader.records(&[]).await.unwrap(), []);
}

#[tokio::test]
async fn a_project_is_found_by_the_addresses_of_its_present_record() {
    let folder = tempfile::tempdir().unwrap();
    let record = |url: &str| {
        let record = json!({"name": "A", "category": "art", "url": url, "citation_url": "https://m.org/id"});
        serde_json::from_value(record).unwrap()
    };
    let selected = |slug: &str, url: &str| {
        Event::ProjectSelected(ProjectSelected { slug: slug.parse().unwrap(), record: record(url), id: None })
    };
    let events = vec![
        (1, selected("a", "https://m.org/a")),
        (2, selected("b", "https://m.org/b")),
        (1, Event::ProjectRevised(ProjectRevised { record: record("https://m.org/c") })),
        (1, renamed("a-moved")),
        (2, withdrawn()),
    ];
    let reader = catalog(folder.path(), &events, &[2]).await;
    for (address, slug) in [
        ("https://m.org/a", None),
        ("https://m.org/c", Some("a-moved")),
        ("https://m.org/b", Some("b")),
        // Both have it; one was withdrawn.
        ("https://m.org/id", Some("a-moved")),
        ("", None),
    ] {
        assert_eq!(reader.slug_of_address(address).await.unwrap().as_deref(), slug, "{address}");
    }
}

#[tokio::test]
async fn any_cut_into_batches_gives_the_same_digest() {
    let whole = tempfile::tempdir().unwrap();
    catalog(whole.path(), &sample_events(), &[]).await;
    let (_, expected) = CatalogReader::digest(whole.path()).await.unwrap();
    for cuts in [vec![1], vec![5], vec![2, 3, 4, 9], (1..10).collect()] {
        let folder = tempfile::tempdir().unwrap();
        catalog(folder.path(), &sample_events(), &cuts).await;
        let (checkpoint, digest) = CatalogReader::digest(folder.path()).await.unwrap();
        assert_eq!((checkpoint.position, digest), (Position(10), expected), "cuts {cuts:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    catalog(folder.path(), &sample_events()[..9], &[]).await;
    let (_, other) = CatalogReader::digest(folder.path()).await.unwrap();
    assert_ne!(other, expected);
}

#[tokio::test]
async fn a_replay_without_a_journal_ends_like_any_other() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let journal = folder.path().join("catalog.db-wal");
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    writer.prepare_replay().await.unwrap();
    write(&mut writer, &sample_events(), 0..4).await;
    write(&mut writer, &sample_events(), 4..8).await;
    assert!(!journal.exists());
    writer.finish_replay().await.unwrap();
    let (checkpoint, _) = CatalogReader::digest(folder.path()).await.unwrap();
    assert_eq!(checkpoint.position, Position(8));
    write(&mut writer, &sample_events(), 8..10).await;
    assert!(journal.exists(), "the journal is in use again");
    catalog(other.path(), &sample_events(), &[]).await;
    let (_, expected) = CatalogReader::digest(other.path()).await.unwrap();
    let (checkpoint, digest) = CatalogReader::digest(folder.path()).await.unwrap();
    assert_eq!((checkpoint.position, digest), (Position(10), expected));
}

#[tokio::test]
async fn uncommitted_events_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    let id = project(1);
    writer.apply(&recorded(1, id, &selected("a")), id, &selected("a")).unwrap();
    drop(writer);
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    assert_eq!(writer.checkpoint(), &Checkpoint::default());
    writer.commit(Checkpoint::default()).await.unwrap();
    let reader = CatalogReader::open(folder.path()).await.unwrap();
    assert_eq!(reader.resolve("a").await.unwrap(), SlugResolution::NotFound);
}

#[tokio::test]
async fn an_unexpected_event_is_rejected_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    let id = project(1);
    let error = writer.apply(&recorded(1, id, &revised("x")), id, &revised("x")).unwrap_err();
    assert_eq!(error, "it refers to a project that was not selected before");
    writer.apply(&recorded(2, id, &selected("a")), id, &selected("a")).unwrap();
    let error = writer.apply(&recorded(3, id, &selected("a")), id, &selected("a")).unwrap_err();
    assert_eq!(error, "it selects a project that was selected before");
}
