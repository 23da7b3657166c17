//! What the whole catalog records, through selections, revisions, withdrawals and pictures.

use schemas::event::{PictureAttached, PictureErased};
use schemas::picture::{Picture, PictureFormat, PictureId};

use super::*;

fn of(record: Value) -> Record {
    serde_json::from_value(record).unwrap()
}

/// Returns the members that projects have, with their numbers.
fn members(counts: &CatalogCounts) -> Vec<(&'static str, u64)> {
    let some = counts.recorded.iter().filter(|(_, count)| *count > 0);
    some.map(|(member, count)| (member.as_str(), *count)).collect()
}

/// Returns the counts, once another reader of the same files has the same.
async fn counts(archive: &Archive) -> CatalogCounts {
    let counts = archive.reader.listing().catalog_counts().clone();
    assert_eq!(archive.reopened().await.listing().catalog_counts(), &counts);
    counts
}

fn house(year: Option<&str>, studio: &str) -> Record {
    of(json!({
        "name": "House", "category": "art", "year": year, "studio": studio, "city": "Ulm, Germany",
        "provenance": {"curated_by": "Ada"}, "taste": {"mood": "calm"},
    }))
}

#[tokio::test]
async fn an_empty_catalog_records_nothing() {
    let archive = Archive::new().await;
    let recorded = Member::ALL.map(|member| (member, 0));
    let expected = CatalogCounts { projects: 0, recorded, years: None, studios: 0, cities: 0, curators: 0 };
    assert_eq!(counts(&archive).await, expected);
}

#[tokio::test]
async fn the_pictures_of_the_only_project_count_as_they_are_stored() {
    let bare = of(json!({"name": "House", "category": "art"}));
    let mut archive = Archive::of(&[selected(1, "house", bare)]).await;
    let found = counts(&archive).await;
    assert_eq!((found.projects, found.years, members(&found)), (1, None, vec![]));
    let pictured =
        of(json!({"name": "House", "category": "art", "pictures": [{"source": "a.png", "alt": "A"}]}));
    archive.apply(&[revised(1, pictured)]).await;
    assert_eq!(members(&counts(&archive).await), [("alt", 1)], "the picture is not stored yet");
    let (id, format) = (PictureId([7; 32]), PictureFormat::Png);
    let picture = Picture { id, format, width: 9, height: 9, palette: Vec::new() };
    let attached = Event::PictureAttached(PictureAttached { source: "a.png".into(), picture });
    archive.apply(&[(1, attached)]).await;
    assert_eq!(members(&counts(&archive).await), [("thumbnail", 1), ("images", 1), ("alt", 1)]);
    archive.apply(&[(1, Event::PictureErased(PictureErased { picture: id }))]).await;
    assert_eq!(members(&counts(&archive).await), [("alt", 1)]);
    let elsewhere = of(json!({"name": "House", "category": "art", "thumbnail": "https://m.org/t.jpg"}));
    archive.apply(&[revised(1, elsewhere)]).await;
    assert_eq!(members(&counts(&archive).await), [("thumbnail", 1)]);
}

#[tokio::test]
async fn revised_and_withdrawn_projects_count_as_they_are_now() {
    let mut archive = Archive::of(&[
        selected(1, "a", house(Some("1998"), "Büro Łoś")),
        selected(2, "b", house(Some("0987"), "BURO LOS")),
        selected(3, "c", house(None, "Other")),
    ])
    .await;
    let found = counts(&archive).await;
    let all = |year| {
        let taste = [("taste", 3), ("mood", 3), ("curated_by", 3)];
        [vec![("studio", 3), ("city", 3), ("year", year)], taste.to_vec()].concat()
    };
    assert_eq!(members(&found), all(2));
    assert_eq!((found.projects, found.years), (3, Some((987, 1_998))));
    assert_eq!((found.studios, found.cities, found.curators), (2, 1, 1), "spellings are one studio");

    archive.apply(&[revised(3, house(Some("2021"), "Third"))]).await;
    let found = counts(&archive).await;
    assert_eq!((members(&found), found.years, found.studios), (all(3), Some((987, 2_021)), 2));

    archive.apply(&[withdrawn(2), withdrawn(3)]).await;
    let found = counts(&archive).await;
    assert_eq!((found.projects, found.years, found.studios), (1, Some((1_998, 1_998)), 1));
    assert_eq!((found.of_member(Member::Year), found.of_member(Member::Intro)), (1, 0));

    archive.apply(&[restored(2), withdrawn(1)]).await;
    assert_eq!(counts(&archive).await.years, Some((987, 987)));
    archive.apply(&[withdrawn(2)]).await;
    let found = counts(&archive).await;
    assert_eq!((found.projects, found.years, found.studios, members(&found)), (0, None, 0, vec![]));
}

#[tokio::test]
async fn a_commit_is_counted_once() {
    let mut archive = Archive::of(&[selected(1, "a", house(None, "A"))]).await;
    let (first, second) = (archive.reader.listing(), archive.reader.listing());
    assert!(std::ptr::eq(first.catalog_counts(), second.catalog_counts()));
    archive.apply(&[selected(2, "b", house(None, "B"))]).await;
    let later = archive.reader.listing();
    assert_eq!(
        (later.catalog_counts().studios, first.catalog_counts().studios),
        (2, 1),
        "each as of its moment"
    );
}
