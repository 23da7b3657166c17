//! Known items: queries that are made of a record's own name or studio, and so want that record, or all of the studio.

use std::collections::HashSet;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use schemas::api::search::MAX_QUERY_CHARACTERS;

use super::words::{Folded, Record, fold, plain};
use super::{Kind, Question};

/// The most queries of a kind.
const DRAWN: usize = 200;
/// The least letters of a word in which there is a typing error, or that is not typed to its end.
const LONG: usize = 5;
/// The least letters that are left of an unfinished word.
const LEFT: usize = 3;
/// How often a typing error is made anew that is another word of the catalog.
const ATTEMPTS: usize = 10;

/// A record with a name that no other has.
struct Named<'r> {
    record: &'r Record,
    /// The folded name.
    folded: String,
}

/// The records from which is drawn, and what decides whether a query can only mean one of them.
struct Drawing<'r> {
    records: &'r [Record],
    named: Vec<Named<'r>>,
    /// All folded names, sorted.
    names: Vec<String>,
    /// All folded words.
    vocabulary: HashSet<&'r str>,
}

/// Draws known items of every kind; a seed always gives the same of the same records.
pub(super) fn draw(records: &[Record], seed: u64) -> Vec<Question> {
    let drawing = Drawing::new(records);
    let kinds =
        [Kind::ExactName, Kind::NameWithoutAccents, Kind::NameWithTypo, Kind::UnfinishedName, Kind::Studio];
    // Each kind has a generator of its own, so that a change of one leaves the others.
    kinds.into_iter().flat_map(|kind| drawing.of_kind(kind, &mut StdRng::seed_from_u64(seed))).collect()
}

impl<'r> Drawing<'r> {
    fn new(records: &'r [Record]) -> Drawing<'r> {
        let mut names: Vec<String> = records.iter().map(|record| fold(&record.name).text).collect();
        let named = |(record, folded): (&'r Record, &String)| Named { record, folded: folded.clone() };
        let mut named: Vec<Named<'r>> = records.iter().zip(&names).map(named).collect();
        names.sort_unstable();
        named.retain(|Named { record, folded }| {
            let is_legal = record.name.chars().count() <= MAX_QUERY_CHARACTERS && !folded.is_empty();
            is_legal && beginning_with(&names, folded).take_while(|name| *name == folded).count() == 1
        });
        let vocabulary = records.iter().flat_map(Record::words).map(String::as_str).collect();
        Drawing { records, named, names, vocabulary }
    }

    fn of_kind(&self, kind: Kind, random: &mut StdRng) -> Vec<Question> {
        if kind == Kind::Studio {
            return self.studios(random);
        }
        let mut named: Vec<&Named<'_>> = self.named.iter().collect();
        named.shuffle(random);
        let question = |named: &Named<'_>| {
            let name = &named.record.name;
            let query = match kind {
                Kind::NameWithoutAccents => Some(plain(name)).filter(|plain| *plain != name.to_lowercase()),
                Kind::NameWithTypo => with_typo(&unquoted(name), &self.vocabulary, random),
                Kind::UnfinishedName => unfinished(&unquoted(name), random)
                    .filter(|query| beginning_with(&self.names, &fold(query).text).count() == 1),
                _ => Some(name.clone()),
            };
            Some(Question { kind, query: query?, wanted: [named.record.slug.clone()].into() })
        };
        named.into_iter().filter_map(question).take(DRAWN).collect()
    }

    /// Draws studios. All records are wanted in whose studio the words of this one are.
    fn studios(&self, random: &mut StdRng) -> Vec<Question> {
        let studio =
            |record: &'r Record| record.studio.as_deref().map(|studio| (record, studio, fold(studio)));
        let all: Vec<_> = self.records.iter().filter_map(studio).collect();
        let mut seen = HashSet::new();
        let is_legal = |text: &str| !text.is_empty() && text.chars().count() <= MAX_QUERY_CHARACTERS;
        let mut studios: Vec<_> = all
            .iter()
            .filter(|(_, studio, folded)| is_legal(studio) && seen.insert(&folded.text))
            .filter(|(_, _, folded)| !folded.text.is_empty())
            .collect();
        studios.shuffle(random);
        let question = |(_, studio, folded): &(&Record, &str, Folded)| {
            let has_all = |words: &HashSet<String>| folded.text.split(' ').all(|word| words.contains(word));
            let wanted = all.iter().filter(|(_, _, other)| has_all(&other.words));
            let wanted = wanted.map(|(record, ..)| record.slug.clone()).collect();
            Question { kind: Kind::Studio, query: (*studio).to_owned(), wanted }
        };
        studios.into_iter().take(DRAWN).map(question).collect()
    }
}

/// Returns those of the sorted names that begin with a text.
fn beginning_with<'n>(names: &'n [String], start: &str) -> impl Iterator<Item = &'n String> {
    let first = names.partition_point(|name| name.as_str() < start);
    names[first..].iter().take_while(move |name| name.starts_with(start))
}

