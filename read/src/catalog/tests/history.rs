//! The content of revisions after later events.

use schemas::event::{PictureAttached, PictureErased};
use schemas::ids::Revision;
use schemas::picture::{Picture, PictureFormat, PictureId};

use super::*;

const NAMED: &str = r#"{"name":"P","category":"art","pictures":[{"source":"a.png"},{"source":"b.png"}]}"#;

fn record(json: &str) -> schemas::record::Record {
    serde_json::from_str(json).unwrap()
}

fn attached(source: &str, byte: u8) -> Event {
    let picture = Picture {
        id: PictureId([byte; 32]),
        format: PictureFormat::Png,
        width: 320,
        height: 200,
        palette: vec![],
    };
    Event::PictureAttached(PictureAttached { source: source.into(), picture })
}

/// Returns the slug, the time and the first bytes of the pictures that a revision shows.
async fn shown(reader: &CatalogReader, slug: &str, revision: u32) -> String {
    let history = reader.history(slug).await.unwrap().unwrap();
    let text = reader.revision(&history, Revision(revision)).await.unwrap().unwrap();
    let text = String::from_utf8(text.to_vec()).unwrap().replace('\u{1}', "");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["revision"], revision);
    assert_eq!(answer["citation_url"], format!("/cite/{}/{revision}", answer["slug"].as_str().unwrap()));
    let images = answer["images"].as_array().unwrap().iter();
    let images: Vec<&str> = images.map(|image| &image["url"].as_str().unwrap()[7..9]).collect();
    format!(
        "{} {} {}",
        answer["slug"].as_str().unwrap(),
        answer["updated_at"].as_str().unwrap(),
        images.join(",")
    )
}

#[tokio::test]
async fn a_revision_keeps_its_slug_its_time_and_its_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let first = Event::ProjectSelected(ProjectSelected {
        slug: "p".parse().unwrap(),
        record: record(NAMED),
        id: None,
    });
    let again = Event::ProjectRevised(ProjectRevised { record: record(NAMED) });
    let events = vec![
        (1, first),
        (1, attached("a.png", 0x11)),
        (1, again.clone()),
        (1, attached("a.png", 0x22)),
        (1, renamed("q")),
        (1, attached("a.png", 0x33)),
        (1, again),
        (1, attached("b.png", 0x44)),
        (1, withdrawn()),
    ];
    let reader = catalog(folder.path(), &events, &[3, 5]).await;
    let history = reader.history("p").await.unwrap().unwrap();
    assert_eq!(reader.history("q").await.unwrap().unwrap(), history);
    assert_eq!(reader.history("nothing").await.unwrap(), None);
    assert_eq!(history.slug, "q");
    let at = |second: u32| format!("2026-11-20T08:00:{second:02}Z").parse().unwrap();
    let reason = "The owners asked for it.".into();
    assert_eq!(history.withdrawn, Some(Withdrawal { reason, at: at(9) }));
    let recorded = |revision, slug: &str, second| RecordedRevision {
        revision: Revision(revision),
        slug: slug.into(),
        at: at(second),
    };
    let (first, newest) = (recorded(1, "p", 1), recorded(3, "q", 7));
    assert_eq!(history.revisions(), [first.clone(), recorded(2, "p", 3), newest.clone()]);
    assert_eq!((history.first(), history.newest()), (&first, &newest));
    for (second, revision) in
        [(0, None), (1, Some(1)), (2, Some(1)), (3, Some(2)), (6, Some(2)), (59, Some(3))]
    {
        let found = history.as_of(at(second)).map(|recorded| recorded.revision.0);
        assert_eq!(found, revision, "{second}");
    }
    assert_eq!(history.find(Revision(4)), None);
    assert_eq!(reader.revision(&history, Revision(4)).await.unwrap(), None);
    assert_eq!(reader.revision(&history, Revision(0)).await.unwrap(), None);
    // A missing picture is shown once it is attached; one that was shown stays.
    assert_eq!(shown(&reader, "p", 1).await, "p 2026-11-20T08:00:01Z 11,44");
    assert_eq!(shown(&reader, "p", 2).await, "p 2026-11-20T08:00:03Z 11,44");
    assert_eq!(shown(&reader, "q", 3).await, "q 2026-11-20T08:00:07Z 33,44");
}

