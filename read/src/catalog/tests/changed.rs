//! What changed since a time: each project once, in stable pages.

use lexical::OrdinalSet;
use schemas::event::{PictureAttached, PictureErased};
use schemas::picture::{Picture, PictureFormat, PictureId};

use super::*;

fn at(second: u64) -> jiff::Timestamp {
    format!("2026-11-20T08:00:{second:02}Z").parse().unwrap()
}

fn since(second: u64, kinds: &[ChangeKind]) -> ChangedQuery {
    ChangedQuery::new(at(second), kinds, 0)
}

async fn found(
    reader: &CatalogReader,
    query: &ChangedQuery,
    limit: usize,
    after: Option<ChangedCursor>,
) -> ChangedPage {
    match reader.changed(query, None, limit, after).await.unwrap() {
        Changed::Page(page) => page,
        other => panic!("{other:?}"),
    }
}

fn lines(page: &ChangedPage) -> Vec<String> {
    page.projects.iter().map(|(project, _)| line(project)).collect()
}

/// The second, the kind, the slug, the former one and the revision of a change; the names before and after; the members that changed with
/// pictures; and the name now.
fn line(project: &ChangedProject) -> String {
    let name = |record: &Bytes| {
        let text = String::from_utf8(record.to_vec()).unwrap().replace('\u{1}', "");
        let record: serde_json::Value = serde_json::from_str(&text).unwrap();
        record["name"].as_str().unwrap().to_owned()
    };
    let ChangedProject { slug, kind, from, at, revision, pictured, revised, record } = project;
    let from = from.as_deref().unwrap_or("-");
    let revised = revised.as_ref().map_or("-".to_owned(), |both| both.each_ref().map(name).join(">"));
    let record = record.as_ref().map_or("gone".to_owned(), name);
    let (kind, pictured) = (kind.as_str(), pictured.join(","));
    format!("{} {kind} {slug} {from} {revision} {revised} [{pictured}] {record}", &at.to_string()[17..19])
}

#[tokio::test]
async fn each_project_has_its_last_change_of_the_kinds_that_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let events = vec![
        (1, selected("a")),
        (2, selected("b")),
        (3, selected("c")),
        (1, revised("A2")),
        (2, renamed("b2")),
        (3, withdrawn()),
        (1, renamed("a2")),
        (4, selected("d")),
        (4, withdrawn()),
        (4, Event::ProjectRestored(ProjectRestored {})),
    ];
    let reader = catalog(folder.path(), &events, &[4, 6]).await;
    let all = [
        "10 restored d - 1 - [] D",
        "07 renamed a2 a 2 - [] A2",
        "06 withdrawn c - 1 - [] gone",
        "05 renamed b2 b 1 - [] B",
    ];
    for (second, kinds, expected) in [
        (0, &[][..], &all[..]),
        (5, &[], &all),
        (6, &[], &all[..3]),
        (10, &[], &all[..1]),
        (0, &[ChangeKind::Revised], &["04 revised a2 - 2 A>A2 [] A2"]),
        (5, &[ChangeKind::Revised], &[]),
        (
            2,
            &[ChangeKind::Withdrawn, ChangeKind::Selected],
            &["09 withdrawn d - 1 - [] D", "06 withdrawn c - 1 - [] gone", "02 selected b2 - 1 - [] B"],
        ),
        (11, &[], &[]),
    ] {
        let page = found(&reader, &since(second, kinds), 9, None).await;
        assert_eq!(
            (lines(&page), page.total),
            (to_owned(expected), expected.len() as u64),
            "{second} {kinds:?}"
        );
        assert_eq!((page.next, page.latest), (None, Some(at(10))));
        let last = match (expected, kinds) {
            ([], [ChangeKind::Revised]) => Some(at(4)),
            ([], _) => Some(at(10)),
            _ => None,
        };
        assert_eq!(page.last, last, "{second} {kinds:?}");
    }
}

fn to_owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[tokio::test]
async fn what_changes_between_pages_moves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut events: Vec<(u64, Event)> =
        (1..7).map(|number| (number, selected(&format!("p{number}")))).collect();
    let reader = catalog(folder.path(), &events, &[]).await;
    let query = since(0, &[]);
    let first = found(&reader, &query, 2, None).await;
    assert_eq!(lines(&first), ["06 selected p6 - 1 - [] P6", "05 selected p5 - 1 - [] P5"]);
    events.extend([(3, revised("New")), (2, withdrawn()), (7, selected("p7"))]);
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    write(&mut writer, &events, 6..9).await;
    writer.close().await.unwrap();
    // Another node has the list not kept.
    let other = CatalogReader::open(folder.path()).await.unwrap();
    for reader in [&reader, &other] {
        let second = found(reader, &query, 2, first.next).await;
        assert_eq!(lines(&second), ["04 selected p4 - 1 - [] P4", "03 selected p3 - 1 - [] New"]);
        let third = found(reader, &query, 2, second.next).await;
        assert_eq!(lines(&third), ["02 selected p2 - 1 - [] gone", "01 selected p1 - 1 - [] P1"]);
        assert_eq!((first.total, second.total, third.total, third.next), (6, 6, 6, None));
        let last_shown = third.projects.last().map(|(_, cursor)| *cursor);
        assert_eq!(lines(&found(reader, &query, 2, last_shown).await), [""; 0]);
        let again = found(reader, &query, 4, None).await;
        let expected = [
            "09 selected p7 - 1 - [] P7",
            "08 withdrawn p2 - 1 - [] gone",
            "07 revised p3 - 2 P3>New [] New",
            "06 selected p6 - 1 - [] P6",
        ];
        assert_eq!((lines(&again), again.total), (to_owned(&expected), 7));
    }
}

