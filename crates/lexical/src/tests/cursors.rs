//! Pages that neither repeat nor skip results.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// Returns all results of a query as ordinal and score, page by page; `between` runs after every page.
fn all_pages(reader: &SearchReader, text: &str, limit: usize, mut between: impl FnMut()) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    let mut total = None;
    loop {
        let cursor = after.map(|text| text.parse().unwrap());
        let page = reader.search(&SearchRequest { text, category: None, limit, after: cursor }).unwrap();
        assert_eq!(*total.get_or_insert(page.total()), page.total(), "{text}");
        let hits: Vec<(u64, u32)> =
            ordinals(&page).into_iter().zip(page.hits().map(|hit| hit.score.to_bits())).collect();
        assert!(hits.len() == limit || page.next_cursor().is_none());
        all.extend(hits);
        between();
        after = page.next_cursor().map(|cursor| cursor.to_string());
        if after.is_none() {
            assert_eq!(all.len() as u64, page.total(), "{text}");
            return all;
        }
    }
}

#[test]
fn pages_add_up_to_the_whole_ranking() {
    let mut random = Random(21);
    let fixture = Fixture::of(&random_projects(500, 21));
    for _ in 0..150 {
        let text = random_query(&mut random);
        let whole = all_pages(&fixture.reader, &text, 50, || {});
        let limit = 1 + random.below(17);
        assert_eq!(all_pages(&fixture.reader, &text, limit, || {}), whole, "{text:?} by {limit}");
        let in_order = whole.windows(2).all(|pair| {
            let score = |hit: (u64, u32)| f32::from_bits(hit.1);
            score(pair[0]) >= score(pair[1]) && score(pair[1]) > 0.0 && score(pair[0]).is_finite()
        });
        assert!(in_order, "{text:?}: {whole:?}");
    }
}

/// Edits or removes a random project, and adds it to `touched`.
fn edit(fixture: &mut Fixture, projects: &mut [Project], random: &mut Random, touched: &mut BTreeSet<u64>) {
    let ordinal = random.below(projects.len());
    let project = &mut projects[ordinal];
    touched.insert(project.ordinal);
    match random.below(5) {
        0 => return fixture.writer.remove(&project.id()),
        1 => project.name.push_str(" stone stone house"),
        2 => project.name = "Something quite other".to_owned(),
        3 => project.intro = Some("stone ".repeat(40)),
        _ => *project = random_project(project.ordinal, random),
    }
    upsert(&mut fixture.writer, project);
}

/// Reads all pages of a random query, with edits between them, each from one of two readers. Returns whether the last page was
/// reached; `false` if a cursor was refused. An error names the results that were lost, repeated or not expected.
fn read_pages_during_edits(seed: u64) -> Result<bool, String> {
    let mut random = Random(seed);
    let mut projects = random_projects(200 + random.below(300) as u64, seed);
    let mut fixture = Fixture::of(&projects);
    let other = SearchReader::open(fixture.folder.path()).unwrap();
    let (text, limit) = (random_query(&mut random), 3 + random.below(30));
    let category = Some(*random.pick(&CATEGORIES)).filter(|_| random.below(4) == 0);
    let (mut touched, mut seen) = (BTreeSet::new(), BTreeMap::<u64, u32>::new());
    let (mut expected, mut after) = (BTreeSet::new(), None);
    loop {
        let request = SearchRequest { text: &text, category, limit: MAX_PAGE_SIZE, after };
        if after.is_none() {
            let mut whole = request;
            loop {
                let page = fixture.reader.search(&whole).unwrap();
                expected.extend(ordinals(&page));
                whole.after = page.next_cursor();
                if whole.after.is_none() {
                    break;
                }
            }
        }
        let reader = if random.below(2) == 0 { &fixture.reader } else { &other };
        let page = match reader.search(&SearchRequest { limit, ..request }) {
            Ok(page) => page,
            // Refused, so nothing was lost without notice.
            Err(SearchError::InvalidCursor(_)) => return Ok(false),
            Err(error) => return Err(error.to_string()),
        };
        ordinals(&page).into_iter().for_each(|ordinal| *seen.entry(ordinal).or_default() += 1);
        after = page.next_cursor().map(|cursor| cursor.to_string().parse().unwrap());
        if after.is_none() {
            break;
        }
        for round in 0..random.below(3) {
            // The last result of the page is edited most often, since the cursor names its rank.
            match ordinals(&page).last() {
                Some(last) if random.below(2) == 0 => {
                    let place = *last as usize;
                    edit(&mut fixture, &mut projects[place..=place], &mut random, &mut touched);
                }
                _ => edit(&mut fixture, &mut projects, &mut random, &mut touched),
            }
            fixture.commit(&format!("{round} {}", seen.len()));
        }
        other.refresh().unwrap();
    }
    let lost: Vec<&u64> = expected.iter().filter(|o| !touched.contains(o) && !seen.contains_key(o)).collect();
    let repeated: Vec<&u64> =
        seen.iter().filter(|(o, times)| !touched.contains(o) && **times > 1).map(|(o, _)| o).collect();
    let unexpected: Vec<&u64> =
        seen.keys().filter(|o| !touched.contains(o) && !expected.contains(o)).collect();
    if lost.is_empty() && repeated.is_empty() && unexpected.is_empty() {
        return Ok(true);
    }
    Err(format!("{text:?} by {limit}: lost {lost:?}, repeated {repeated:?}, not expected {unexpected:?}"))
}