#[tokio::test]
async fn a_picture_of_the_same_command_belongs_to_the_revision() {
    let folder = tempfile::tempdir().unwrap();
    let id = project(1);
    let (one, two) = ("01890a5d-ac96-774b-bcce-b302099a8001", "01890a5d-ac96-774b-bcce-b302099a8002");
    let first = Event::ProjectSelected(ProjectSelected {
        slug: "p".parse().unwrap(),
        record: record(NAMED),
        id: None,
    });
    let revised = Event::ProjectRevised(ProjectRevised { record: record(NAMED) });
    let mut writer = CatalogWriter::open(folder.path()).await.unwrap();
    for (index, (command, event)) in
        [(one, first), (one, attached("a.png", 0x11)), (two, revised), (two, attached("a.png", 0x22))]
            .into_iter()
            .enumerate()
    {
        let mut recorded = recorded(index as u64 + 1, id, &event);
        recorded.causation = CommandId(command.parse().unwrap());
        writer.apply(&recorded, id, &event).unwrap();
    }
    writer.commit(Checkpoint::default()).await.unwrap();
    writer.close().await.unwrap();
    let reader = CatalogReader::open(folder.path()).await.unwrap();
    assert_eq!(shown(&reader, "p", 1).await, "p 2026-11-20T08:00:01Z 11");
    assert_eq!(shown(&reader, "p", 2).await, "p 2026-11-20T08:00:03Z 22");
}

#[tokio::test]
async fn an_erased_picture_is_shown_in_no_revision_and_not_replaced_in_former_ones() {
    let erased = |byte| Event::PictureErased(PictureErased { picture: PictureId([byte; 32]) });
    let first = Event::ProjectSelected(ProjectSelected {
        slug: "p".parse().unwrap(),
        record: record(NAMED),
        id: None,
    });
    let again = || Event::ProjectRevised(ProjectRevised { record: record(NAMED) });
    let events = vec![
        (1, first),
        (1, attached("a.png", 0x11)),
        (1, attached("b.png", 0x22)),
        (1, again()),
        (1, attached("a.png", 0x33)),
        (1, erased(0x11)),
        (1, erased(0x22)),
        (1, attached("b.png", 0x44)),
        (1, again()),
    ];
    let mut digests = Vec::new();
    for commits in [&[][..], &[5], &[2, 6, 7]] {
        let folder = tempfile::tempdir().unwrap();
        let reader = catalog(folder.path(), &events, commits).await;
        // The pictures of the first two were erased; 33 is shown only from the next revision on.
        assert_eq!(shown(&reader, "p", 1).await, "p 2026-11-20T08:00:01Z ");
        assert_eq!(shown(&reader, "p", 2).await, "p 2026-11-20T08:00:04Z ");
        assert_eq!(shown(&reader, "p", 3).await, "p 2026-11-20T08:00:09Z 33,44");
        digests.push(CatalogReader::digest(folder.path()).await.unwrap().1);
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]), "however the events were committed");
}

#[tokio::test]
async fn listed_projects_are_in_parts_that_never_change() {
    let folder = tempfile::tempdir().unwrap();
    let mut events: Vec<(u64, Event)> = (1..=7).map(|n| (n, selected(&format!("p{n}")))).collect();
    events.extend([3, 4].map(|n| (n, withdrawn())));
    events.push((1, renamed("moved")));
    let reader = catalog(folder.path(), &events, &[4]).await;
    let parts = reader.listed_parts(2).await.unwrap();
    assert_eq!(parts.iter().map(|part| part.number).collect::<Vec<_>>(), [0, 2, 3]);
    assert!(parts.iter().all(|part| part.updated_on == "2026-11-20"));
    // Parts are counted once per commit.
    let pool = sqlx::SqlitePool::connect_with(super::super::options(folder.path())).await.unwrap();
    sqlx::query("UPDATE projects SET updated_at = '2026-12-24' WHERE slug = 'p7'")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(reader.listed_parts(2).await.unwrap(), parts);
    assert_eq!(
        reader.listed_parts(9).await.unwrap()[0].updated_on,
        "2026-12-24",
        "another size is another count"
    );
    sqlx::query("UPDATE projects SET updated_at = '2026-11-20T08:00:07Z' WHERE slug = 'p7'")
        .execute(&pool)
        .await
        .unwrap();
    for (number, slugs) in
        [(0, vec!["moved", "p2"]), (1, vec![]), (2, vec!["p5", "p6"]), (3, vec!["p7"]), (u64::MAX, vec![])]
    {
        let part = reader.listed_part(2, number).await.unwrap();
        assert_eq!(part.iter().map(|listed| listed.slug.as_str()).collect::<Vec<_>>(), slugs, "{number}");
    }
    let part = reader.listed_part(2, 0).await.unwrap();
    assert_eq!(part[0].updated_at, "2026-11-20T08:00:10Z");
    let selected = reader.listed_records(&[7, 3, 1, 99]).await.unwrap();
    assert_eq!(selected.iter().map(|one| one.project).collect::<Vec<_>>(), [project(7), project(1)]);
    assert!(selected[0].record.starts_with(br#"{"slug":"p7""#));
    assert_eq!(reader.listed_records(&[]).await.unwrap(), []);
}
