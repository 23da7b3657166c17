//! Suggestions while a text is typed, compared with a scan of all records.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::vocabulary::RecountPolicy;
use super::*;

/// Texts and what they are compared by.
const STUDIOS: [(&str, &str); 6] = [
    ("Ålto & Co", "alto co"),
    ("ALTO and CO.", "alto co"),
    ("Studio Alto", "studio alto"),
    ("Oak Co", "oak co"),
    ("And", "and"),
    ("***", "***"),
];
const CITIES: [(&str, &str); 4] = [
    ("Ulm, Germany", "ulm germany"),
    ("Köln, Germany", "koln germany"),
    ("Altona", "altona"),
    ("São Alto", "sao alto"),
];
/// Words, none an inflected form of another.
const WORDS: [&str; 4] = ["oak", "alder", "Béton", "studio"];
const TYPED: [&str; 17] = [
    "a",
    "al",
    "ALT",
    "alto c",
    "alto & c",
    "Alto and C",
    "and",
    "co",
    "o",
    "oak",
    "germany",
    "ulm, g",
    "kö",
    "bet",
    "studio",
    "studio alto x",
    "z",
];

/// A record by indices.
#[derive(Debug, Clone, Copy)]
struct Entry {
    studio: Option<usize>,
    city: Option<usize>,
    material: Option<usize>,
    mood: Option<usize>,
}

#[derive(Debug, Clone)]
enum Change {
    Record(u64, Entry),
    Withdraw(u64),
    Restore(u64),
}

#[derive(Debug, Default)]
struct Model(BTreeMap<u64, (Entry, bool)>);

impl Entry {
    fn record(self) -> Record {
        let mut record = json!({
            "name": "X", "category": "art", "studio": self.studio.map(|at| STUDIOS[at].0), "city": self.city.map(|at| CITIES[at].0),
        });
        let taste = [("material", self.material), ("mood", self.mood)];
        for (dimension, word) in taste.into_iter().filter_map(|(name, word)| Some((name, word?))) {
            record["taste"][dimension] = WORDS[word].into();
        }
        serde_json::from_value(record).unwrap()
    }
}

impl Model {
    fn apply(&mut self, change: &Change) -> Option<NumberedEvent> {
        match *change {
            Change::Record(number, entry) => match self.0.get_mut(&number) {
                Some((known, _)) => {
                    *known = entry;
                    Some(revised(number, entry.record()))
                }
                None => {
                    self.0.insert(number, (entry, true));
                    Some(selected(number, &format!("p{number}"), entry.record()))
                }
            },
            Change::Withdraw(number) => {
                self.0.get_mut(&number)?.1 = false;
                Some(withdrawn(number))
            }
            Change::Restore(number) => {
                self.0.get_mut(&number)?.1 = true;
                Some(restored(number))
            }
        }
    }

    fn listed(&self) -> impl Iterator<Item = Entry> {
        self.0.values().filter(|(_, is_listed)| *is_listed).map(|(entry, _)| *entry)
    }

    /// Returns what begins with `typed`, by kind.
    fn completions(&self, typed: &str) -> [Vec<Suggestion>; 3] {
        let of = |texts: &'static [(&str, &str)], at: fn(Entry) -> Option<usize>| {
            let mut counts: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
            for (text, value) in self.listed().filter_map(at).map(|at| texts[at]) {
                *counts.entry(value).or_default().entry(text).or_default() += 1;
            }
            let used = counts.into_iter().map(|(value, spellings)| {
                let most = spellings.iter().max_by_key(|(text, count)| (**count, Reverse(**text))).unwrap();
                (Reverse(spellings.values().sum()), value.to_owned(), (*most.0).to_owned())
            });
            begun(used.collect(), typed)
        };
        let plain = |kind: SuggestionKind| move |text: String| Suggestion { text, kind: kind.clone() };
        let studios = of(&STUDIOS, |entry| entry.studio).into_iter().map(plain(SuggestionKind::Studio));
        let cities = of(&CITIES, |entry| entry.city).into_iter().map(plain(SuggestionKind::City));
        [studios.collect(), cities.collect(), self.terms(typed)]
    }

    fn terms(&self, typed: &str) -> Vec<Suggestion> {
        let used = (0..WORDS.len()).filter_map(|word| {
            let count = |of: fn(Entry) -> Option<usize>| {
                self.listed().filter(|entry| of(*entry) == Some(word)).count() as u64
            };
            let most = count(|entry| entry.material).max(count(|entry| entry.mood));
            (most > 0).then(|| (Reverse(most), text::fold(WORDS[word]), WORDS[word].to_lowercase()))
        });
        let term = |word: String| {
            let count = |of: fn(Entry) -> Option<usize>| {
                self.listed()
                    .filter(|entry| of(*entry).is_some_and(|at| WORDS[at].to_lowercase() == word))
                    .count()
            };
            let (material, mood) = (count(|entry| entry.material), count(|entry| entry.mood));
            let dimension = if mood > material { Dimension::Mood } else { Dimension::Material };
            Suggestion { text: word, kind: SuggestionKind::Term(dimension) }
        };
        begun(used.collect(), typed).into_iter().map(term).collect()
    }
}

