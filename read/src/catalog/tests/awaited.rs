//! What is said of pictures that are being fetched or drawn.

use schemas::event::{PictureAttached, PictureErased, PictureRefused};
use schemas::ids::Revision;
use schemas::picture::{Picture, PictureFormat, PictureId};
use serde_json::Value;

use super::*;

const SOURCE: &str = "https://m.org/a.jpg";

fn naming(source: &str) -> schemas::record::Record {
    serde_json::from_value(
        json!({"name": "P", "category": "art", "pictures": [{"source": "b.png"}, {"source": source}]}),
    )
    .unwrap()
}

fn revised(source: &str) -> Event {
    Event::ProjectRevised(ProjectRevised { record: naming(source) })
}

fn refused(source: &str) -> Event {
    Event::PictureRefused(PictureRefused { source: source.into(), reason: "It is no picture.".into() })
}

fn picture() -> Picture {
    let (id, format) = (PictureId([0x5e; 32]), PictureFormat::Png);
    Picture { id, format, width: 320, height: 200, palette: Vec::new() }
}

/// Returns whether a rendered record has a thumbnail, and its `thumbnail_state`.
fn state(record: &[u8]) -> (bool, Value) {
    let text = String::from_utf8(record.to_vec()).unwrap().replace('\u{1}', "");
    let record: Value = serde_json::from_str(&text).unwrap();
    (record["thumbnail"].is_string(), record["thumbnail_state"].clone())
}

#[tokio::test]
async fn a_picture_is_waited_for_until_it_is_stored_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let selected = ProjectSelected { slug: "p".parse().unwrap(), record: naming(SOURCE), id: None };
    let attached = PictureAttached { source: SOURCE.into(), picture: picture() };
    let (waiting, none) = ((false, json!("waiting")), (false, Value::Null));
    // Each event, and what is said after it.
    let steps = [
        (Event::ProjectSelected(selected), waiting.clone()),
        (refused("https://m.org/other.jpg"), waiting.clone()),
        (refused(SOURCE), none.clone()),
        // A revision names it again, so it is tried again.
        (revised(SOURCE), waiting.clone()),
        (withdrawn(), none.clone()),
        (Event::ProjectRestored(ProjectRestored {}), waiting.clone()),
        (renamed("q"), waiting.clone()),
        (revised("c.png"), none.clone()),
        (revised(SOURCE), waiting.clone()),
        (Event::PictureAttached(attached), (true, Value::Null)),
        (Event::PictureErased(PictureErased { picture: picture().id }), none.clone()),
        // What was erased is not fetched again.
        (revised(SOURCE), none.clone()),
        (revised("https://m.org/next.jpg"), waiting.clone()),
    ];
    let events: Vec<(u64, Event)> = steps.iter().map(|(event, _)| (1, event.clone())).collect();
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    for (place, (event, expected)) in steps.iter().enumerate() {
        // Each commit leaves nothing in memory: what is awaited is read from the row.
        write(&mut writer, &events, place..place + 1).await;
        let reader = CatalogReader::open(folder.path()).await.unwrap();
        let records = reader.records(&["p".to_owned()]).await.unwrap();
        assert_eq!(state(&records[0].1), *expected, "after {event:?}");
        let history = reader.history("p").await.unwrap().unwrap();
        let newest = reader.revision(&history, history.newest().revision).await.unwrap().unwrap();
        assert_eq!(state(&newest), *expected, "the newest revision after {event:?}");
        let pictures = reader.pictures(std::iter::once("p")).await.unwrap();
        let listed: Vec<bool> = pictures.iter().map(|picture| picture.url.is_some()).collect();
        let is_said = expected.0 || !expected.1.is_null();
        assert_eq!(listed, if is_said { vec![expected.0] } else { vec![] }, "for pages after {event:?}");
        reader.close().await;
    }
    writer.close().await.unwrap();
    // However the events are committed, the catalog is the same.
    let at_once = tempfile::tempdir().unwrap();
    catalog(at_once.path(), &events, &[]).await.close().await;
    let digest = async |folder: &Path| CatalogReader::digest(folder).await.unwrap().1;
    assert_eq!(digest(at_once.path()).await, digest(folder.path()).await);
}

#[tokio::test]
async fn a_former_revision_waits_for_the_picture_that_it_will_show() {
    let selected = ProjectSelected { slug: "p".parse().unwrap(), record: naming(SOURCE), id: None };
    let mut events = vec![(1, Event::ProjectSelected(selected)), (1, revised(SOURCE)), (1, revised("c.png"))];
    let of = async |events: &[(u64, Event)]| {
        let folder = tempfile::tempdir().unwrap();
        let reader = catalog(folder.path(), events, &[]).await;
        let history = reader.history("p").await.unwrap().unwrap();
        state(&reader.revision(&history, Revision::FIRST).await.unwrap().unwrap())
    };
    assert_eq!(of(&events[..2]).await, (false, json!("waiting")));
    assert_eq!(of(&events).await, (false, Value::Null), "nothing fetches it any more");
    events[2].1 = Event::PictureAttached(PictureAttached { source: SOURCE.into(), picture: picture() });
    assert_eq!(of(&events).await, (true, Value::Null));
}

#[tokio::test]
async fn files_come_with_their_import_and_pictures_of_the_demo_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    let selected = |slug: &str| {
        let slug = slug.parse().unwrap();
        let event = ProjectSelected { slug, record: naming("demo/a.jpg"), id: None };
        Event::ProjectSelected(event)
    };
    for (number, actor) in [(1, "Ada"), (2, "demo")] {
        let event = selected(actor.to_lowercase().as_str());
        writer.load(std::iter::once(project(number))).await.unwrap();
        let envelope =
            Recorded { actor: actor.parse().unwrap(), ..recorded(number, project(number), &event) };
        writer.apply(&envelope, project(number), &event).unwrap();
    }
    writer.commit(Checkpoint { position: Position(2), ..Checkpoint::default() }).await.unwrap();
    writer.close().await.unwrap();
    let reader = CatalogReader::open(folder.path()).await.unwrap();
    for (slug, expected) in [("ada", Value::Null), ("demo", json!("waiting"))] {
        let records = reader.records(&[slug.to_owned()]).await.unwrap();
        assert_eq!(state(&records[0].1), (false, expected), "{slug}");
    }
}
