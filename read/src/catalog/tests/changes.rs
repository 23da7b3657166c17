//! Changes in log order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schemas::event::{PictureAttached, VectorsRecorded};
use schemas::picture::{Picture, PictureFormat, PictureId};

use super::*;

/// Returns a page as lines, and its cursor.
async fn page(
    reader: &CatalogReader,
    since: Option<ChangeCursor>,
    limit: usize,
) -> (Vec<String>, ChangeCursor, bool) {
    match reader.changes(since, limit).await.unwrap() {
        Changes::Page { changes, next, caught_up } => (changes.iter().map(line).collect(), next, caught_up),
        other => panic!("{other:?}"),
    }
}

fn line(change: &Change) -> String {
    let Change { cursor, kind, slug, from, at, record } = change;
    let record = record.as_ref().map_or("null".into(), |record| {
        let text = String::from_utf8(record.to_vec()).unwrap().replace('\u{1}', "");
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        format!("{} {}", record["slug"].as_str().unwrap(), record["name"].as_str().unwrap())
    });
    let from = from.as_deref().unwrap_or("-");
    format!("{} {kind} {slug} {from} {} | {record}", cursor.position(), &at[17..19])
}

fn attached(byte: u8) -> Event {
    let (id, format) = (PictureId([byte; 32]), PictureFormat::Png);
    let picture = Picture { id, format, width: 320, height: 200, palette: vec![] };
    Event::PictureAttached(PictureAttached { source: "a.png".into(), picture })
}

fn vectors() -> Event {
    Event::VectorsRecorded(VectorsRecorded {
        model: "m".into(),
        visual: None,
        semantic: None,
        computed: None,
    })
}

fn restored() -> Event {
    Event::ProjectRestored(ProjectRestored {})
}

#[tokio::test]
async fn everything_that_readers_see_is_listed_with_the_record_of_now() {
    let folder = tempfile::tempdir().unwrap();
    let events = vec![
        (1, selected("a")),
        (2, selected("b")),
        (1, vectors()),
        (1, attached(1)),
        (1, attached(1)),
        (1, renamed("c")),
        (2, withdrawn()),
        (1, revised("New")),
        (2, restored()),
        (2, withdrawn()),
    ];
    let reader = catalog(folder.path(), &events, &[3, 6]).await;
    let all = [
        "1 selected a - 01 | c New",
        "2 selected b - 02 | null",
        "4 revised a - 04 | c New",
        "6 renamed c a 06 | c New",
        "7 withdrawn b - 07 | null",
        "8 revised c - 08 | c New",
        "9 restored b - 09 | null",
        "10 withdrawn b - 10 | null",
    ];
    let (lines, next, caught_up) = page(&reader, None, 100).await;
    assert_eq!((lines, next.position(), caught_up), (all.map(str::to_owned).to_vec(), Position(10), true));
    assert_eq!(page(&reader, Some(next), 100).await, (Vec::new(), next, true));
    let (mut paged, mut since) = (Vec::new(), None);
    loop {
        let (lines, next, caught_up) = page(&reader, since, 3).await;
        (paged, since) = ([paged, lines].concat(), Some(next));
        assert_eq!(caught_up, paged.len() == all.len());
        if caught_up {
            break;
        }
    }
    assert_eq!(paged, all);
}

