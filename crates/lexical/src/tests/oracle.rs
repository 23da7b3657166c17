//! The exact tier against a scan of all projects.

use std::collections::BTreeSet;

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

/// Returns whether the fields of a project contain all words of the query and its phrases.
fn matches(project: &Project, query: &Query) -> bool {
    let fields = [
        Some(&project.name),
        project.studio.as_ref(),
        project.city.as_ref(),
        Some(&project.category),
        project.intro.as_ref(),
    ];
    let fields: Vec<Vec<(String, u32)>> =
        fields.into_iter().flatten().map(|field| word_positions(field)).collect();
    let all = query.words.iter().all(|word| fields.iter().flatten().any(|(other, _)| other == word));
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

#[test]
fn exact_matches_are_those_of_a_scan() {
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

        for _ in 0..600 {
            let text = random_query(&mut random);
            let category = Some(*random.pick(&CATEGORIES)).filter(|_| random.below(3) == 0);
            let query = Query::parse(&text);
            let filtered = projects
                .iter()
                .filter(|project| category.is_none_or(|category| project.category == category));
            let expected: BTreeSet<u64> =
                filtered.filter(|project| matches(project, &query)).map(|project| project.ordinal).collect();
            let mut found = BTreeSet::new();
            let mut after = None;
            loop {
                let page = fixture
                    .reader
                    .search(&SearchRequest { text: &text, category, limit: 50, after })
                    .unwrap();
                let exact = page.hits().filter(|hit| hit.score >= 1.0).count();
                found.extend(&ordinals(&page)[..exact]);
                if expected.len() >= 10 {
                    assert_eq!(page.total(), expected.len() as u64, "{text:?} {category:?}");
                }
                after = page.next_cursor();
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected, "{text:?} {category:?}");
        }
    }
}
