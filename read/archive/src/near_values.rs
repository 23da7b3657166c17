//! The recorded values that are nearest to a text which no project has: for answers that find nothing.
//!
//! Values are compared as filters compare them. First come those that have its words, or whose words it has; then those that begin as it
//! does; only without any are spellings compared, and last single words. Each step reads the distinct values of a column once, so that an
//! answer of 1,000,000 projects takes some milliseconds, and some tens where spellings are compared.

use std::cmp::Reverse;

use lexical::EditDistance;
use text::{is_comma, is_stop_word};

use super::columns::texts::{Texts, value_of};
use super::columns::{Columns, TextColumn};
use super::facets::FacetValue;
use super::listing::Listing;

/// The maximum number of words that are compared one by one.
const MAX_WORDS: usize = 6;
/// Texts of at least this many characters may differ by two edits, shorter ones by one.
const TWO_EDITS_FROM: usize = 8;
/// The minimum length of the beginning of a word, and of a value within what was asked for, in characters.
const MIN_BEGINNING: usize = 3;
/// The minimum length of a word that may be spelled differently, or is compared alone, in characters.
const MIN_WORD: usize = 4;
/// A word that more values have than this says nothing alone, such as `studio`.
const MAX_WITH_WORD: usize = 20;

/// The regions of the world that are asked for as if they were places, in the form of values, without `the`.
const WORLD_REGIONS: &[&str] = &[
    "africa",
    "america",
    "americas",
    "antarctica",
    "arctic",
    "asia",
    "asia pacific",
    "balkans",
    "baltics",
    "benelux",
    "caribbean",
    "central america",
    "central asia",
    "central europe",
    "east africa",
    "east asia",
    "eastern europe",
    "eu",
    "eurasia",
    "europe",
    "european union",
    "far east",
    "global",
    "latin america",
    "mediterranean",
    "mena",
    "middle east",
    "near east",
    "nordic countries",
    "nordics",
    "north africa",
    "north america",
    "northern europe",
    "oceania",
    "pacific",
    "polynesia",
    "scandinavia",
    "south america",
    "south asia",
    "south east asia",
    "southeast asia",
    "southern africa",
    "southern europe",
    "sub saharan africa",
    "west africa",
    "western europe",
    "world",
    "worldwide",
];

/// What filters by texts compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// The whole place.
    City,
    /// A part of the place between commas.
    Place,
    /// The studio.
    Studio,
    /// The curator.
    Curator,
}

impl Listing {
    /// Returns at most `limit` recorded values that are nearest to a text that no listed project has, with the number of projects that
    /// have each: the nearest first, of equally near ones the most used.
    pub fn nearest_values(&self, kind: ValueKind, text: &str, limit: usize) -> Vec<FacetValue> {
        let columns = &self.snapshot.columns;
        let column = match kind {
            ValueKind::City | ValueKind::Place => TextColumn::City,
            ValueKind::Studio => TextColumn::Studio,
            ValueKind::Curator => TextColumn::Curator,
        };
        let texts = columns.texts(column);
        let spellings = spelling_counts(columns, column);
        let used = match kind {
            ValueKind::Place => places(texts, &spellings),
            ValueKind::City | ValueKind::Studio | ValueKind::Curator => values(texts, &spellings),
        };
        let shown = |found: Used<'_>| FacetValue {
            value: match kind {
                ValueKind::Place => part_of(texts.text(found.spelling), found.form).to_owned(),
                ValueKind::City | ValueKind::Studio | ValueKind::Curator => {
                    texts.text(found.spelling).to_owned()
                }
            },
            count: u64::from(found.projects),
        };
        nearest(&used, &value_of(text), limit).into_iter().map(shown).collect()
    }
}

/// Returns whether a text names a continent or another region of the world, which is never recorded as a place.
pub fn is_world_region(text: &str) -> bool {
    let value = value_of(text);
    let name = value.strip_prefix("the ").unwrap_or(&value);
    WORLD_REGIONS.contains(&name)
}

/// A value that listed projects have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Used<'t> {
    /// What it is compared by.
    form: &'t str,
    projects: u32,
    /// The number of the most frequent text that has it; of several the first in alphabetical order.
    spelling: u32,
}

/// Counts the listed projects by the number of their text in a column; at 0 are those without one.
fn spelling_counts(columns: &Columns, column: TextColumn) -> Vec<u32> {
    let mut counts = vec![0_u32; columns.texts(column).count() + 1];
    for chunk in columns.chunks() {
        chunk.texts(column).iter().for_each(|number| counts[*number as usize] += 1);
    }
    counts
}

