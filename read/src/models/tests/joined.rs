//! Lists that join the archive and the search index are consistent.

use schemas::event::{ProjectSelected, ProjectWithdrawn};
use schemas::ids::ProjectId;
use schemas::taste::Dimension;

use super::*;
use archive::{SuggestionKind, TasteRequest};
use model::search::SearchDocument;

fn id(number: u64) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

fn at(position: u64) -> Checkpoint {
    Checkpoint { position: Position(position), ..Checkpoint::default() }
}

fn current(folder: &Path, model: ModelKind) -> std::path::PathBuf {
    generations(folder, model).current().unwrap().unwrap().path
}

/// Applies an event of a project to the archive.
async fn archive(folder: &Path, number: u64, event: Event, position: u64) {
    let mut writer = ArchiveWriter::open(&current(folder, ModelKind::Archive)).await.unwrap();
    writer.load([id(number)].into_iter()).await.unwrap();
    writer.apply(id(number), &event, Position(position), clock().now()).unwrap();
    writer.commit(at(position)).await.unwrap();
    writer.close().await.unwrap();
}

/// Selects a project whose number is the position of its selection.
async fn select_in_archive(folder: &Path, number: u64) {
    let record = serde_json::json!({"name": "House", "category": "art", "taste": {"mood": "calm"}});
    let selected = ProjectSelected {
        slug: format!("house-{number}").parse().unwrap(),
        record: serde_json::from_value(record).unwrap(),
        id: None,
    };
    archive(folder, number, Event::ProjectSelected(selected), number).await;
}

async fn withdraw_from_archive(folder: &Path, number: u64, position: u64) {
    let withdrawn = ProjectWithdrawn { reason: "sold".into() };
    archive(folder, number, Event::ProjectWithdrawn(withdrawn), position).await;
}

/// Adds the project to the search index, listed or withdrawn.
fn index(folder: &Path, number: u64, listed: bool, position: u64) {
    let mut writer = SearchWriter::open_or_create(&current(folder, ModelKind::Search)).unwrap();
    let document = SearchDocument {
        project: &format!("{number:026}"),
        ordinal: number,
        slug: &format!("house-{number}"),
        name: "House",
        studio: None,
        city: None,
        category: "art",
        intro: None,
        published: None,
        summary: &format!("{{\"slug\":\"house-{number}\",\"name\":\"House\"").into_bytes(),
        state: b"",
        listed,
    };
    writer.upsert(&document).unwrap();
    writer.commit(&serde_json::to_string(&at(position)).unwrap()).unwrap();
}

/// Refreshes and returns the listed projects in the order of selection. Asserts that the lists by day and by taste agree, that totals
/// are right and that each project has a summary.
async fn listed(models: &ReadModels) -> Vec<u64> {
    models.refresh().await.unwrap();
    let now = models.archive().unwrap().reader.listing();
    let page = now.newest(None, 50, None).unwrap();
    let request = TasteRequest { limit: 50, ..TasteRequest::default() }.with(Dimension::Mood, "calm");
    let calm = now.by_taste(&request).unwrap();
    let mut by_day = page.ordinals.clone();
    by_day.sort_unstable();
    let mut by_taste: Vec<u64> = calm.hits.iter().map(|hit| hit.ordinal).collect();
    by_taste.sort_unstable();
    assert_eq!((&by_taste, calm.total), (&by_day, page.total));
    assert_eq!((page.ordinals.len() as u64, now.listed(None)), (page.total, page.total));
    assert!(page.ordinals.iter().all(|ordinal| now.summary_of(*ordinal).is_some()), "{page:?}");
    by_day
}

async fn beginning() -> (TempDir, ReadModels) {
    let folder = tempfile::tempdir().unwrap();
    for model in [ModelKind::Search, ModelKind::Archive] {
        create(folder.path(), model).await;
    }
    select_in_archive(folder.path(), 1).await;
    index(folder.path(), 1, true, 1);
    let models = ReadModels::new(folder.path(), clock());
    assert_eq!(listed(&models).await, [1]);
    (folder, models)
}

#[tokio::test]
async fn a_project_that_is_not_in_the_search_index_yet_is_in_no_list_and_no_total() {
    let (folder, models) = beginning().await;
    let folder = folder.path();
    select_in_archive(folder, 2).await;
    assert_eq!(listed(&models).await, [1]);
    select_in_archive(folder, 3).await;
    assert_eq!(listed(&models).await, [1]);
    assert_eq!(listed(&ReadModels::new(folder, clock())).await, [1], "a node that starts at this point");
    index(folder, 2, true, 2);
    assert_eq!(listed(&models).await, [1, 2]);
    index(folder, 3, true, 3);
    assert_eq!(listed(&models).await, [1, 2, 3]);
    // Withdrawn and restored before the search index applies either event.
    withdraw_from_archive(folder, 2, 4).await;
    assert_eq!(listed(&models).await, [1, 3]);
    archive(folder, 2, Event::ProjectRestored(schemas::event::ProjectRestored {}), 5).await;
    assert_eq!(listed(&models).await, [1, 2, 3]);
    index(folder, 2, false, 4);
    index(folder, 2, true, 5);
    assert_eq!(listed(&models).await, [1, 2, 3]);
}

#[tokio::test]
async fn a_list_waits_for_the_archive_if_the_search_index_is_ahead() {
    let (folder, models) = beginning().await;
    let folder = folder.path();
    for number in [2, 3] {
        select_in_archive(folder, number).await;
        index(folder, number, true, number);
    }
    assert_eq!(listed(&models).await, [1, 2, 3]);
    index(folder, 2, false, 4);
    assert_eq!(listed(&models).await, [1, 2, 3]);
    index(folder, 3, false, 5);
    assert_eq!(listed(&models).await, [1, 2, 3]);
    withdraw_from_archive(folder, 2, 4).await;
    assert_eq!(listed(&models).await, [1, 3], "as of the fourth event, though the index is at the fifth");
    withdraw_from_archive(folder, 3, 5).await;
    assert_eq!(listed(&models).await, [1]);
}

#[tokio::test]
async fn only_listed_projects_are_suggested() {
    let (folder, models) = beginning().await;
    let folder = folder.path();
    let suggested = || {
        let found = models.archive().unwrap().reader.listing().suggest("HOU", 8);
        found.into_iter().map(|one| (one.text, one.kind)).collect::<Vec<_>>()
    };
    let house = |slug: &str| ("House".to_owned(), SuggestionKind::Project { slug: slug.to_owned() });
    index(folder, 2, true, 2);
    models.refresh().await.unwrap();
    assert_eq!(suggested(), [house("house-1")], "the archive does not have the second project yet");
    select_in_archive(folder, 2).await;
    assert_eq!(listed(&models).await, [1, 2]);
    assert_eq!(suggested(), [house("house-1"), house("house-2")]);
    withdraw_from_archive(folder, 1, 3).await;
    models.refresh().await.unwrap();
    assert_eq!(suggested(), [house("house-2")], "the search index still has the first project");
    index(folder, 1, false, 3);
    models.refresh().await.unwrap();
    assert_eq!(suggested(), [house("house-2")]);
}
