//! Searches among the projects of a set.

use std::collections::BTreeSet;

use super::*;
use crate::query::Query;

/// Returns the results of all pages, as ordinal and score.
fn all_pages(view: &View, request: SearchRequest<'_>, restriction: &Restriction<'_>) -> Vec<(u64, u32)> {
    let (mut all, mut after) = (Vec::new(), None::<Cursor>);
    loop {
        let page = view.search(&SearchRequest { after, ..request }, restriction).unwrap();
        all.extend(ordinals(&page).into_iter().zip(page.hits().map(|hit| hit.score.to_bits())));
        after = page.next_cursor().map(|cursor| cursor.to_string().parse().unwrap());
        if after.is_none() {
            assert_eq!(all.len() as u64, page.total());
            return all;
        }
    }
}

/// Asserts that a search on any page collects the same ordinals with and without scores, and has the same results.
fn assert_same_ordinals(view: &View, request: SearchRequest<'_>, restriction: &Restriction<'_>) {
    let [collected, scored, plain] = [Collects::Ordinals, Collects::Matches, Collects::Nothing]
        .map(|collects| Restriction { collects, ..*restriction });
    let (mut after, mut is_first) = (None::<Cursor>, true);
    let mut of_stage = None;
    while is_first || after.is_some() {
        let request = SearchRequest { after, ..request };
        let page = |restriction| view.search(&request, restriction).unwrap();
        let (found, scored, plain) = (page(&collected), page(&scored), page(&plain));
        let all: OrdinalSet = scored.matches().iter().map(|(ordinal, _)| *ordinal).collect();
        assert_eq!(*found.ordinals(), all, "{request:?}");
        assert_eq!((&*scored.ordinals(), found.ordinals().len()), (&all, found.total()), "{request:?}");
        assert!(found.matches().is_empty() && plain.ordinals().is_empty());
        if let Some(cursor) = after {
            let (stage, same) = of_stage.get_or_insert_with(|| (cursor.stage(), found.ordinals()));
            assert_eq!((cursor.stage(), &found.ordinals()), (*stage, &*same), "{request:?}");
        }
        for other in [&scored, &plain] {
            assert_eq!((ordinals(&found), found.total()), (ordinals(other), other.total()), "{request:?}");
            assert_eq!(found.relaxation(), other.relaxation(), "{request:?}");
            let cursors = [found.next_cursor(), other.next_cursor()];
            let [cursor, same] = cursors.map(|cursor| cursor.map(|cursor| cursor.to_string()));
            assert_eq!(cursor, same, "{request:?}");
        }
        (after, is_first) = (found.next_cursor(), false);
    }
}