/// Returns the value that some texts share, if a listed project has one of them.
fn used<'t>(
    texts: &'t Texts,
    counts: &[u32],
    form: &'t str,
    numbers: impl Iterator<Item = u32>,
) -> Option<Used<'t>> {
    let mut found: Option<Used<'t>> = None;
    for number in numbers.filter(|number| counts[*number as usize] > 0) {
        let count = counts[number as usize];
        match &mut found {
            None => found = Some(Used { form, projects: count, spelling: number }),
            Some(found) => {
                found.projects += count;
                let rank = |number: u32| (counts[number as usize], Reverse(texts.text(number)));
                if rank(number) > rank(found.spelling) {
                    found.spelling = number;
                }
            }
        }
    }
    found
}

fn values<'t>(texts: &'t Texts, counts: &[u32]) -> Vec<Used<'t>> {
    let firsts = (1..=texts.count() as u32).filter(|number| texts.first_of(*number) == *number);
    let value = |number| used(texts, counts, texts.value(number), texts.spellings(texts.value(number)));
    firsts.filter_map(value).collect()
}

fn places<'t>(texts: &'t Texts, counts: &[u32]) -> Vec<Used<'t>> {
    texts.parts().filter_map(|part| used(texts, counts, part, texts.containing(part))).collect()
}

/// Returns the part of a text between commas whose value is `form`.
fn part_of<'t>(text: &'t str, form: &str) -> &'t str {
    text.split(is_comma).map(str::trim).find(|part| value_of(part) == form).unwrap_or(text)
}

/// Returns the values that are nearest to what was asked for, in the form of values.
fn nearest<'t>(used: &[Used<'t>], asked: &str, limit: usize) -> Vec<Used<'t>> {
    if asked.is_empty() {
        return Vec::new();
    }
    let words: Vec<&str> = asked.split(' ').take(MAX_WORDS).collect();
    let mut found = ranked(used, |form| related(form, asked));
    if found.is_empty() {
        let mut asked = Spelling::of(asked);
        let mut spelled: Vec<Spelling<'_>> = words.iter().map(|word| Spelling::of(word)).collect();
        found = ranked(used, |form| asked.distance(form).or_else(|| each_word(&mut spelled, form)));
    }
    if found.is_empty() {
        found = with_rare_words(used, &words);
    }
    found.sort_unstable_by_key(|(rank, value)| (*rank, Reverse(value.projects), value.form));
    found.truncate(limit);
    found.into_iter().map(|(_, value)| value).collect()
}

/// Returns the values that have a rank; the lowest is the nearest.
fn ranked<'t>(used: &[Used<'t>], mut rank: impl FnMut(&str) -> Option<u32>) -> Vec<(u32, Used<'t>)> {
    used.iter().filter_map(|value| Some((rank(value.form)?, *value))).collect()
}

/// Returns 0 for a value that has all that was asked for as its words, 1 for one whose words are among it, or that has a word beginning
/// with it.
fn related(form: &str, asked: &str) -> Option<u32> {
    let is_long = |text: &str| text.chars().count() >= MIN_BEGINNING;
    if has_words(form, asked) {
        Some(0)
    } else if is_long(form) && has_words(asked, form) || is_long(asked) && begins_word(form, asked) {
        Some(1)
    } else {
        None
    }
}

/// Returns whether a form has some words one after the other.
fn has_words(form: &str, words: &str) -> bool {
    let ends = |at: usize| form[at + words.len()..].is_empty() || form[at + words.len()..].starts_with(' ');
    form.match_indices(words).any(|(at, _)| begins_at(form, at) && ends(at))
}

/// Returns whether a word of a form begins with a text.
fn begins_word(form: &str, text: &str) -> bool {
    form.match_indices(text).any(|(at, _)| begins_at(form, at))
}

fn begins_at(form: &str, at: usize) -> bool {
    form[..at].is_empty() || form[..at].ends_with(' ')
}

/// A text whose spelling may differ.
struct Spelling<'a> {
    text: &'a str,
    edits: EditDistance<'a>,
    /// Whether it is long enough to be spelled differently.
    is_long: bool,
}

