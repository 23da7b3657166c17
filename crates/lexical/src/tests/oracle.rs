//! The exact and the prefix tier against a scan of all projects.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::query::{Phrase, Query, Term};
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

/// The words of a project's fields, each with its position.
struct Fields(Vec<Vec<(String, u32)>>);

impl Fields {
    fn of(project: &Project) -> Fields {
        let fields = [
            Some(&project.name),
            project.studio.as_ref(),
            project.city.as_ref(),
            Some(&project.category),
            project.intro.as_ref(),
        ];
        Fields(fields.into_iter().flatten().map(|field| word_positions(field)).collect())
    }

    fn has(&self, word: &str) -> bool {
        self.0.iter().flatten().any(|(other, _)| other == word)
    }

    fn has_any(&self, words: &[String]) -> bool {
        words.iter().any(|word| self.has(word))
    }

    fn has_longer(&self, word: &str) -> bool {
        self.0.iter().flatten().any(|(other, _)| other.len() > word.len() && other.starts_with(word))
    }

    /// Returns whether a field has the words at these distances from the first.
    fn has_phrase(&self, phrase: &[(&str, u32)]) -> bool {
        self.0.iter().any(|field| {
            let follows = |first: u32| {
                phrase.iter().all(|(word, offset)| field.contains(&((*word).to_owned(), first + offset)))
            };
            field.iter().any(|(_, first)| follows(*first))
        })
    }

    fn has_phrases(&self, query: &Query, phrases: &[Phrase]) -> bool {
        phrases.iter().all(|phrase| {
            let phrase: Vec<(&str, u32)> =
                phrase.iter().map(|(word, offset)| (query.words[*word].as_str(), *offset)).collect();
            self.has_phrase(&phrase)
        })
    }

    /// Returns whether the fields have the word in some form.
    fn has_form(&self, query: &Query, word: usize) -> bool {
        self.has(&query.words[word]) || self.has_any(&query.forms[word])
    }

    /// Returns whether the fields contain what was typed.
    fn is_exact(&self, query: &Query) -> bool {
        let all = query.words.iter().all(|word| self.has(word));
        all && !query.words.is_empty() && self.has_phrases(query, query.phrases())
    }

    /// Returns whether the fields contain every term in some form.
    fn is_full(&self, query: &Query) -> bool {
        let has_term = |term: &Term| match term.only_word() {
            Some(word) => self.has_form(query, word),
            None => self.has_phrases(query, std::slice::from_ref(&term.words)) || self.has_any(&term.joined),
        };
        !query.terms.is_empty()
            && query.terms.iter().all(has_term)
            && self.has_phrases(query, query.strict_phrases())
    }

    /// Returns whether the fields contain what was typed with a longer word in place of the last, or joined, or apart.
    fn is_completed(&self, query: &Query, unknown: &dyn Fn(usize) -> bool) -> bool {
        let Some(last) = query.words.len().checked_sub(1) else { return false };
        let begins = |word: usize| {
            let typed = query.words[word].as_str();
            self.has_longer(typed) || query.ends_with_letter && self.has(typed)
        };
        let others = |left_out: &[usize], finish: &dyn Fn(usize) -> bool| {
            let words = query.required_words().filter(|word| !left_out.contains(word));
            words.into_iter().all(|word| if word == last { finish(word) } else { self.has_form(query, word) })
        };
        let goes_on = |word| self.has_form(query, word) || self.has_longer(&query.words[word]);
        let is_joined = |first: usize| {
            let both = query.may_respell(first) && query.may_respell(first + 1);
            let joined = format!("{}{}", query.words[first], query.words[first + 1]);
            both && (self.has(&joined) || self.has_any(&text::forms(&joined)))
                && others(&[first, first + 1], &goes_on)
        };
        let is_apart = |word: usize| {
            let typed = query.words[word].as_str();
            let cuts = (3..typed.len().saturating_sub(2))
                .filter(|at| typed.len() >= 6 && typed.is_char_boundary(*at));
            let mut parts = cuts.map(|at| typed.split_at(at));
            query.may_respell(word)
                && unknown(word)
                && parts.any(|(start, end)| {
                    !text::is_stop_word(start)
                        && !text::is_stop_word(end)
                        && start.chars().count() > 2
                        && end.chars().count() > 2
                        && self.has_phrase(&[(start, 0), (end, 1)])
                })
                && others(&[word], &goes_on)
        };
        let is_respelled = !query.ends_with_letter && ((0..last).any(is_joined) || (0..=last).any(is_apart));
        let is_begun = begins(last) && others(&[last], &|_| true);
        (is_begun || is_respelled) && self.has_phrases(query, query.strict_phrases())
    }
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

/// What a scan finds for a query.
struct Scan<'q> {
    query: &'q Query,
    exact: BTreeSet<u64>,
    full: BTreeSet<u64>,
    /// Words that no project has in any form.
    unknown: Vec<usize>,
}