/// A restricted search has the results of the same tier of an index with only the allowed projects, with the statistics of all. Where
/// the unrestricted search stays in one tier, they are therefore its results that are allowed.
#[test]
fn results_are_those_of_the_whole_search_that_are_allowed() {
    let mut compared = 0;
    for seed in [31, 32, 33] {
        println!("seed {seed}");
        let mut random = Random(seed);
        let projects = random_projects(400, seed);
        let mut fixture = Fixture::empty();
        for (round, some) in projects.chunks(150).enumerate() {
            fixture.add(some);
            fixture.commit(&round.to_string());
        }
        (0..30).for_each(|_| fixture.writer.remove(&projects[random.below(400)].id()));
        fixture.commit("removed");
        let view = fixture.reader.view();
        let all: OrdinalSet = (0..400).collect();
        for _ in 0..150 {
            let text = random_query(&mut random);
            let category = Some(*random.pick(&CATEGORIES)).filter(|_| random.below(3) == 0);
            let share = 1 + random.below(4);
            let allowed: OrdinalSet = (0..400).filter(|_| random.below(4) < share).collect();
            let whole = SearchRequest { category, ..request(&text) };
            let unrestricted =
                Restriction { allowed: Some(&all), fingerprint: 1, collects: Collects::Matches };
            let within = Restriction { allowed: Some(&allowed), fingerprint: 2, collects: Collects::Matches };
            let paged = SearchRequest { limit: 1 + random.below(9), ..whole };
            let found = all_pages(&view, paged, &within);
            assert_eq!(found, all_pages(&view, whole, &within), "{text:?} by pages");
            let page = view.search(&SearchRequest { limit: 1, ..whole }, &within).unwrap();
            let matches: BTreeSet<(u64, u32)> =
                page.matches().iter().map(|(ordinal, score)| (*ordinal, score.to_bits())).collect();
            assert_eq!(matches, found.iter().copied().collect(), "{text:?}");
            assert_eq!(page.matches().len(), found.len(), "{text:?}: none twice");
            assert_same_ordinals(&view, paged, &within);
            assert!(found.iter().all(|(ordinal, _)| allowed.contains(*ordinal)));
            let of_all = all_pages(&view, whole, &unrestricted);
            let exact = of_all.iter().filter(|(_, score)| f32::from_bits(*score) >= 1.0);
            let exact: Vec<(u64, u32)> =
                exact.filter(|(ordinal, _)| allowed.contains(*ordinal)).copied().collect();
            assert_eq!(&found[..exact.len().min(found.len())], exact, "{text:?} {category:?}");
            // Names in which the last word goes on may not be exact.
            let surely_exact =
                exact.iter().filter(|(_, score)| [1, 2, 4, 6, 7].contains(&(f32::from_bits(*score) as u8)));
            if surely_exact.count() >= 10 && !Query::parse(&text).ends_with_letter {
                let of_all = of_all.iter().filter(|(ordinal, _)| allowed.contains(*ordinal));
                assert_eq!(found, of_all.copied().collect::<Vec<_>>(), "{text:?} {category:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "only {compared} queries had many exact results");
}

#[test]
fn a_restriction_to_all_changes_nothing() {
    let fixture = Fixture::of(&random_projects(300, 34));
    let (mut random, all) = (Random(34), (0..300).collect::<OrdinalSet>());
    for _ in 0..60 {
        let text = random_query(&mut random);
        let whole = fixture.reader.search(&request(&text)).unwrap();
        for allowed in [Some(&all), None] {
            let restriction = Restriction { allowed, fingerprint: 0, collects: Collects::Nothing };
            let page = fixture.reader.view().search(&request(&text), &restriction).unwrap();
            assert_eq!((ordinals(&page), page.total()), (ordinals(&whole), whole.total()), "{text:?}");
            assert_eq!(page.relaxation(), whole.relaxation());
            assert!(page.matches().is_empty());
            assert_same_ordinals(&fixture.reader.view(), request(&text), &restriction);
        }
    }
}

#[test]
fn a_word_that_only_excluded_projects_have_is_known() {
    let mut projects =
        [Project::named(0, "Corina"), Project::named(1, "Carina"), Project::named(2, "Carina house")];
    projects[0].category = CATEGORIES[0].to_owned();
    projects[1].category = CATEGORIES[1].to_owned();
    projects[2].category = CATEGORIES[1].to_owned();
    let fixture = Fixture::of(&projects);
    let allowed: OrdinalSet = [1, 2].into_iter().collect();
    let in_category =
        |category, text: &'static str| SearchRequest { category: Some(category), ..request(text) };
    let restriction = Restriction { allowed: Some(&allowed), fingerprint: 3, collects: Collects::Nothing };
    for page in [
        fixture.reader.search(&in_category(CATEGORIES[1], "corina")).unwrap(),
        fixture.reader.view().search(&request("corina"), &restriction).unwrap(),
    ] {
        let relaxation = page.relaxation().unwrap();
        assert_eq!((ordinals(&page), page.total()), (vec![], 0));
        assert_eq!((relaxation.kind, relaxation.excluded), (RelaxationKind::NoMatches, 1));
        assert!(relaxation.unknown_words.is_empty() && relaxation.did_you_mean.is_none(), "{relaxation:?}");
    }
    // What no project has is still corrected, among those that are left.
    let corrected = fixture.reader.search(&in_category(CATEGORIES[1], "carima")).unwrap();
    assert_eq!(ordinals(&corrected), [1, 2]);
    assert_eq!(corrected.relaxation().unwrap().excluded, 0);
}

#[test]
fn what_has_every_word_is_counted_within_a_set() {
    let names = ["Corina", "Carina", "Carina house", "Houses of Carina"];
    let projects: Vec<Project> =
        (0..).zip(names).map(|(number, name)| Project::named(number, name)).collect();
    let view = Fixture::of(&projects).reader.view();
    let count = |text: &str, ordinals: &[u64]| {
        view.count_within(text, &ordinals.iter().copied().collect::<OrdinalSet>()).unwrap()
    };
    assert_eq!([count("carina", &[0, 1, 2, 3]), count("carina", &[0, 1]), count("carina", &[0])], [3, 1, 0]);
    assert_eq!(count("House carina", &[0, 1, 2, 3]), 2, "in some form");
    assert_eq!([count("carin", &[1]), count("carima", &[1]), count("", &[1])], [0; 3], "as it is typed");
}

#[test]
fn full_matches_are_the_first_results_and_nothing_else() {
    let names = ["Corina house", "Carina", "Carina house", "Houses of Carina", "House C"];
    let projects: Vec<Project> =
        (0..).zip(names).map(|(number, name)| Project::named(number, name)).collect();
    let view = Fixture::of(&projects).reader.view();
    let allowed: OrdinalSet = (0..5).collect();
    let restriction = Restriction { allowed: Some(&allowed), fingerprint: 1, collects: Collects::Ordinals };
    let found = |text: &str, restriction: &Restriction<'_>| {
        let (mut all, mut after) = (Vec::new(), None::<Cursor>);
        loop {
            let page =
                view.full_matches(&SearchRequest { limit: 1, after, ..request(text) }, restriction).unwrap();
            all.extend(ordinals(&page));
            after = page.next_cursor();
            if after.is_none() {
                let set: OrdinalSet = all.iter().copied().collect();
                assert_eq!(
                    (page.relaxation(), page.total(), &*page.ordinals()),
                    (None, all.len() as u64, &set)
                );
                return all;
            }
        }
    };
    for text in ["carina", "house carina", "house", "corina house", "houses"] {
        let whole = view.search(&request(text), &restriction).unwrap();
        let full = found(text, &restriction);
        let exact = whole.relaxation().map_or(whole.total(), |relaxation| relaxation.exact);
        assert_eq!(full.len() as u64, exact, "{text}");
        assert_eq!(full, ordinals(&whole)[..full.len()], "{text}");
    }
    assert_eq!(found("house c", &restriction), [4], "a single letter is a word");
    for text in ["carima", "carin", "carina castle", "", "…"] {
        assert_eq!(found(text, &restriction), [0; 0], "{text}");
    }
    let few: OrdinalSet = [3].into_iter().collect();
    assert_eq!(found("carina", &Restriction { allowed: Some(&few), ..restriction }), [3]);
}

#[test]
fn a_set_has_every_listed_project_or_not() {
    let projects = random_projects(120, 38);
    let mut fixture = Fixture::of(&projects);
    let all: OrdinalSet = (0..120).collect();
    let but = |left_out| (0..120).filter(|ordinal| *ordinal != left_out).collect::<OrdinalSet>();
    let view = fixture.reader.view();
    assert!(view.is_within(&all) && (0..120).all(|ordinal| !view.is_within(&but(ordinal))));
    fixture.writer.remove(&projects[7].id());
    fixture.commit("removed");
    let removed: Vec<u64> =
        (0..120).filter(|ordinal| fixture.reader.view().is_within(&but(*ordinal))).collect();
    assert_eq!(removed.len(), 1, "the others are still listed");
    assert!(fixture.reader.view().is_within(&all) && view.summary_of(removed[0]).is_some());
}

#[test]
fn cursors_belong_to_their_restriction() {
    let fixture = Fixture::of(&random_projects(200, 35));
    let (view, all) = (fixture.reader.view(), (0..200).collect::<OrdinalSet>());
    let restriction =
        |fingerprint| Restriction { allowed: Some(&all), fingerprint, collects: Collects::Nothing };
    let first = SearchRequest { limit: 2, ..request("stone") };
    let restricted = view.search(&first, &restriction(7)).unwrap().next_cursor();
    let whole = fixture.reader.search(&first).unwrap().next_cursor();
    let next = |after, fingerprint| {
        let page = view.search(&SearchRequest { after, ..first }, &restriction(fingerprint));
        page.map(|page| ordinals(&page).len())
    };
    assert_eq!(next(restricted, 7).unwrap(), 2);
    for refused in [next(restricted, 8), next(whole, 7)] {
        assert!(matches!(refused, Err(SearchError::InvalidCursor(_))));
    }
    assert!(fixture.reader.search(&SearchRequest { after: restricted, ..first }).is_err());
}

/// Where names that begin with what was typed fill the page, the other documents are only counted, unless all matches are collected.
#[test]
fn counted_results_are_those_that_are_collected() {
    for seed in [36, 37] {
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut projects = random_projects(600, seed);
        for project in &mut projects {
            // Names of one or two words, in which "stone", "stones" and "stonework" are frequent.
            let first = *random.pick(&["Stone", "Stone", "Stones", "Stonework", "Oak"]);
            let second = *random.pick(&["", " stone", " house", " of oak"]);
            project.name = format!("{first}{second}");
            if random.below(3) == 0 {
                project.name = format!("{} {}", random.pick(&WORDS), project.name);
            }
        }
        // Few have the word "sto", and a completion of it too.
        projects[..5].iter_mut().for_each(|project| project.name = "Sto stone".to_owned());
        let mut fixture = Fixture::of(&projects[..500]);
        fixture.add(&projects[500..]);
        fixture.commit("two segments");
        let all: OrdinalSet = (0..600).collect();
        for deletions in [0, 40] {
            if deletions > 0 {
                (0..deletions).for_each(|_| fixture.writer.remove(&projects[random.below(600)].id()));
                fixture.commit("removed");
            }
            let view = fixture.reader.view();
            let categories = [None, Some(CATEGORIES[0])];
            for (text, category, limit) in
                ["s", "st", "sto", "ston", "stone", "stones", "stonew", "oak", "house"]
                    .into_iter()
                    .flat_map(|text| categories.map(|category| (text, category)))
                    .flat_map(|(text, category)| [1, 10, 50].map(|limit| (text, category, limit)))
            {
                let request = SearchRequest { text, category, limit, after: None };
                let restriction =
                    Restriction { allowed: Some(&all), fingerprint: 1, collects: Collects::Matches };
                let collected = view.search(&request, &restriction).unwrap();
                assert_same_ordinals(&view, request, &restriction);
                assert_same_ordinals(&view, request, &Restriction { allowed: None, ..restriction });
                let counted = fixture.reader.search(&request).unwrap();
                let hits = |page: &SearchPage| -> Vec<(u64, u32)> {
                    ordinals(page).into_iter().zip(page.hits().map(|hit| hit.score.to_bits())).collect()
                };
                let context = format!("{text:?} {category:?} {limit}, {deletions} removed");
                assert_eq!(hits(&counted), hits(&collected), "{context}");
                assert_eq!(counted.total(), collected.total(), "{context}");
                assert_eq!(counted.relaxation(), collected.relaxation(), "{context}");
            }
        }
    }
}