/// Returns the texts of which a word begins with `typed`, in order: those that begin with it, then the others.
fn begun(used: Vec<(Reverse<u64>, String, String)>, typed: &str) -> Vec<String> {
    let typed = text::comparison_form(typed);
    let place = |value: &str| {
        let words: Vec<&str> = value.split(' ').collect();
        (0..words.len()).find(|from| words[*from..].join(" ").starts_with(&typed)).map(|from| from > 0)
    };
    let placed =
        used.into_iter().filter_map(|(count, value, text)| Some((place(&value)?, count, value, text)));
    let mut placed: Vec<_> = placed.collect();
    placed.sort();
    placed.into_iter().map(|(.., text)| text).collect()
}

/// Returns the first of each kind by turns, in the order of the kinds.
fn by_turns(found: [Vec<Suggestion>; 3], limit: usize) -> Vec<Suggestion> {
    let mut turns: Vec<(usize, usize)> = Vec::new();
    for turn in 0..limit {
        turns.extend((0..3).filter(|kind| found[*kind].len() > turn).map(|kind| (turn, kind)));
    }
    turns.truncate(limit);
    turns.sort_by_key(|(turn, kind)| (*kind, *turn));
    turns.into_iter().map(|(turn, kind)| found[kind][turn].clone()).collect()
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let some = |count: usize| proptest::option::weighted(0.8, 0..count);
    let entry = (some(6), some(4), some(4), some(4)).prop_map(|(studio, city, material, mood)| Entry {
        studio,
        city,
        material,
        mood,
    });
    let number = 0..24_u64;
    let change = prop_oneof![
        5 => (number.clone(), entry).prop_map(|(number, entry)| Change::Record(number, entry)),
        2 => number.clone().prop_map(Change::Withdraw),
        1 => number.prop_map(Change::Restore),
    ];
    proptest::collection::vec(change, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn suggestions_are_those_of_a_scan(rounds in proptest::collection::vec(changes(), 1..4), limit in 1..21_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut archive, mut model) = (Archive::new().await, Model::default());
            // Its words are counted once, before the last round.
            let mut stale = None;
            for changes in rounds {
                let events: Vec<NumberedEvent> = changes.iter().filter_map(|change| model.apply(change)).collect();
                archive.apply(&events).await;
                let policy = RecountPolicy { always_up_to: 0, interval: u32::MAX };
                let stale = stale.get_or_insert(archive.reopened().await.with_recount(policy));
                stale.refresh().await.unwrap();
                for typed in TYPED {
                    let expected = model.completions(typed);
                    assert_eq!(archive.reader.listing().suggest(typed, limit), by_turns(expected, limit), "{typed}");
                    let listed = model.completions("").concat();
                    for one in stale.listing().suggest(typed, limit) {
                        let form = |one: &Suggestion| text::comparison_form(&one.text);
                        let is_same = |other: &Suggestion| form(other) == form(&one);
                        assert!(listed.iter().any(is_same), "{typed}: {one:?} is in no listed project");
                    }
                }
            }
        });
    }
}

#[tokio::test]
async fn a_text_without_words_suggests_nothing() {
    let archive = Archive::of(&[with_text(1, Dimension::Mood, "calm")]).await;
    let suggest = |text, limit| archive.reader.listing().suggest(text, limit);
    let calm = Suggestion { text: "calm".into(), kind: SuggestionKind::Term(Dimension::Mood) };
    assert_eq!(suggest("ca", 8), [calm]);
    assert_eq!([suggest("", 8), suggest(" *** ", 8), suggest("ca", 0)], [const { Vec::new() }; 3]);
}
