//! Pages that neither repeat nor skip.

use super::*;

/// All results of a query, page by page; `between` runs after every page.
fn walk(reader: &SearchReader, text: &str, limit: usize, mut between: impl FnMut()) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    let mut total = None;
    loop {
        let cursor = after.map(|text| text.parse().unwrap());
        let page = reader.search(&SearchRequest { text, category: None, limit, after: cursor }).unwrap();
        assert_eq!(*total.get_or_insert(page.total()), page.total(), "{text}");
        let hits: Vec<(u64, u32)> =
            ordinals(&page).into_iter().zip(page.hits().map(|hit| hit.score.to_bits())).collect();
        assert!(hits.len() == limit || page.next().is_none());
        all.extend(hits);
        between();
        after = page.next().map(|cursor| cursor.to_string());
        if after.is_none() {
            assert_eq!(all.len() as u64, page.total(), "{text}");
            return all;
        }
    }
}

#[test]
fn pages_add_up_to_the_whole_ranking() {
    let mut dice = Dice(21);
    let fixture = Fixture::of(&random_projects(500, 21));
    for _ in 0..150 {
        let text = random_query(&mut dice);
        let whole = walk(&fixture.reader, &text, 50, || {});
        let limit = 1 + dice.roll(17);
        assert_eq!(walk(&fixture.reader, &text, limit, || {}), whole, "{text:?} by {limit}");
        let in_order = whole.windows(2).all(|pair| {
            let score = |hit: (u64, u32)| f32::from_bits(hit.1);
            score(pair[0]) >= score(pair[1]) && score(pair[1]) > 0.0 && score(pair[0]).is_finite()
        });
        assert!(in_order, "{text:?}: {whole:?}");
    }
}

#[test]
fn commits_in_between_do_not_disturb_a_walk() {
    let mut dice = Dice(22);
    let mut fixture = Fixture::of(&random_projects(300, 22));
    for _ in 0..12 {
        let text = random_query(&mut dice);
        let whole = walk(&fixture.reader, &text, 50, || {});
        let reader = fixture.reader.clone();
        let mut edits = 0;
        let paged = walk(&reader, &text, 7, || {
            edits += 1;
            let project = random_project(dice.roll(300) as u64, &mut dice);
            fixture.add(&[project]);
            fixture.writer.remove(&Project::named(dice.roll(300) as u64, "gone").id());
            fixture.commit(&format!("edit {edits}"));
        });
        assert_eq!(paged, whole, "{text:?}");
    }
}

#[test]
fn pages_are_answered_while_a_newer_commit_is_opened() {
    let mut fixture = Fixture::of(&random_projects(300, 24));
    let first = fixture.reader.search(&SearchRequest { limit: 5, ..request("stone") }).unwrap();
    let cursor = first.next().unwrap();
    fixture.add(&[Project::named(900, "Stone stone stone")]);
    fixture.commit("more");
    fixture.add(&[Project::named(901, "Stone stone")]);
    fixture.writer.commit("still more").unwrap();
    let gate = fixture.reader.close_gate();
    let refreshing = fixture.reader.clone();
    let refresh = std::thread::spawn(move || refreshing.refresh().unwrap());
    while !fixture.reader.is_refreshing() {
        std::thread::yield_now();
    }
    let (answered, answer) = std::sync::mpsc::channel();
    let asked = fixture.reader.clone();
    std::thread::spawn(move || {
        let page = asked.search(&SearchRequest { after: Some(cursor), ..request("stone") }).unwrap();
        answered.send(ordinals(&page).len()).unwrap();
    });
    let rest = answer.recv_timeout(std::time::Duration::from_secs(20));
    assert!(rest.is_ok_and(|rest| rest > 5), "a page of an earlier commit waits for a refresh");
    drop(gate);
    assert!(refresh.join().unwrap());
}

#[test]
fn a_forgotten_commit_is_continued_in_the_current_one() {
    let mut fixture = Fixture::of(&random_projects(300, 23));
    let first = fixture.reader.search(&SearchRequest { limit: 5, ..request("stone") }).unwrap();
    let cursor = first.next().unwrap();
    fixture.add(&[Project::named(900, "Stone stone stone")]);
    fixture.commit("more");
    // Another process never held the commit on which the cursor was made.
    let other = SearchReader::open(fixture.folder.path()).unwrap();
    let rest = other.search(&SearchRequest { after: Some(cursor), ..request("stone") }).unwrap();
    let first = ordinals(&first);
    let rest = ordinals(&rest);
    assert!(rest.len() > 5 && rest.iter().all(|ordinal| !first.contains(ordinal)), "{first:?} {rest:?}");
}

#[test]
fn foreign_and_garbled_cursors_are_refused() {
    let fixture = Fixture::of(&random_projects(200, 24));
    let page = fixture.reader.search(&SearchRequest { limit: 2, ..request("stone house") }).unwrap();
    let cursor = page.next().unwrap();
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
}