impl<'a> Spelling<'a> {
    fn of(text: &'a str) -> Spelling<'a> {
        let length = text.chars().count();
        let edits = if length >= TWO_EDITS_FROM { 2 } else { 1 };
        Spelling { text, edits: EditDistance::new(text, edits), is_long: length >= MIN_WORD }
    }

    /// Returns by how many edits another text differs, if these are few.
    fn distance(&mut self, other: &str) -> Option<u32> {
        if self.is_long && self.edits.may_match(other) { self.edits.distance(other) } else { None }
    }
}

/// Returns a rank if a form has each of the words, or one that is spelled like it.
fn each_word(words: &mut [Spelling<'_>], form: &str) -> Option<u32> {
    let mut distance = 0;
    for word in words {
        let own = form.split(' ');
        let same = |own: &str| own == word.text || word.is_long && own.starts_with(word.text);
        if own.clone().any(same) {
            continue;
        }
        distance += own.filter_map(|own| word.distance(own)).min()?;
    }
    // After those that are spelled like the whole.
    Some(3 + distance)
}

/// Returns the values that have one of the words that few have; the more of them, the nearer.
fn with_rare_words<'t>(used: &[Used<'t>], words: &[&str]) -> Vec<(u32, Used<'t>)> {
    let mut found: Vec<(u32, Used<'t>)> = Vec::new();
    let says_something = |word: &&&str| word.chars().count() >= MIN_WORD && !is_stop_word(word);
    for word in words.iter().filter(says_something) {
        let with: Vec<&Used<'t>> =
            used.iter().filter(|value| has_words(value.form, word)).take(MAX_WITH_WORD + 1).collect();
        for value in with.iter().filter(|_| with.len() <= MAX_WITH_WORD) {
            match found.iter_mut().find(|(_, known)| known == *value) {
                Some((rank, _)) => *rank -= 1,
                None => found.push((MAX_WORDS as u32, **value)),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(values: &[(&'static str, u32)], asked: &str) -> Vec<String> {
        let used: Vec<Used<'_>> =
            values.iter().map(|(form, projects)| Used { form, projects: *projects, spelling: 1 }).collect();
        nearest(&used, asked, 3).into_iter().map(|value| value.form.to_owned()).collect()
    }

    #[test]
    fn values_that_have_the_words_come_first_then_the_most_used() {
        let cities = [
            ("tokyo japan", 8),
            ("tokyo 2 japan", 9),
            ("new tokyo town", 1),
            ("tokyoto", 50),
            ("kyoto japan", 5),
            ("ulm", 3),
        ];
        assert_eq!(near(&cities, "tokyo"), ["tokyo 2 japan", "tokyo japan", "new tokyo town"]);
        assert_eq!(near(&cities, "tokyo japan asia"), ["tokyo japan"]);
        assert_eq!(near(&cities, "tok"), ["tokyoto", "tokyo 2 japan", "tokyo japan"]);
        assert_eq!(near(&cities, "ul"), Vec::<String>::new(), "two letters begin too much");
        assert_eq!(near(&cities, ""), Vec::<String>::new());
    }

    #[test]
    fn spellings_are_compared_only_where_no_value_has_the_words() {
        let studios = [
            ("kengo kuma associates", 4),
            ("alto", 2),
            ("altos", 9),
            ("herzog de meuron", 7),
            ("studio meuron", 1),
        ];
        assert_eq!(near(&studios, "altto"), ["alto"], "five letters differ by one edit");
        let pairs = [("lindstroem", 9), ("lindstrom", 2)];
        assert_eq!(near(&pairs, "lindsstrom"), ["lindstrom", "lindstroem"], "one edit comes before two");
        assert_eq!(near(&[("ngo nho architects", 3)], "kengo"), Vec::<String>::new());
        assert_eq!(near(&studios, "kengo kumma"), ["kengo kuma associates"]);
        assert_eq!(near(&studios, "hertzog de meuron"), ["herzog de meuron"]);
        assert_eq!(near(&studios, "oma"), Vec::<String>::new(), "three letters are not spelled differently");
    }

    #[test]
    fn single_words_count_last_and_only_if_they_are_rare() {
        let many: Vec<String> = (0..30).map(|number| format!("studio n{number}")).collect();
        let mut used: Vec<Used<'_>> =
            many.iter().map(|form| Used { form, projects: 9, spelling: 1 }).collect();
        used.push(Used { form: "gehry partners", projects: 1, spelling: 1 });
        used.push(Used { form: "partners of ulm", projects: 5, spelling: 1 });
        let found = |asked| nearest(&used, asked, 3).into_iter().map(|value| value.form).collect::<Vec<_>>();
        assert_eq!(found("frank gehry studio"), ["gehry partners"]);
        assert_eq!(found("partners with gehry"), ["gehry partners", "partners of ulm"]);
        assert_eq!(found("studio frank"), Vec::<&str>::new());
    }

    #[test]
    fn regions_of_the_world_are_no_places() {
        for region in
            ["Europe", " ASIA ", "the Middle East", "South-East Asia", "Scandinavia", "The Americas"]
        {
            assert!(is_world_region(region), "{region}");
        }
        for place in ["Australia", "Japan", "Europa", "Georgia", ""] {
            assert!(!is_world_region(place), "{place}");
        }
    }

    #[test]
    fn a_part_is_shown_as_it_is_written() {
        assert_eq!(part_of("Ulm , GERMANY", "germany"), "GERMANY");
        assert_eq!(part_of("東京、日本", &value_of("日本")), "日本");
    }
}
