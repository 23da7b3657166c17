//! Repetitions and missing values are as frequent as in a real catalog.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use schemas::record::Category;
use schemas::taste::Dimension;

use super::super::places;
use super::{DEMO, percent, text};

/// Asserts that a percentage is in `low..=high`.
#[track_caller]
fn assert_percent(what: &str, share: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&share), "{what}: {share:.1} %, not {low} to {high}");
}

#[test]
fn shares_are_plausible() {
    let shares = [
        (Category::Architecture, 36.0),
        (Category::Interiors, 18.0),
        (Category::Design, 18.0),
        (Category::Photography, 15.0),
        (Category::Art, 13.0),
    ];
    for (category, share) in shares {
        let found = percent(|record| text(record, "category") == Some(category.as_str()));
        assert_percent(category.as_str(), found, share - 3.0, share + 3.0);
    }
    assert_percent(
        "works before 1995",
        percent(|record| text(record, "year").is_some_and(|year| year < "1995")),
        3.0,
        12.0,
    );
    let built = |record: &_| ["architecture", "interiors"].contains(&text(record, "category").unwrap());
    assert!(
        DEMO.iter()
            .filter(|record| built(record))
            .all(|record| text(record, "year").is_none_or(|year| year >= "1995"))
    );
}

#[test]
fn some_values_are_missing() {
    for (member, low, high) in [
        ("year", 4.5, 7.5),
        ("city", 6.5, 9.5),
        ("studio", 3.5, 6.5),
        ("intro", 2.5, 5.5),
        ("description", 5.5, 8.5),
        ("design_language", 8.5, 11.5),
    ] {
        assert_percent(member, percent(|record| !record.contains_key(member)), low, high);
    }
    assert_percent("note", percent(|record| record["provenance"].get("note").is_none()), 36.0, 44.0);
    for dimension in Dimension::ALL.map(Dimension::as_str) {
        assert_percent(dimension, percent(|record| record["taste"].get(dimension).is_none()), 9.5, 14.5);
    }
}

#[test]
fn names_repeat_rarely() {
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut works = HashSet::new();
    for record in DEMO.iter() {
        let name = text(record, "name").unwrap();
        *names.entry(name).or_default() += 1;
        assert!(works.insert((name, text(record, "studio"))), "{name} twice by one studio");
    }
    assert_percent("repeated names", percent(|record| names[text(record, "name").unwrap()] > 1), 0.0, 3.0);
    let first = |name: &&str| name.split(' ').next().unwrap_or_default().to_owned();
    let mut openings: HashMap<String, usize> = HashMap::new();
    names.keys().for_each(|name| *openings.entry(first(name)).or_default() += 1);
    let (word, count) = openings.iter().max_by_key(|(_, count)| **count).unwrap();
    assert!(*count < DEMO.len() / 20, "{count} names begin with {word}");
}

#[test]
fn many_studios_in_many_places() {
    let distinct =
        |member| DEMO.iter().filter_map(|record| text(record, member)).collect::<HashSet<_>>().len();
    assert!(distinct("studio") >= 350, "{}", distinct("studio"));
    assert!(distinct("city") >= 180, "{}", distinct("city"));
    let cities: BTreeSet<&str> =
        places::COUNTRIES.iter().flat_map(|country| &country.cities).map(|city| city.name).collect();
    for city in ["Zürich", "Łódź", "São Paulo", "Malmö", "Kraków", "Reykjavík"] {
        assert!(cities.contains(city), "{city}");
    }
    let has_asian_script =
        |record: &_| text(record, "name").unwrap().chars().any(|letter| letter >= '\u{3000}');
    assert_percent("names in Chinese, Japanese or Korean writing", percent(has_asian_script), 1.0, 6.0);
}

#[test]
fn intros_are_unique() {
    let mut seen = HashSet::new();
    for intro in DEMO.iter().filter_map(|record| text(record, "intro")) {
        assert!(seen.insert(intro), "{intro}");
    }
}

#[test]
fn sentences_repeat_rarely() {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for description in DEMO.iter().filter_map(|record| text(record, "description")) {
        let sentences = description.split('\n').flat_map(|paragraph| paragraph.split_inclusive(". "));
        let distinct: HashSet<&str> =
            sentences.map(str::trim).filter(|sentence| !sentence.is_empty()).collect();
        distinct.into_iter().for_each(|sentence| *uses.entry(sentence).or_default() += 1);
    }
    let limit = DEMO.len() / 200;
    let repeated: Vec<_> = uses.iter().filter(|(_, count)| **count > limit).collect();
    assert!(repeated.is_empty(), "in more than {limit} records: {repeated:?}");
    assert!(uses.len() > 8_000, "{} different sentences", uses.len());
}

#[test]
fn notes_repeat_rarely() {
    let mut notes: BTreeMap<&str, usize> = BTreeMap::new();
    DEMO.iter()
        .filter_map(|record| record["provenance"].get("note")?.as_str())
        .for_each(|note| *notes.entry(note).or_default() += 1);
    assert!(notes.len() > 200, "{} different notes", notes.len());
    let (note, count) = notes.iter().max_by_key(|(_, count)| **count).unwrap();
    assert!(*count <= DEMO.len() / 25, "{count} times: {note}");
}

#[test]
fn taste_has_a_limited_skewed_vocabulary() {
    for dimension in Dimension::ALL.map(Dimension::as_str) {
        let mut phrases: BTreeMap<&str, usize> = BTreeMap::new();
        let texts = DEMO.iter().filter_map(|record| record["taste"].get(dimension)?.as_str());
        texts.flat_map(|text| text.split(", ")).for_each(|phrase| *phrases.entry(phrase).or_default() += 1);
        assert!((40..=90).contains(&phrases.len()), "{dimension}: {} phrases: {phrases:?}", phrases.len());
        let mut counts: Vec<usize> = phrases.values().copied().collect();
        counts.sort_unstable();
        let (median, most) = (counts[counts.len() / 2], counts[counts.len() - 1]);
        assert!(most >= 3 * median, "{dimension} is not skewed: median {median}, most {most}");
    }
}
