//! The counts of random sets, compared with those of a list that is scanned: more values than are shown, in several spellings and forms.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lexical::{Collects, OrdinalSet, Restriction, SearchDocument, SearchReader, SearchRequest, SearchWriter};

use super::*;

const PROJECTS: u64 = 400;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % bound
    }

    /// Returns a number below a bound, the low ones more often.
    fn low(&mut self, bound: u64) -> u64 {
        self.below(bound) * self.below(bound) / bound
    }
}

/// A project as it is recorded.
struct Project {
    ordinal: u64,
    category: Category,
    studio: Option<String>,
    year: Option<u64>,
    /// Its words in each dimension, each in one form or two.
    words: BTreeMap<Dimension, Vec<String>>,
}

impl Project {
    fn of(ordinal: u64, dice: &mut Dice) -> Project {
        let studio = (dice.below(5) > 0).then(|| {
            let number = dice.low(60);
            match dice.below(4) {
                0 => format!("STUDIO {number}"),
                1 => format!("studio-{number}"),
                _ => format!("Studio {number}"),
            }
        });
        let year = (dice.below(4) > 0).then(|| 1960 + dice.low(50));
        let words = [Dimension::Material, Dimension::Mood].map(|dimension| {
            let count = dice.below(6);
            let mut words: Vec<String> = (0..count).map(|_| word(dice)).collect();
            if dice.below(2) == 0 {
                words.push("the".to_owned());
            }
            (dimension, words)
        });
        let category = Category::ALL[dice.low(5) as usize];
        Project { ordinal, category, studio, year, words: words.into() }
    }

    fn event(&self) -> NumberedEvent {
        let taste = self.words.iter().filter(|(_, words)| !words.is_empty());
        let taste: Map<String, Value> =
            taste.map(|(dimension, words)| (dimension.as_str().into(), words.join(" ").into())).collect();
        let record = json!({
            "name": "X", "category": self.category.as_str(), "studio": self.studio,
            "year": self.year.map(|year| year.to_string()), "taste": taste,
        });
        selected(self.ordinal, &format!("p{:03}", self.ordinal), serde_json::from_value(record).unwrap())
    }
}

/// Returns a word whose stem is its form without the `s`.
fn word(dice: &mut Dice) -> String {
    let number = dice.low(60) as usize;
    let (first, second) = (b"bdfgklmprt"[number % 10], b"aeiou"[number / 10 % 5]);
    let plural = if dice.below(3) == 0 { "s" } else { "" };
    format!("{}{}mok{plural}", char::from(first), char::from(second))
}

/// Returns the values of a facet in order: `texts` has what each project counts as, and how that is written.
fn most<'a>(texts: impl Iterator<Item = (String, &'a str)>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, BTreeMap<&str, u64>> = BTreeMap::new();
    texts.for_each(|(value, text)| *counts.entry(value).or_default().entry(text).or_default() += 1);
    let mut values: Vec<(String, u64, String)> = counts
        .into_iter()
        .map(|(value, written)| {
            let best = written.iter().max_by_key(|(text, count)| (**count, Reverse(**text))).unwrap().0;
            let best = (*best).to_owned();
            (value, written.values().sum(), best)
        })
        .collect();
    values.sort_by_key(|(value, count, _)| (Reverse(*count), value.clone()));
    values.into_iter().map(|(_, count, best)| (best, count)).collect()
}

