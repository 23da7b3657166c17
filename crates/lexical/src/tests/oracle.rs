//! The exact and the prefix tier against a scan of all projects.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::query::Query;
use text::{Word, words};

/// Returns the words of a field with their positions, parts included.
fn word_positions(field: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let _ = words(field, &mut |word: Word<'_>| {
        found.push((word.text.to_owned(), word.position));
        std::ops::ControlFlow::Continue(())
    });
    found
}

/// Returns whether the fields of a project contain all words of the query and its phrases; if `completes`, the last word as the beginning
/// of one.
fn matches(project: &Project, query: &Query, completes: bool) -> bool {
    let fields = [
        Some(&project.name),
        project.studio.as_ref(),
        project.city.as_ref(),
        Some(&project.category),
        project.intro.as_ref(),
    ];
    let fields: Vec<Vec<(String, u32)>> =
        fields.into_iter().flatten().map(|field| word_positions(field)).collect();
    let all = query.words.iter().enumerate().all(|(index, word)| {
        let is_completed = completes && index + 1 == query.words.len();
        fields.iter().flatten().any(|(other, _)| other == word || is_completed && other.starts_with(word))
    });
    let phrases = query.phrases.iter().all(|phrase| {
        fields.iter().any(|field| {
            field.iter().any(|&(_, first)| {
                phrase
                    .iter()
                    .all(|&(word, offset)| field.contains(&(query.words[word].clone(), first + offset)))
            })
        })
    });
    all && phrases && !query.words.is_empty()
}

/// Returns the weighted frequency of a word.
fn weight(project: &Project, word: &str) -> usize {
    let category = Some(project.category.clone());
    let name = Some(project.name.clone());
    let fields = [(&name, 3), (&project.studio, 2), (&project.city, 2), (&category, 1), (&project.intro, 1)];
    let of = |field: &Option<String>| {
        let words = word_positions(field.as_deref().unwrap_or_default());
        words.iter().filter(|(other, _)| other == word).count()
    };
    fields.iter().map(|(field, weight)| weight * of(field)).sum()
}

/// Returns the integer part of the score of every result.
fn expected(projects: &[Project], query: &Query, category: Option<&str>) -> BTreeMap<u64, u8> {
    let candidates: Vec<&Project> = projects
        .iter()
        .filter(|project| category.is_none_or(|category| project.category == category))
        .collect();
    let exact: BTreeSet<u64> = candidates
        .iter()
        .filter(|project| matches(project, query, false))
        .map(|project| project.ordinal)
        .collect();
    let completes = query.last_is_prefix && (exact.len() < 10 || query.ends_with_letter);
    let mut bands = BTreeMap::new();
    for project in candidates {
        let (name, typed) = (text::fold(&project.name), &query.typed);
        let is_exact = exact.contains(&project.ordinal);
        let goes_on = |rest: &str| !rest.is_empty() && !rest.starts_with(' ');
        let in_name = || {
            let starts = (0..name.len()).filter(|at| *at == 0 || name.as_bytes()[at - 1] == b' ');
            let rests: Vec<&str> =
                starts.filter_map(|at| name.get(at..)?.strip_prefix(typed.as_str())).collect();
            let is_heavy = |word: &String| weight(project, word) >= 3;
            match rests.iter().any(|rest| !goes_on(rest)) {
                _ if query.words.len() < 2 => None,
                true => Some(3),
                // A word that counts less than one of the name is not looked for there.
                false if is_exact && !query.ends_with_letter && !query.words.iter().all(is_heavy) => None,
                false => (query.is_open && !rests.is_empty()).then_some(2),
            }
        };
        let begins = name.strip_prefix(typed.as_str()).filter(|_| !typed.is_empty());
        // A single word with enough exact matches is taken as a whole one.
        let is_whole = query.words.len() == 1 && exact.len() >= 10 && !query.ends_with_letter;
        let begins = begins.filter(|rest| !is_whole || !goes_on(rest));
        let band = match begins {
            Some("") => 6,
            Some(rest) if !goes_on(rest) && !query.ends_with_letter => 5,
            Some(rest) if query.is_open || !goes_on(rest) => {
                let is_single_word = query.words.len() == 1 && !query.ends_with_letter && !is_exact;
                if is_single_word && rest.len() > typed.len() { 0 } else { 4 }
            }
            _ if is_exact && !query.ends_with_letter => in_name().unwrap_or(1),
            _ if completes && matches(project, query, true) => in_name().unwrap_or(0),
            _ => continue,
        };
        bands.insert(project.ordinal, band);
    }
    bands
}

#[test]
fn exact_matches_and_completions_are_those_of_a_scan() {
    let mut bands_seen = BTreeSet::new();
    for seed in [11, 12, 13] {
        println!("seed {seed}");
        let mut random = Random(seed);
        let mut projects = random_projects(400, seed);
        let mut fixture = Fixture::empty();
        // Several segments, and in each some that are replaced or removed.
        for (round, some) in projects.clone().chunks(150).enumerate() {
            fixture.add(some);
            fixture.commit(&round.to_string());
        }
        for _ in 0..60 {
            let ordinal = random.below(400);
            projects[ordinal] = random_project(ordinal as u64, &mut random);
            upsert(&mut fixture.writer, &projects[ordinal]);
        }
        let removed: BTreeSet<u64> = (0..40).map(|_| random.below(400) as u64).collect();
        removed.iter().for_each(|&ordinal| fixture.writer.remove(&projects[ordinal as usize].id()));
        fixture.commit("edited");
        projects.retain(|project| !removed.contains(&project.ordinal));
        assert_eq!(fixture.reader.documents(), projects.len() as u64);

        for round in 0..600 {
            if round == 300 {
                fixture.writer.force_merge().unwrap();
                fixture.reader.refresh().unwrap();
            }
            let text = random_query(&mut random);
            let category = Some(*random.pick(&CATEGORIES)).filter(|_| random.below(3) == 0);
            let expected = expected(&projects, &Query::parse(&text), category);
            let limit = 1 + random.below(50);
            let mut found = BTreeMap::new();
            let mut after = None;
            loop {
                let request = SearchRequest { text: &text, category, limit, after };
                let page = fixture.reader.search(&request).unwrap();
                let bands = page.hits().map(|hit| hit.score as u8);
                for (ordinal, band) in ordinals(&page).into_iter().zip(bands) {
                    assert!(found.insert(ordinal, band).is_none(), "{text:?} {category:?}: {ordinal} twice");
                }
                assert!(
                    expected.is_empty() || page.total() == expected.len() as u64,
                    "{text:?} {category:?}"
                );
                after = page.next_cursor();
                if after.is_none() {
                    break;
                }
            }
            if expected.is_empty() {
                assert!(found.values().all(|band| *band == 0), "{text:?} {category:?}: {found:?}");
            } else {
                assert_eq!(found, expected, "{text:?} {category:?}");
                bands_seen.extend(expected.into_values());
            }
        }
    }
    assert_eq!(bands_seen.len(), 7, "{bands_seen:?}");
}