impl<'q> Scan<'q> {
    fn of(all: &[(Project, Fields)], candidates: &[&(Project, Fields)], query: &'q Query) -> Scan<'q> {
        let matching = |test: &dyn Fn(&Fields) -> bool| -> BTreeSet<u64> {
            let matches = candidates.iter().filter(|(_, fields)| test(fields));
            matches.map(|(project, _)| project.ordinal).collect()
        };
        let has = |word: usize| all.iter().any(|(_, fields)| fields.has_form(query, word));
        let exact = matching(&|fields| fields.is_exact(query));
        let full = matching(&|fields| fields.is_full(query));
        let completes = full.len() < 10 && query.last_is_prefix;
        let unknown =
            if completes { (0..query.words.len()).filter(|word| !has(*word)).collect() } else { Vec::new() };
        Scan { query, exact, full, unknown }
    }

    /// Returns the integer part of the score of a project; `None` if it is no result.
    fn band(&self, project: &Project, fields: &Fields) -> Option<u8> {
        let query = self.query;
        let is_exact = self.exact.contains(&project.ordinal);
        let is_full = self.full.contains(&project.ordinal);
        let completes = query.last_is_prefix && (self.full.len() < 10 || query.ends_with_letter);
        let name = text::comparison_form(&project.name);
        let begins = name.strip_prefix(query.typed.as_str()).filter(|_| !query.typed.is_empty());
        // A single word with enough full matches is taken as a whole one.
        let is_whole = query.words.len() == 1 && self.full.len() >= 10 && !query.ends_with_letter;
        let begins = begins.filter(|rest| !is_whole || !goes_on(rest));
        let last = query.words.len().saturating_sub(1);
        let is_in_form = || match &query.open_compound {
            Some(compound) => fields.has_any(&compound.joined),
            None => query.forms.get(last).is_some_and(|forms| fields.has_any(forms)),
        };
        let is_unknown = |word: usize| self.unknown.contains(&word);
        let in_name = || in_name(query, project, is_exact);
        if !is_exact && is_full && is_in_form() && !query.ends_with_letter && begins.is_none_or(goes_on) {
            return Some(1);
        }
        match begins {
            Some("") if is_exact || query.ends_with_letter => Some(7),
            Some(rest) if !goes_on(rest) && !query.ends_with_letter && is_exact => Some(6),
            Some(rest) if query.is_open && (goes_on(rest) || query.ends_with_letter) => {
                let is_single_word = query.words.len() == 1 && !query.ends_with_letter && !is_exact;
                Some(if is_single_word && rest.len() > query.typed.len() { 0 } else { 5 })
            }
            _ if query.ends_with_letter => {
                fields.is_completed(query, &is_unknown).then(|| in_name().unwrap_or(0))
            }
            _ if is_exact => Some(in_name().unwrap_or(2)),
            _ if is_full => Some(1),
            _ if completes && fields.is_completed(query, &is_unknown) => {
                let mut others = query.required_words().filter(|word| *word != last);
                let is_begun =
                    fields.has_longer(&query.words[last]) && others.all(|word| fields.has_form(query, word));
                Some(in_name().filter(|_| is_begun).unwrap_or(0))
            }
            _ => None,
        }
    }
}

fn goes_on(rest: &str) -> bool {
    !rest.is_empty() && !rest.starts_with(' ')
}

/// Returns the band of a name that has all words next to each other.
fn in_name(query: &Query, project: &Project, is_exact: bool) -> Option<u8> {
    let (name, typed) = (text::comparison_form(&project.name), query.typed.as_str());
    let starts = (0..name.len()).filter(|at| *at == 0 || name.as_bytes()[at - 1] == b' ');
    let rests: Vec<&str> = starts.filter_map(|at| name.get(at..)?.strip_prefix(typed)).collect();
    let is_heavy = |word: &String| weight(project, word) >= 3;
    match rests.iter().any(|rest| !goes_on(rest)) {
        _ if query.words.len() < 2 || typed.is_empty() => None,
        // A word that counts less than one of the name is not looked for there.
        _ if is_exact && !query.ends_with_letter && !query.words.iter().all(is_heavy) => None,
        true => Some(4),
        false => (query.is_open && !rests.is_empty()).then_some(3),
    }
}

/// Returns the integer part of the score of every result.
fn expected(projects: &[(Project, Fields)], query: &Query, category: Option<&str>) -> BTreeMap<u64, u8> {
    let in_category =
        |(project, _): &&(Project, Fields)| category.is_none_or(|category| project.category == category);
    let candidates: Vec<&(Project, Fields)> = projects.iter().filter(in_category).collect();
    let scan = Scan::of(projects, &candidates, query);
    let bands = candidates
        .iter()
        .filter_map(|(project, fields)| Some((project.ordinal, scan.band(project, fields)?)));
    bands.collect()
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

        let with_fields: Vec<(Project, Fields)> =
            projects.iter().map(|project| (project.clone(), Fields::of(project))).collect();
        for round in 0..600 {
            if round == 300 {
                fixture.writer.force_merge().unwrap();
                fixture.reader.refresh().unwrap();
            }
            let text = random_query(&mut random);
            let category = Some(*random.pick(&CATEGORIES)).filter(|_| random.below(3) == 0);
            let expected = expected(&with_fields, &Query::parse(&text), category);
            let limit = 1 + random.below(50);
            let (mut found, mut totals) = (BTreeMap::new(), BTreeSet::new());
            let mut after = None;
            loop {
                let request = SearchRequest { text: &text, category, limit, after };
                let page = fixture.reader.search(&request).unwrap();
                let bands = page.hits().map(|hit| hit.score as u8);
                for (ordinal, band) in ordinals(&page).into_iter().zip(bands) {
                    assert!(found.insert(ordinal, band).is_none(), "{text:?} {category:?}: {ordinal} twice");
                }
                totals.insert(page.total());
                after = page.next_cursor();
                if after.is_none() {
                    break;
                }
            }
            if expected.is_empty() {
                assert!(found.values().all(|band| *band == 0), "{text:?} {category:?}: {found:?}");
            } else {
                let differs = |(ordinal, band): &(&u64, &u8)| expected.get(ordinal) != Some(band);
                let strange: Vec<_> = found.iter().filter(differs).collect();
                let missing: Vec<_> =
                    expected.iter().filter(|(ordinal, _)| !found.contains_key(ordinal)).collect();
                assert!(
                    strange.is_empty() && missing.is_empty(),
                    "{text:?} {category:?}: strange {strange:?}, missing {missing:?}"
                );
                assert_eq!(totals, BTreeSet::from([expected.len() as u64]), "{text:?} {category:?}");
                bands_seen.extend(expected.into_values());
            }
        }
    }
    assert_eq!(bands_seen.len(), 8, "{bands_seen:?}");
}
