//! Replays of random histories into the read models.

use std::path::Path;
use std::sync::Arc;

use projections::projection::Projection;
use projections::projection::search::SearchProjection;
use proptest::prelude::*;
use read::archive::ArchiveReader;
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::catalog::{CatalogReader, SlugResolution};
use read::checkpoint::Checkpoint;
use read::neighbours::NeighboursWriter;
use read::search::{SearchReader, SearchRequest};
use schemas::envelope::Recorded;
use schemas::ids::Position;
use schemas::versioned::Decoded;

use crate::history::{commands, execute};
use crate::model::{Model, name, slug};

/// Applies the log in batches that end at the cuts. Every event of a batch is delivered again after the commit, as to a
/// worker that was killed between commit and acknowledgement.
async fn replay<P: Projection>(folder: &Path, log: &[Recorded], cuts: &[usize]) -> (Checkpoint, [u8; 32]) {
    let mut start = 0;
    for end in cuts.iter().map(|cut| cut % (log.len() + 1)).chain([log.len()]) {
        // The model is reopened for each batch, so that no state is only in memory.
        let mut projection = P::open(folder).await.unwrap();
        let applied = projection.checkpoint().position;
        let end = end.max(start);
        let batch = log[..end].iter().filter(|event| event.position > applied).filter_map(|recorded| {
            let Decoded::Known(event) = recorded.decode().unwrap() else {
                panic!("{} is known", recorded.kind)
            };
            P::select(&Arc::new(recorded.clone()), &Arc::new(*event))
        });
        assert_eq!(projection.apply(batch.collect()).await.unwrap(), [], "nothing is refused");
        let checkpoint = Checkpoint { position: Position(end as u64), ..Checkpoint::default() };
        projection.commit(checkpoint).await.unwrap();
        start = end;
    }
    <P::Model as read::model::Model>::digest(folder).await.unwrap()
}

async fn agrees_with_the_model(catalog: &Path, search: &Path, archive: &Path, model: &Model) {
    let reader = CatalogReader::open(catalog).await.unwrap();
    for (number, index) in &model.slugs {
        let project = &model.projects[*index];
        match reader.resolve(&slug(*number)).await.unwrap() {
            SlugResolution::Gone { reason, .. } => assert!(project.withdrawn && reason == "sold"),
            SlugResolution::Redirect(to) => {
                assert!(!project.withdrawn && to == slug(project.slug) && project.slug != *number)
            }
            SlugResolution::Found(answer) => {
                let text = String::from_utf8(answer.to_vec()).unwrap().replace('\u{1}', "");
                let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(
                    (answer["name"].as_str().unwrap(), answer["revision"].as_u64().unwrap(), project.slug),
                    (name(project.name).as_str(), u64::from(project.revision), *number)
                );
            }
            SlugResolution::NotFound => panic!("{} belongs to a project", slug(*number)),
        }
    }
    let found = SearchReader::open(search).unwrap();
    let request = SearchRequest { text: "name", category: None, limit: 50, after: None };
    let listed = model.projects.iter().filter(|project| !project.withdrawn).count();
    assert_eq!(found.search(&request).unwrap().total(), listed as u64, "search finds what is listed");
    let archive = ArchiveReader::open(archive).await.unwrap();
    assert_eq!(archive.listing().listed(None), listed as u64, "the archive holds what is listed");
    archive.close().await;
    reader.close().await;
}

/// Checks that every revision reads as in the model, now and when the log was shorter.
async fn citations_never_change(full: &Path, part: &Path, model: &Model) {
    let (now, earlier) = (CatalogReader::open(full).await.unwrap(), CatalogReader::open(part).await.unwrap());
    for (number, index) in &model.slugs {
        let project = &model.projects[*index];
        let history = now.history(&slug(*number)).await.unwrap().unwrap();
        assert_eq!(
            (history.slug.clone(), history.withdrawn.is_some()),
            (slug(project.slug), project.withdrawn)
        );
        assert_eq!(history.revisions().len(), project.cited.len());
        let before = earlier.history(&slug(*number)).await.unwrap();
        for (recorded, (old_slug, old_name)) in history.revisions().iter().zip(&project.cited) {
            let cited = now.revision(&history, recorded.revision).await.unwrap().unwrap();
            let text = String::from_utf8(cited.to_vec()).unwrap().replace('\u{1}', "");
            let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(answer["revision"], recorded.revision.0);
            assert_eq!(
                (&answer["slug"], &answer["name"]),
                (&slug(*old_slug).into(), &name(*old_name).into())
            );
            if let Some(before) = before.as_ref().filter(|before| before.find(recorded.revision).is_some()) {
                assert_eq!(earlier.revision(before, recorded.revision).await.unwrap(), Some(cited));
            }
        }
    }
    now.close().await;
    earlier.close().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_history_replays_to_the_same_state(commands in commands(), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let mut model = Model::default();
            let log = execute(&commands, &mut model).await;
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| {
                let path = folder.path().join(name);
                std::fs::create_dir(&path).unwrap();
                path
            };
            let (full, cut) = (at("catalog"), at("catalog-cut"));
            let expected = replay::<CatalogWriter>(&full, &log, &[]).await;
            assert_eq!(replay::<CatalogWriter>(&cut, &log, &cuts).await, expected, "catalog, cuts {cuts:?}");
            let part = at("catalog-part");
            replay::<CatalogWriter>(&part, &log[..log.len() / 2], &[]).await;
            citations_never_change(&full, &part, &model).await;
            let (search, search_cut) = (at("search"), at("search-cut"));
            let expected = replay::<SearchProjection>(&search, &log, &[]).await;
            assert_eq!(replay::<SearchProjection>(&search_cut, &log, &cuts).await, expected, "search, cuts {cuts:?}");
            let (near, near_cut) = (at("neighbours"), at("neighbours-cut"));
            let expected = replay::<NeighboursWriter>(&near, &log, &[]).await;
            assert_eq!(replay::<NeighboursWriter>(&near_cut, &log, &cuts).await, expected, "neighbours, cuts {cuts:?}");
            let (archive, archive_cut) = (at("archive"), at("archive-cut"));
            let expected = replay::<ArchiveWriter>(&archive, &log, &[]).await;
            assert_eq!(replay::<ArchiveWriter>(&archive_cut, &log, &cuts).await, expected, "archive, cuts {cuts:?}");
            agrees_with_the_model(&full, &search_cut, &archive_cut, &model).await;
        });
    }
}