#[test]
fn every_unedited_project_is_on_one_page_whatever_is_edited_between_pages() {
    // Another seed in each run, so that runs add up; a failure prints it.
    let first = uuid::Uuid::new_v4().as_u64_pair().0;
    let read = |seed| read_pages_during_edits(seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let ended = (0..16).filter(|round| read(first.wrapping_add(*round))).count();
    assert!(ended > 6, "seeds from {first}: only {ended} of 16 reached the last page");
}

/// 300 projects with the same score: the last of a page is edited, and the next pages come from a reader that never opened the
/// commit of the first page.
#[test]
fn editing_the_last_result_of_a_page_loses_nothing_on_another_node() {
    let edits: [fn(&mut Fixture, &Project); 4] = [
        |fixture, last| fixture.writer.remove(&last.id()),
        |fixture, last| upsert(&mut fixture.writer, &Project::named(last.ordinal, "Other")),
        |fixture, last| {
            let long = "A big house of many more words than it had before, far down the list";
            upsert(&mut fixture.writer, &Project::named(last.ordinal, long));
        },
        |fixture, last| {
            upsert(&mut fixture.writer, &Project::named(last.ordinal, "Big house big house big house"))
        },
    ];
    for edited in edits {
        let projects: Vec<Project> =
            (0..300).map(|ordinal| Project::named(ordinal, "A big house of some words")).collect();
        let mut fixture = Fixture::of(&projects);
        let page = fixture.reader.search(&SearchRequest { limit: 5, ..request("big house") }).unwrap();
        let first = ordinals(&page);
        let mut after = page.next_cursor();
        edited(&mut fixture, &projects[first[4] as usize]);
        fixture.commit("edited");
        for round in 0..40 {
            upsert(&mut fixture.writer, &Project::named(1_000 + round, "Unrelated"));
            fixture.commit(&format!("unrelated {round}"));
        }
        let other = SearchReader::open(fixture.folder.path()).unwrap();
        let mut rest = Vec::new();
        while let Some(cursor) = after {
            let page = other
                .search(&SearchRequest { after: Some(cursor), limit: 50, ..request("big house") })
                .unwrap();
            rest.extend(ordinals(&page));
            after = page.next_cursor();
        }
        rest.retain(|ordinal| *ordinal != first[4]);
        assert_eq!(rest, (5..300).collect::<Vec<u64>>());
    }
}

#[test]
fn a_cursor_is_refused_when_words_are_corrected_in_another_way() {
    let names: Vec<String> = (0..30).map(|number| format!("Pavilion {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut fixture = Fixture::named(&[&names[..], &["Tower"; 700]].concat());
    let page = fixture.reader.search(&SearchRequest { limit: 5, ..request("pavilon") }).unwrap();
    assert_eq!((page.total(), ordinals(&page).len()), (30, 5));
    let cursor = page.next_cursor();
    let next = |reader: &SearchReader| reader.search(&SearchRequest { after: cursor, ..request("pavilon") });
    fixture.add(&[Project::named(2_000, "Unrelated")]);
    fixture.commit("unrelated");
    assert_eq!(ordinals(&next(&fixture.reader).unwrap()).len(), 25);
    fixture.add(&[Project::named(2_001, "Pavillon")]);
    fixture.commit("as near");
    assert_eq!(ordinals(&next(&fixture.reader).unwrap()).len(), 25, "it finds less");
    fixture.add(&(2_002..2_040).map(|ordinal| Project::named(ordinal, "Pavillon")).collect::<Vec<_>>());
    fixture.commit("more");
    assert!(matches!(next(&fixture.reader), Err(SearchError::InvalidCursor(_))));
}

#[test]
fn pages_are_answered_during_a_refresh() {
    let mut fixture = Fixture::of(&random_projects(300, 24));
    let first = fixture.reader.search(&SearchRequest { limit: 5, ..request("stone") }).unwrap();
    let cursor = first.next_cursor().unwrap();
    fixture.add(&[Project::named(900, "Stone stone stone")]);
    fixture.commit("more");
    fixture.add(&[Project::named(901, "Stone stone")]);
    fixture.writer.commit("still more").unwrap();
    let gate = fixture.reader.block_refresh();
    let refreshing = fixture.reader.clone();
    let refresh = std::thread::spawn(move || refreshing.refresh().unwrap());
    while !fixture.reader.is_refreshing() {
        std::thread::yield_now();
    }
    let (sender, answer) = std::sync::mpsc::channel();
    let searching = fixture.reader.clone();
    std::thread::spawn(move || {
        let page = searching.search(&SearchRequest { after: Some(cursor), ..request("stone") }).unwrap();
        sender.send(ordinals(&page).len()).unwrap();
    });
    let rest = answer.recv_timeout(std::time::Duration::from_secs(120));
    assert!(rest.is_ok_and(|rest| rest > 5), "a page of an earlier commit waits for a refresh");
    drop(gate);
    assert!(refresh.join().unwrap());
}

#[test]
fn cursors_of_other_queries_and_garbled_ones_are_refused() {
    let fixture = Fixture::of(&random_projects(200, 24));
    let page = fixture.reader.search(&SearchRequest { limit: 2, ..request("stone house") }).unwrap();
    let cursor = page.next_cursor().unwrap();
    let search = |text, category| {
        fixture
            .reader
            .search(&SearchRequest { text, category, limit: 2, after: Some(cursor) })
            .map(|page| ordinals(&page))
    };
    assert!(search("STONE, house!", None).is_ok());
    for (text, category) in [("stone", None), ("house stone", None), ("stone house", Some("art"))] {
        assert!(matches!(search(text, category), Err(SearchError::InvalidCursor(_))), "{text}");
    }
    let written = cursor.to_string();
    assert!(
        written.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'),
        "{written}"
    );
    for garbled in [
        "",
        "x",
        "####",
        &written[1..],
        &format!("{written}A"),
        &written.to_lowercase(),
        &"A".repeat(40),
        &"A".repeat(9_000),
    ] {
        assert!(matches!(garbled.parse::<Cursor>(), Err(SearchError::InvalidCursor(_))), "{garbled}");
    }
    assert_eq!(written.parse::<Cursor>().unwrap(), cursor);
    // Version 1 had no checksum, and named a commit.
    let version_1 = "AQEAAAAAAAAAAT-AAAAAAAAAAAAAAAAAAAAAAAAB";
    assert!(matches!(version_1.parse::<Cursor>(), Err(SearchError::InvalidCursor(_))));
}