/// Returns a name without quotes: words within them are a phrase, which has no typing errors and no unfinished words.
fn unquoted(name: &str) -> String {
    let quote = |c: char| matches!(c, '"' | '«' | '»' | '“' | '”' | '„');
    name.replace(quote, " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes one typing error in a word of five letters or more: two neighbours swapped, a letter left out, or another in its place.
/// The first letter stays. `None` if there is no such word, or if every error leads to a word of the vocabulary.
fn with_typo(text: &str, vocabulary: &HashSet<&str>, random: &mut StdRng) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let words = long_words(&letters);
    for _ in 0..ATTEMPTS {
        let &(start, end) = words.get(random.random_range(0..words.len().max(1)))?;
        let at = random.random_range(start + 1..end - 1);
        let mut changed = letters.clone();
        match random.random_range(0..3) {
            0 => changed.swap(at, at + 1),
            1 => drop(changed.remove(at)),
            _ => changed[at] = char::from(random.random_range(b'a'..=b'z')),
        }
        let changed_end = end + changed.len() - letters.len();
        let word: String = changed[start..changed_end].iter().collect();
        let is_another = plain(&word) != plain(&letters[start..end].iter().collect::<String>());
        if is_another && !vocabulary.contains(plain(&word).as_str()) {
            return Some(changed.into_iter().collect());
        }
    }
    None
}

/// Returns the beginnings and ends of words of five Latin letters or more.
fn long_words(letters: &[char]) -> Vec<(usize, usize)> {
    let is_latin = |c: &char| c.is_alphabetic() && *c < '\u{250}';
    let (mut words, mut start) = (Vec::new(), 0);
    for run in letters.chunk_by(|one, other| is_latin(one) == is_latin(other)) {
        if run.first().is_some_and(is_latin) && run.len() >= LONG {
            words.push((start, start + run.len()));
        }
        start += run.len();
    }
    words
}

/// Leaves out the end of the last word; `None` if it is the only word, or if it is short.
fn unfinished(text: &str, random: &mut StdRng) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let &(start, end) = long_words(&letters).last()?;
    let is_last = end == letters.len() && letters[..start].contains(&' ');
    let kept = is_last.then(|| random.random_range(start + LEFT..end))?;
    Some(letters[..kept].iter().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn records() -> Vec<Record> {
        let names =
            ["Stair House", "Twin", "Twin", "Casa Łódź", "The \"Round\" Table", "Stair Hut", "The Rounds"];
        let record = |(number, name): (usize, &&str)| {
            let studio = ["Nord", "Nord & Süd", "Süd"][number % 3];
            Record::new(&json!({"slug": number.to_string(), "name": name, "studio": studio})).unwrap()
        };
        names.iter().enumerate().map(record).collect()
    }

    /// Returns the queries of a kind with what they want, sorted.
    fn drawn(kind: Kind, seed: u64) -> Vec<(String, Vec<String>)> {
        let questions = draw(&records(), seed).into_iter().filter(|question| question.kind == kind);
        let mut drawn: Vec<_> = questions
            .map(|Question { query, wanted, .. }| {
                let mut wanted: Vec<String> = wanted.into_iter().collect();
                wanted.sort_unstable();
                (query, wanted)
            })
            .collect();
        drawn.sort_unstable();
        drawn
    }

    fn expected(of: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        let slugs = |slugs: &[&str]| slugs.iter().map(|slug| (*slug).to_owned()).collect();
        of.iter().map(|(query, wanted)| ((*query).to_owned(), slugs(wanted))).collect()
    }

    #[test]
    fn a_name_that_two_records_have_is_not_drawn() {
        let names: &[(&str, &[&str])] = &[
            ("Casa Łódź", &["3"]),
            ("Stair House", &["0"]),
            ("Stair Hut", &["5"]),
            ("The \"Round\" Table", &["4"]),
            ("The Rounds", &["6"]),
        ];
        assert_eq!(drawn(Kind::ExactName, 1), expected(names));
        assert_eq!(drawn(Kind::NameWithoutAccents, 1), expected(&[("casa lodz", &["3"])]));
    }

    #[test]
    fn a_studio_wants_all_that_have_its_words() {
        let studios: &[(&str, &[&str])] = &[
            ("Nord", &["0", "1", "3", "4", "6"]),
            ("Nord & Süd", &["1", "4"]),
            ("Süd", &["1", "2", "4", "5"]),
        ];
        assert_eq!(drawn(Kind::Studio, 1), expected(studios));
    }

    #[test]
    fn the_same_seed_makes_the_same_errors() {
        let vocabulary = ["stair", "house", "hose"].into();
        let of = |seed| {
            let mut random = StdRng::seed_from_u64(seed);
            (0..50)
                .map(|_| with_typo("Stair House 12", &vocabulary, &mut random).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        let is_near = |text: &String| {
            let (words, first) = (text.split(' ').collect::<Vec<_>>(), |word: &str| word.chars().next());
            let lengths = text.len() == 14 || text.len() == 13;
            let is_one_changed = (words[0] == "Stair") != (words[1] == "House");
            lengths && is_one_changed && first(words[0]) == Some('S') && first(words[1]) == Some('H')
        };
        assert!(of(7).iter().all(is_near), "{:?}", of(7));
        assert!(!of(7).contains(&"Stair Hose 12".to_owned()));
    }

    #[test]
    fn short_words_and_other_scripts_have_no_errors() {
        let mut random = StdRng::seed_from_u64(1);
        for text in ["", "Oak Hut 12345", "東京都庭園美術館"] {
            assert_eq!(with_typo(text, &HashSet::new(), &mut random), None, "{text}");
        }
    }

    #[test]
    fn an_unfinished_name_begins_only_one_name() {
        for (query, wanted) in drawn(Kind::UnfinishedName, 3) {
            // `The Rounds` is not the beginning of `The "Round" Table`, but `The Round` is.
            assert!(["0", "4"].contains(&wanted[0].as_str()), "{query}");
            assert!(query.starts_with("Stair Hou") || query.starts_with("The Round Tab"), "{query}");
        }
        assert_eq!(unfinished("House", &mut StdRng::seed_from_u64(1)), None);
        assert_eq!(unfinished("A House (2)", &mut StdRng::seed_from_u64(1)), None);
    }
}