/// Counts the stems of a dimension, shown in the form that most projects of the whole archive have.
fn most_words(all: &[Project], counted: &[&Project], dimension: Dimension) -> Vec<(String, u64)> {
    let mut forms: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    let stem = |word: &str| word.trim_end_matches('s').len();
    for project in all {
        for word in project.words[&dimension].iter().map(String::as_str).collect::<BTreeSet<_>>() {
            *forms.entry(&word[..stem(word)]).or_default().entry(word).or_default() += 1;
        }
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for project in counted {
        let stems = project.words[&dimension].iter().map(|word| &word[..stem(word)]);
        stems.collect::<BTreeSet<_>>().into_iter().for_each(|stem| *counts.entry(stem).or_default() += 1);
    }
    counts.remove("the");
    let shown = |stem: &str| forms[stem].iter().max_by_key(|(form, count)| (**count, Reverse(**form)));
    let mut values: Vec<(String, u64)> =
        counts.iter().map(|(stem, count)| ((*shown(stem).unwrap().0).to_owned(), *count)).collect();
    values.sort_by_key(|(form, count)| (Reverse(*count), form.clone()));
    values
}

fn expected(all: &[Project], counted: &[&Project], facet: Facet) -> FacetCounts {
    let values = match facet {
        Facet::Category => {
            most(counted.iter().map(|one| (one.category.as_str().to_owned(), one.category.as_str())))
        }
        Facet::Studio => {
            let studios = counted.iter().filter_map(|one| one.studio.as_deref());
            most(studios.map(|studio| (studio.to_lowercase().replace('-', " "), studio)))
        }
        Facet::Year => {
            let years: Vec<String> =
                counted.iter().filter_map(|one| one.year).map(|year| year.to_string()).collect();
            most(years.iter().map(|year| (year.clone(), year.as_str())))
        }
        Facet::Taste(dimension @ (Dimension::Material | Dimension::Mood)) => {
            most_words(all, counted, dimension)
        }
        Facet::City | Facet::Curator | Facet::Taste(_) => Vec::new(),
    };
    let has_value = |project: &&&Project| match facet {
        Facet::Category => true,
        Facet::Studio => project.studio.is_some(),
        Facet::Year => project.year.is_some(),
        Facet::Taste(dimension) => {
            project.words.get(&dimension).is_some_and(|words| words.iter().any(|word| word != "the"))
        }
        Facet::City | Facet::Curator => false,
    };
    let unrecorded = (counted.len() - counted.iter().filter(has_value).count()) as u64;
    let distinct = values.len() as u64;
    let shown = values.into_iter().take(MAX_FACET_VALUES);
    let values = shown.map(|(value, count)| FacetValue { value, count }).collect();
    FacetCounts { facet, values, distinct, unrecorded }
}

#[tokio::test]
async fn the_counts_of_random_sets_are_those_of_a_scan() {
    for seed in [41, 42, 43] {
        println!("seed {seed}");
        let mut dice = Dice(seed);
        let projects: Vec<Project> = (1..=PROJECTS).map(|ordinal| Project::of(ordinal, &mut dice)).collect();
        let mut archive = Archive::new().await;
        archive.apply(&projects.iter().map(Project::event).collect::<Vec<_>>()).await;
        for reader in [&archive.reader, &archive.reopened().await] {
            let listing = reader.listing();
            for share in [0, 1, 3, 20, 100, 1_000].repeat(3) {
                let counted: Vec<&Project> = projects.iter().filter(|_| dice.below(1_000) < share).collect();
                // An ordinal that is not listed does not count.
                let ordinals = counted.iter().map(|project| project.ordinal).chain([PROJECTS + 9, 5_000]);
                let counts = listing.facets(&ordinals.collect::<OrdinalSet>(), &Facet::ALL);
                assert_eq!(counts.iter().map(|counts| counts.facet).collect::<Vec<_>>(), Facet::ALL);
                for found in counts {
                    assert_eq!(found, expected(&projects, &counted, found.facet), "of {}", counted.len());
                }
            }
        }
    }
}

#[tokio::test]
async fn counts_are_kept_for_the_same_search_until_a_change() {
    let mut archive = Archive::of(&[with_text(1, Dimension::Mood, "calm")]).await;
    let facets = vec![Facet::Category, Facet::Taste(Dimension::Mood)];
    let listing = archive.reader.listing();
    let search = CountedSearch { text: "calm".into(), stage: None, filters: Filters::default(), facets };
    assert_eq!(listing.kept_facets(&search), None);
    let set = listing.select(&search.filters);
    let counts: Arc<[FacetCounts]> = listing.facets(&set, &search.facets).into();
    listing.keep_facets(search.clone(), Arc::clone(&counts));
    assert_eq!(archive.reader.listing().kept_facets(&search).as_ref(), Some(&counts));
    for other in [
        CountedSearch { text: "Calm".into(), ..search.clone() },
        CountedSearch { stage: Some((0, 0)), ..search.clone() },
        CountedSearch { filters: Filters::of_category(Some(Category::Art)), ..search.clone() },
        CountedSearch { facets: vec![Facet::Category], ..search.clone() },
        CountedSearch { facets: search.facets.iter().rev().copied().collect(), ..search.clone() },
    ] {
        assert_eq!(listing.kept_facets(&other), None, "{other:?}");
    }
    archive.apply(&[with_text(2, Dimension::Mood, "calm")]).await;
    assert_eq!(archive.reader.listing().kept_facets(&search), None);
    assert_eq!(listing.kept_facets(&search), Some(counts), "of the earlier moment");
}

#[tokio::test]
async fn a_search_without_filters_is_restricted_while_the_index_has_more_than_the_archive() {
    let mut archive = Archive::of(&[1, 2].map(|number| with_text(number, Dimension::Mood, "calm"))).await;
    let folder = tempfile::tempdir().unwrap();
    let mut index = SearchWriter::open_or_create(folder.path()).unwrap();
    for ordinal in [1, 2] {
        let document = SearchDocument {
            project: &id(ordinal).to_string(),
            ordinal,
            slug: &format!("p{ordinal:03}"),
            name: "House",
            studio: None,
            city: None,
            category: "art",
            intro: None,
            published: None,
            summary: b"{",
            state: b"",
            listed: true,
        };
        index.upsert(&document).unwrap();
    }
    index.commit(&serde_json::to_string(archive.writer.checkpoint()).unwrap()).unwrap();
    let searched = SearchReader::open(folder.path()).unwrap();
    archive.reader =
        ArchiveReader::open_with_view(archive.folder.path(), Some(searched.view())).await.unwrap();
    let found = |archive: &Archive| {
        let listing = archive.reader.listing();
        let allowed = listing.allowed(&Filters::default());
        let restriction =
            Restriction { allowed: allowed.as_deref(), fingerprint: 0, collects: Collects::Ordinals };
        let request = SearchRequest { text: "house", category: None, limit: 1, after: None };
        let ordinals = listing.search(&request, &restriction).unwrap().unwrap().ordinals();
        (allowed.is_some(), ordinals.iter().collect::<Vec<u64>>())
    };
    assert_eq!(found(&archive), (false, vec![1, 2]));
    let art = Filters::of_category(Some(Category::Art));
    assert!(archive.reader.listing().allowed(&art).is_some());
    archive.apply(&[withdrawn(2)]).await;
    assert_eq!(found(&archive), (true, vec![1]));
    index.remove(&id(2).to_string());
    index.commit(&serde_json::to_string(archive.writer.checkpoint()).unwrap()).unwrap();
    assert!(searched.refresh().unwrap());
    archive.reader.refresh_with_view(Some(searched.view())).await.unwrap();
    assert_eq!(found(&archive), (false, vec![1]));
}