#[tokio::test]
async fn a_cursor_of_another_log_and_one_of_the_future_are_told_apart() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let events = vec![(1, selected("a")), (1, revised("B")), (1, revised("C"))];
    let reader = catalog(one.path(), &events, &[]).await;
    let (_, newest, _) = page(&reader, None, 3).await;
    // The log after a restore: shorter, and later with another event at the same position.
    let earlier = catalog(two.path(), &events[..2], &[]).await;
    assert_eq!(earlier.changes(Some(newest), 3).await.unwrap(), Changes::NotReached);
    let (_, kept, _) = page(&earlier, None, 3).await;
    assert_eq!(page(&reader, Some(kept), 3).await.0, ["3 revised a - 03 | a C"]);
    let mut writer = CatalogWriter::open(two.path()).await.unwrap();
    writer.load([project(1)].into_iter()).await.unwrap();
    let event = revised("Other");
    let other = Recorded { hash: Hash([9; 32]), ..recorded(3, project(1), &event) };
    writer.apply(&other, project(1), &event).unwrap();
    writer.commit(Checkpoint { position: Position(3), ..Checkpoint::default() }).await.unwrap();
    writer.close().await.unwrap();
    assert_eq!(earlier.changes(Some(newest), 3).await.unwrap(), Changes::OtherLog);
    let store = Some("01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned());
    let mut writer = CatalogWriter::open(two.path()).await.unwrap();
    writer.commit(Checkpoint { position: Position(3), store, ..Checkpoint::default() }).await.unwrap();
    writer.close().await.unwrap();
    assert_eq!(earlier.changes(Some(kept), 3).await.unwrap(), Changes::OtherLog, "another store");
}

#[tokio::test]
async fn a_refresh_notifies_those_who_wait() {
    let folder = tempfile::tempdir().unwrap();
    let reader = catalog(folder.path(), &[(1, selected("a"))], &[]).await;
    let mut commits = reader.commits();
    reader.notify_of_commits();
    commits.changed().await.unwrap();
    drop(reader);
    assert!(commits.changed().await.is_err(), "another generation is read");
}

/// A step of a history: the project, and what happens to it.
fn steps() -> impl Strategy<Value = Vec<(u64, u8)>> {
    proptest::collection::vec((1_u64..5, 0_u8..5), 0..40)
}

/// Returns the events of the steps that are possible.
fn history(steps: &[(u64, u8)]) -> Vec<(u64, Event)> {
    let mut states: BTreeMap<u64, bool> = BTreeMap::new();
    let mut events = Vec::new();
    for (at, (id, what)) in steps.iter().enumerate() {
        let listed = states.get(id).copied();
        let event = match (listed, what) {
            (None, _) => selected(&format!("p{id}-{at}")),
            (Some(true), 0 | 1) => revised(&format!("Name {at}")),
            (Some(true), 2 | 3) => renamed(&format!("p{id}-{at}")),
            (Some(true), _) => withdrawn(),
            (Some(false), _) => restored(),
        };
        states.insert(*id, !matches!(event, Event::ProjectWithdrawn(_)));
        events.push((*id, event));
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A mirror that is kept by slug, from any earlier state of the catalog, ends as the catalog.
    #[test]
    fn a_mirror_ends_as_the_catalog(steps in steps(), cut in 0_usize..40, limit in 1_usize..7) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let events = history(&steps);
            let early = catalog(before.path(), &events[..cut.min(events.len())], &[]).await;
            let late = catalog(after.path(), &events, &[]).await;
            let (mut mirror, mut since) = (BTreeMap::new(), None);
            for reader in [&early, &late] {
                loop {
                    let Changes::Page { changes, next, caught_up } = reader.changes(since, limit).await.unwrap()
                    else { panic!("no page") };
                    since = Some(next);
                    for change in changes {
                        change.from.and_then(|from| mirror.remove(&from));
                        match change.record {
                            None => drop(mirror.remove(&change.slug)),
                            Some(record) => {
                                let text = String::from_utf8(record.to_vec()).unwrap().replace('\u{1}', "");
                                let project: serde_json::Value = serde_json::from_str(&text).unwrap();
                                mirror.insert(project["slug"].as_str().unwrap().to_owned(), record);
                            }
                        }
                    }
                    if caught_up {
                        break;
                    }
                }
            }
            let mut expected = BTreeMap::new();
            for listed in late.listed_part(100, 0).await.unwrap() {
                let SlugResolution::Found(record) = late.resolve(&listed.slug).await.unwrap() else { panic!() };
                expected.insert(listed.slug, record);
            }
            assert_eq!(mirror, expected);
        });
    }
}
