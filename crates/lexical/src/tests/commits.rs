//! Commits, restarts, merges: what is visible when, and that the result does not depend on how the index was built.

use super::*;

#[test]
fn documents_and_payload_become_visible_together() {
    let mut fixture = Fixture::empty();
    assert_eq!((fixture.reader.documents(), fixture.reader.payload()), (0, String::new()));
    fixture.add(&[Project::named(1, "One")]);
    assert!(!fixture.reader.refresh().unwrap());
    fixture.commit("at 1");
    assert_eq!((fixture.reader.documents(), fixture.reader.payload().as_str()), (1, "at 1"));
    assert_eq!(fixture.writer.payload(), "at 1");
    assert!(!fixture.reader.refresh().unwrap(), "nothing new");
    fixture.commit("at 2");
    assert_eq!((fixture.reader.documents(), fixture.reader.payload().as_str()), (1, "at 2"));
    fixture.writer.force_merge().unwrap();
    fixture.reader.refresh().unwrap();
    assert_eq!(fixture.reader.payload(), "at 2");
}

#[test]
fn uncommitted_changes_are_lost_at_a_restart() {
    let mut fixture = Fixture::of(&[Project::named(1, "One")]);
    fixture.add(&[Project::named(2, "Two")]);
    fixture.writer.remove(&Project::named(1, "One").id());
    let Fixture { writer, folder, reader } = fixture;
    assert!(matches!(SearchWriter::open_or_create(folder.path()), Err(SearchError::Busy)));
    drop(writer);
    let mut writer = SearchWriter::open_or_create(folder.path()).unwrap();
    assert_eq!(writer.payload(), "all");
    reader.refresh().unwrap();
    assert_eq!((reader.documents(), reader.payload().as_str()), (1, "all"));
    upsert(&mut writer, &Project::named(3, "Three"));
    writer.commit("later").unwrap();
    assert!(reader.refresh().unwrap());
    assert_eq!((reader.documents(), reader.payload().as_str()), (2, "later"));
}

#[test]
fn a_replaced_document_is_not_found_any_more() {
    let mut fixture = Fixture::of(&[Project::named(1, "Alpha unique"), Project::named(2, "Beta")]);
    fixture.add(&[Project::named(1, "Gamma"), Project::named(1, "Delta")]);
    fixture.commit("second");
    assert_eq!(fixture.find("delta"), [1]);
    assert_eq!(fixture.find("unique"), Vec::<u64>::new());
    assert_eq!(fixture.find("gamma"), Vec::<u64>::new());
    assert_eq!(fixture.reader.documents(), 2);
}

/// Returns the name of the row file of the largest segment.
fn largest_segment(fixture: &Fixture) -> String {
    let files = std::fs::read_dir(fixture.folder.path()).unwrap().map(|entry| entry.unwrap());
    let rows = files.filter(|file| file.file_name().to_string_lossy().ends_with(".rows"));
    // A merge in the background may remove a small one meanwhile.
    let largest = rows.max_by_key(|file| file.metadata().map_or(0, |metadata| metadata.len()));
    largest.unwrap().file_name().into_string().unwrap()
}

#[tokio::test]
async fn single_edits_do_not_rewrite_the_index_until_a_tenth_has_changed() {
    let project = |ordinal| Project::named(ordinal, "Stone house");
    let mut fixture = Fixture::of(&(0..1_000).map(project).collect::<Vec<_>>());
    fixture.writer.force_merge().unwrap();
    let largest = largest_segment(&fixture);
    let mut rewritten = None;
    for edit in 0..60 {
        fixture.add(&[project(edit)]);
        fixture.commit("edit");
        fixture.writer.compact().await.unwrap();
        if rewritten.is_none() && largest_segment(&fixture) != largest {
            rewritten = Some(edit + 1);
        }
    }
    // Of 1,053 documents, 53 are outside the largest segment and 53 are deleted in it; its file may stay until the next commit.
    assert!(matches!(rewritten, Some(53 | 54)), "{rewritten:?}");
    fixture.reader.refresh().unwrap();
    assert_eq!(fixture.reader.documents(), 1_000);
}

/// Merges all segments into one and lets the reader open it. The reader may have it already: a commit can begin a merge in the
/// background that ends at any time.
fn merge(fixture: &mut Fixture) {
    fixture.writer.force_merge().unwrap();
    fixture.reader.refresh().unwrap();
    assert!(!fixture.reader.refresh().unwrap(), "nothing is newer than the merged segment");
}

/// Returns how many documents each segment of the index has, deleted ones too.
fn segment_sizes(fixture: &Fixture) -> Vec<u32> {
    let index = tantivy::Index::open_in_dir(fixture.folder.path()).unwrap();
    index.searchable_segment_metas().unwrap().iter().map(|segment| segment.max_doc()).collect()
}

#[test]
fn a_merge_that_drops_most_documents_keeps_counts_and_scores() {
    let project = |ordinal| {
        let intro = Some("stone tower with a garden of glass ".repeat(20));
        Project { intro, ..Project::named(ordinal, "Stone") }
    };
    let all: Vec<Project> = (0..10).map(project).collect();
    let mut fixture = Fixture::of(&all);
    all[1..].iter().for_each(|gone| fixture.writer.remove(&gone.id()));
    let short = Project::named(20, "Stone house");
    fixture.add(std::slice::from_ref(&short));
    fixture.commit("one long and one short remain");
    merge(&mut fixture);
    assert_eq!(segment_sizes(&fixture), [2], "the deleted ones are dropped");
    let fresh = Fixture::of(&[all[0].clone(), short]);
    assert_eq!((fixture.reader.documents(), fixture.find("stone")), (2, fresh.find("stone")));
    assert_eq!(fixture.scores("stone"), fresh.scores("stone"));
}