#[tokio::test]
async fn a_cursor_belongs_to_its_list_and_log() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let events = vec![(1, selected("a")), (2, selected("b")), (3, selected("c"))];
    let reader = catalog(one.path(), &events, &[]).await;
    let query = since(0, &[]);
    let after = found(&reader, &query, 1, None).await.next;
    assert!(after.is_some_and(|cursor| cursor.head() == Position(3)));
    for other in [since(1, &[]), since(0, &[ChangeKind::Selected]), ChangedQuery::new(at(0), &[], 1)] {
        assert_eq!(reader.changed(&other, None, 1, after).await.unwrap(), Changed::OtherList);
    }
    // The log after a restore: shorter, and later with another event at the same position.
    let earlier = catalog(two.path(), &events[..2], &[]).await;
    assert_eq!(earlier.changed(&query, None, 1, after).await.unwrap(), Changed::NotReached);
    let mut writer = CatalogWriter::open(two.path()).await.unwrap();
    let event = selected("other");
    let other = Recorded { hash: Hash([9; 32]), ..recorded(3, project(3), &event) };
    writer.load([project(3)].into_iter()).await.unwrap();
    writer.apply(&other, project(3), &event).unwrap();
    writer.commit(Checkpoint { position: Position(3), ..Checkpoint::default() }).await.unwrap();
    writer.close().await.unwrap();
    assert_eq!(earlier.changed(&query, None, 1, after).await.unwrap(), Changed::OtherList);
}

#[tokio::test]
async fn an_empty_catalog_has_no_changes() {
    let folder = tempfile::tempdir().unwrap();
    let reader = catalog(folder.path(), &[], &[]).await;
    let page = found(&reader, &since(0, &[]), 9, None).await;
    let ChangedPage { projects, next, total, list, latest, last } = page;
    assert_eq!((projects, next, total, latest, last), (vec![], None, 0, None, None));
    assert!(list.is_empty());
}

#[tokio::test]
async fn a_set_restricts_the_list_to_listed_projects() {
    let folder = tempfile::tempdir().unwrap();
    let mut events: Vec<(u64, Event)> =
        (1..6).map(|number| (number, selected(&format!("p{number}")))).collect();
    events.extend([(4, withdrawn()), (1, revised("New"))]);
    let reader = catalog(folder.path(), &events, &[]).await;
    // The set is older than the catalog: p4 is still in it.
    let within: OrdinalSet = [1, 3, 4, 5].into_iter().collect();
    let page = async |limit, after| {
        let found = reader.changed(&since(0, &[]), Some(&within), limit, after).await.unwrap();
        let Changed::Page(page) = found else { panic!("{found:?}") };
        page
    };
    let whole = page(9, None).await;
    let expected =
        ["07 revised p1 - 2 P1>New [] New", "05 selected p5 - 1 - [] P5", "03 selected p3 - 1 - [] P3"];
    assert_eq!((lines(&whole), whole.total, whole.next), (to_owned(&expected), 3, None));
    assert_eq!(whole.list.ordinals(), (1..6).collect());
    let first = page(2, None).await;
    assert_eq!(lines(&first), [expected[0]]);
    let second = page(2, first.next).await;
    assert_eq!((lines(&second), second.next), (to_owned(&expected[1..]), None));
}

/// A record that names two pictures.
fn named(name: &str) -> schemas::record::Record {
    let record =
        json!({"name": name, "category": "art", "pictures": [{"source": "a.png"}, {"source": "b.png"}]});
    serde_json::from_value(record).unwrap()
}

fn attached(source: &str, byte: u8) -> Event {
    let (id, format) = (PictureId([byte; 32]), PictureFormat::Png);
    let picture = Picture { id, format, width: 320, height: 200, palette: vec![] };
    Event::PictureAttached(PictureAttached { source: source.into(), picture })
}

#[tokio::test]
async fn a_picture_changes_what_it_is_seen_in() {
    let first = || {
        Event::ProjectSelected(ProjectSelected { slug: "a".parse().unwrap(), record: named("A"), id: None })
    };
    let again = || Event::ProjectRevised(ProjectRevised { record: named("B") });
    let erased = |byte| Event::PictureErased(PictureErased { picture: PictureId([byte; 32]) });
    for (events, second, expected) in [
        (vec![first(), attached("a.png", 1)], 0, "02 revised a - 1 - [thumbnail,images] A"),
        (vec![first(), attached("a.png", 1), attached("b.png", 2)], 0, "03 revised a - 1 - [images] A"),
        (vec![first(), attached("other.png", 1)], 0, "02 revised a - 1 - [] A"),
        (
            vec![first(), attached("a.png", 1), attached("b.png", 2), erased(1)],
            0,
            "04 revised a - 1 - [thumbnail,images] A",
        ),
        // The record changed since then, too.
        (vec![first(), again(), attached("a.png", 1)], 2, "03 revised a - 2 A>B [thumbnail,images] B"),
        // It changed before.
        (vec![first(), again(), attached("a.png", 1)], 3, "03 revised a - 2 - [thumbnail,images] B"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let events: Vec<(u64, Event)> = events.into_iter().map(|event| (1, event)).collect();
        let reader = catalog(folder.path(), &events, &[1]).await;
        assert_eq!(lines(&found(&reader, &since(second, &[]), 9, None).await), [expected]);
    }
}
