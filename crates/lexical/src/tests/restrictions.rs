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
            let unrestricted = Restriction { allowed: &all, fingerprint: 1, collects_matches: true };
            let within = Restriction { allowed: &allowed, fingerprint: 2, collects_matches: true };
            let paged = SearchRequest { limit: 1 + random.below(9), ..whole };
            let found = all_pages(&view, paged, &within);
            assert_eq!(found, all_pages(&view, whole, &within), "{text:?} by pages");
            let page = view.search(&SearchRequest { limit: 1, ..whole }, &within).unwrap();
            let matches: BTreeSet<(u64, u32)> =
                page.matches().iter().map(|(ordinal, score)| (*ordinal, score.to_bits())).collect();
            assert_eq!(matches, found.iter().copied().collect(), "{text:?}");
            assert_eq!(page.matches().len(), found.len(), "{text:?}: none twice");
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
        let restriction = Restriction { allowed: &all, fingerprint: 0, collects_matches: false };
        let page = fixture.reader.view().search(&request(&text), &restriction).unwrap();
        let whole = fixture.reader.search(&request(&text)).unwrap();
        assert_eq!((ordinals(&page), page.total()), (ordinals(&whole), whole.total()), "{text:?}");
        assert_eq!(page.relaxation(), whole.relaxation());
        assert!(page.matches().is_empty());
    }
}

#[test]
fn cursors_belong_to_their_restriction() {
    let fixture = Fixture::of(&random_projects(200, 35));
    let (view, all) = (fixture.reader.view(), (0..200).collect::<OrdinalSet>());
    let restriction = |fingerprint| Restriction { allowed: &all, fingerprint, collects_matches: false };
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
                let collected = Restriction { allowed: &all, fingerprint: 1, collects_matches: true };
                let collected = view.search(&request, &collected).unwrap();
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