#[test]
fn withdrawn_projects_do_not_change_scores() {
    let listed: Vec<Project> = (0..6)
        .map(|ordinal| Project::named(ordinal, ["Stone house", "Glass house"][ordinal as usize % 2]))
        .collect();
    let mut fixture = Fixture::of(&listed);
    for ordinal in 6..200 {
        let withdrawn = Project::named(ordinal, "Stone tower");
        let (id, summary) = (withdrawn.id(), withdrawn.summary());
        let mut document = document(&withdrawn, &id, &summary);
        fixture.writer.upsert(&document).unwrap();
        document.listed = false;
        fixture.writer.upsert(&document).unwrap();
    }
    fixture.commit("withdrawn");
    let fresh = Fixture::of(&listed);
    for text in ["stone", "house", "stone house"] {
        assert_eq!(
            (fixture.find(text), fixture.scores(text)),
            (fresh.find(text), fresh.scores(text)),
            "{text}"
        );
    }
    assert_eq!(fixture.reader.documents(), 6);
    fixture.writer.force_merge().unwrap();
    fixture.reader.refresh().unwrap();
    assert_eq!((fixture.reader.documents(), fixture.scores("stone")), (6, fresh.scores("stone")));
}

/// Builds the same content in another order, with other commits, with replaced and deleted documents, with a merge.
#[test]
fn equal_content_has_equal_digests_and_equal_scores() {
    let seed = 31;
    let projects = random_projects(250, seed);
    let direct = Fixture::of(&projects);
    let mut random = Random(seed);
    let mut detoured = Fixture::empty();
    let mut order: Vec<&Project> = projects.iter().collect();
    order.reverse();
    for (round, some) in order.chunks(23).enumerate() {
        for project in some {
            if random.below(3) == 0 {
                upsert(&mut detoured.writer, &random_project(project.ordinal, &mut random));
                if random.below(6) == 0 {
                    detoured.commit(&format!("detour {round} {}", project.ordinal));
                }
            }
            upsert(&mut detoured.writer, project);
        }
        upsert(&mut detoured.writer, &Project::named(9_000, "Soon gone"));
        detoured.commit(&round.to_string());
    }
    assert_ne!(direct.reader.digest().unwrap(), detoured.reader.digest().unwrap());
    detoured.writer.remove(&Project::named(9_000, "Soon gone").id());
    detoured.commit("all");
    let same = |detoured: &Fixture| {
        assert_eq!(direct.reader.digest().unwrap(), detoured.reader.digest().unwrap());
        assert_eq!(detoured.writer.digest().unwrap(), detoured.reader.digest().unwrap());
        let fresh = SearchReader::open(detoured.folder.path()).unwrap();
        let mut random = Random(seed);
        for _ in 0..200 {
            let text = random_query(&mut random);
            let answer = |reader: &SearchReader| {
                let page = reader.search(&request(&text)).unwrap();
                let scores: Vec<u32> = page.hits().map(|hit| hit.score.to_bits()).collect();
                (ordinals(&page), scores, page.total())
            };
            assert_eq!(answer(&direct.reader), answer(&detoured.reader), "{text:?}");
            assert_eq!(answer(&fresh), answer(&detoured.reader), "{text:?}, opened again");
        }
    };
    same(&detoured);
    merge(&mut detoured);
    assert_eq!(segment_sizes(&detoured).len(), 1);
    same(&detoured);

    let mut other = projects;
    other[7].published = Some(12_345);
    assert_ne!(direct.reader.digest().unwrap(), Fixture::of(&other).reader.digest().unwrap());
}

#[test]
fn many_small_commits_leave_few_segments() {
    let mut fixture = Fixture::empty();
    for ordinal in 0..60 {
        fixture.add(&[Project::named(ordinal, "Small")]);
        fixture.commit(&ordinal.to_string());
    }
    let Fixture { writer, reader, folder } = fixture;
    writer.close().unwrap();
    reader.refresh().unwrap();
    assert_eq!(reader.documents(), 60);
    let segments = std::fs::read_dir(folder.path()).unwrap();
    let segments =
        segments.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "rows"));
    assert!(segments.count() <= 12);
}

#[test]
fn an_index_with_other_fields_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(SearchReader::open(folder.path()).is_err());
    let mut builder = tantivy::schema::Schema::builder();
    builder.add_text_field("other", tantivy::schema::STRING);
    tantivy::Index::create_in_dir(folder.path(), builder.build()).unwrap();
    assert!(matches!(SearchReader::open(folder.path()), Err(SearchError::Corrupt(_))));
    assert!(matches!(SearchWriter::open_or_create(folder.path()), Err(SearchError::Corrupt(_))));
}

#[test]
fn a_reader_can_refresh_while_the_writer_merges_and_removes_files() {
    let mut fixture = Fixture::of(&random_projects(40, 51));
    let reader = fixture.reader.clone();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let follower = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                seen += usize::from(reader.refresh().unwrap());
                assert_eq!(reader.search(&request("twin")).unwrap().total(), reader.documents() - 40);
            }
            seen
        });
        for ordinal in 100..160 {
            fixture.add(&[Project::named(ordinal, "Twin")]);
            fixture.writer.commit(&ordinal.to_string()).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(follower.join().unwrap() > 0);
    });
    reader.refresh().unwrap();
    assert_eq!((reader.documents(), reader.payload().as_str()), (100, "159"));
}
