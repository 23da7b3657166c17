//! What the application of a mapping counts, and the sentences about it: each value that could not be used once, with how often.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::mapping::Mapping;
use crate::member::{Member, nearest};
use crate::path::{Path, collect_paths};
use crate::source::Source;
use crate::values::{Unread, Values};

/// The maximum number of distinct texts that are counted by themselves; further ones are counted together.
const MAX_DISTINCT: usize = 10_000;

/// The maximum number of bytes of the distinct texts that are counted by themselves, since one text may be a page long.
const MAX_BYTES: usize = 4 << 20;

/// The number of records whose paths are collected: what is not mapped, and what is near to a path that no record has.
const SAMPLED: u64 = 1_000;

/// How many values a sentence lists.
const LISTED: usize = 20;

/// Texts with how often each occurs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    counts: BTreeMap<String, u64>,
    /// The number of bytes of these texts.
    bytes: usize,
    /// The occurrences of texts that were not counted by themselves.
    others: u64,
}

/// What was counted over all records.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The file name of the mapping.
    mapping: String,
    /// The number of source records.
    pub records: u64,
    /// The number of records that became import records.
    pub mapped: u64,
    /// The rejected records by reason.
    pub rejected: Counts,
    /// The number of records with a sure year.
    pub sure_years: u64,
    /// The texts of those whose year is not sure.
    pub unsure_years: Counts,
    /// The number of records without any text for a year.
    pub without_year: u64,
    /// The values that are in no table, by member.
    misses: BTreeMap<Member, Misses>,
    /// The texts that a member could not take, by member and reason.
    left_out: BTreeMap<(Member, &'static str), Counts>,
    /// The number of pictures.
    pub pictures: u64,
    /// The pictures that cannot be used, by reason: how many, and the first of them.
    pub refused_pictures: BTreeMap<&'static str, (u64, String)>,
    /// The number of mapped records without a picture.
    pub without_picture: u64,
    /// The number of mapped records without a city.
    pub without_city: u64,
    /// The number of mapped records with neither intro nor description.
    pub without_text: u64,
    unseen: Vec<Path>,
    paths: BTreeSet<String>,
}

#[derive(Debug, Clone, Default)]
struct Misses {
    /// The name of the table's section, if it has one.
    table: Option<String>,
    values: Counts,
    without_value: u64,
}

impl Counts {
    fn add(&mut self, text: &str) {
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if self.counts.len() < MAX_DISTINCT && self.bytes + text.len() <= MAX_BYTES {
            self.bytes += text.len();
            self.counts.insert(text.to_owned(), 1);
        } else {
            self.others += 1;
        }
    }

    /// Returns how often any text occurred.
    pub fn total(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.others
    }

    /// Returns the texts with their counts, the most frequent first; of equally frequent ones in the order of the alphabet.
    pub fn by_frequency(&self) -> Vec<(&str, u64)> {
        let mut counts: Vec<_> = self.counts.iter().map(|(text, count)| (text.as_str(), *count)).collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

impl Summary {
    pub(crate) fn new(mapping: &Mapping) -> Summary {
        Summary {
            mapping: mapping.source.clone(),
            records: 0,
            mapped: 0,
            rejected: Counts::default(),
            sure_years: 0,
            unsure_years: Counts::default(),
            without_year: 0,
            misses: BTreeMap::new(),
            left_out: BTreeMap::new(),
            pictures: 0,
            refused_pictures: BTreeMap::new(),
            without_picture: 0,
            without_city: 0,
            without_text: 0,
            unseen: mapping.columns().into_iter().cloned().collect(),
            paths: BTreeSet::new(),
        }
    }

    /// Counts a source record, and looks for the paths that were in none before.
    pub(crate) fn see(&mut self, record: &Map<String, Value>) {
        self.records += 1;
        self.unseen.retain(|path| !path.find(record, &[]).exists);
        if self.records <= SAMPLED {
            collect_paths(record, &mut self.paths);
        }
    }

    /// Counts what a member could not take. `text` is what it took.
    pub(crate) fn member(&mut self, member: Member, source: &Source, values: &Values, text: Option<&str>) {
        for unread in &values.unread {
            match unread {
                Unread::NotInTable(text) => {
                    let misses = self.misses.entry(member).or_default();
                    misses.table = source.table.as_ref().and_then(|table| table.name.clone());
                    match text {
                        Some(text) => misses.values.add(text),
                        None => misses.without_value += 1,
                    }
                }
                Unread::NotADay(text) => {
                    self.left_out(member, text, "is not a day in the form that date names")
                }
                Unread::UnsureYear(text) if member.name() != "year" => {
                    self.left_out(member, text, "is not a sure year");
                }
                Unread::UnsureYear(_) => {}
            }
        }
        if member.name() == "year" {
            let unsure = values.unread.iter().find_map(|unread| match unread {
                Unread::UnsureYear(text) => Some(text),
                _ => None,
            });
            match (text, unsure.cloned().or_else(|| values.joined())) {
                (Some(_), _) => self.sure_years += 1,
                (None, Some(text)) => self.unsure_years.add(&text),
                (None, None) => self.without_year += 1,
            }
        }
    }

    /// Counts a text that a member cannot take.
    pub(crate) fn left_out(&mut self, member: Member, text: &str, reason: &'static str) {
        self.left_out.entry((member, reason)).or_default().add(text);
    }

    /// Returns the columns of the first 1,000 records, or their paths with `[]` for the elements of lists, in alphabetical order and at
    /// most 2,000 of them: what [`Mapping::unused_columns`] is asked about where there are no headings.
    pub fn paths(&self) -> Vec<String> {
        self.paths.iter().cloned().collect()
    }

    /// Returns the columns or paths that the mapping reads and no record has.
    pub fn unseen_paths(&self) -> impl Iterator<Item = &str> {
        self.unseen.iter().map(Path::as_str)
    }

    pub(crate) fn rejected(&mut self, reasons: &[String]) {
        for reason in reasons {
            self.rejected.add(reason);
        }
    }

    /// Counts an import record.
    pub(crate) fn mapped(&mut self, members: &Map<String, Value>) {
        let has = |member: &str| members.contains_key(member);
        let pictures = members.get("pictures").and_then(Value::as_array).map_or(0, Vec::len);
        self.mapped += 1;
        self.pictures += u64::try_from(pictures).unwrap_or(u64::MAX);
        self.without_picture += u64::from(pictures == 0);
        self.without_city += u64::from(!has("city"));
        self.without_text += u64::from(!has("intro") && !has("description"));
    }

    /// Counts a picture that cannot be used.
    pub(crate) fn refused_picture(&mut self, source: &str, reason: &'static str) {
        let (count, _) = self.refused_pictures.entry(reason).or_insert_with(|| (0, source.to_owned()));
        *count += 1;
    }

    /// Returns the sentences about what was not sure, not used or not there, in the order of the mapping's sections.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.records > 0 {
            sentences.extend(self.unseen.iter().map(|path| self.about_unseen(path.as_str())));
        }
        sentences.extend(self.misses.iter().map(|(member, misses)| self.about_misses(*member, misses)));
        if self.sure_years + self.unsure_years.total() > 0 {
            sentences.push(self.about_years());
        }
        for ((member, reason), texts) in &self.left_out {
            let (first, _) = texts.by_frequency().first().copied().unwrap_or_default();
            let all = records(texts.total());
            sentences.push(format!("{member}: left out in {all}, for example “{first}”, which {reason}."));
        }
        for (reason, (count, first)) in &self.refused_pictures {
            sentences.push(format!(
                "Pictures: {} refused, for example “{first}”, which {reason}.",
                grouped(*count)
            ));
        }
        sentences
    }

    fn about_unseen(&self, path: &str) -> String {
        match nearest(path, self.paths.iter().map(String::as_str)) {
            Some(near) => format!("The path {path} is in no record; there is {near}."),
            None => format!("The path {path} is in no record."),
        }
    }

    fn about_misses(&self, member: Member, misses: &Misses) -> String {
        let values = misses.values.by_frequency();
        let mut parts: Vec<String> =
            values.iter().take(LISTED).map(|(text, count)| format!("{} “{text}”", grouped(*count))).collect();
        let listed: u64 = values.iter().take(LISTED).map(|(_, count)| count).sum();
        let others = misses.values.total() - listed;
        if others > 0 {
            parts.push(format!("{} others", grouped(others)));
        }
        if misses.without_value > 0 {
            parts.push(format!("{} no value", grouped(misses.without_value)));
        }
        let first = parts.first_mut();
        if let Some(first) = first {
            let (count, text) = first.split_once(' ').unwrap_or((first, ""));
            let have = if count == "1" { "record has" } else { "records have" };
            *first = format!("{count} {have} {text}");
        }
        let mut name = member.name().to_owned();
        if let Some(initial) = name.get_mut(..1) {
            initial.make_ascii_uppercase();
        }
        let table = match &misses.table {
            Some(table) => format!("[tables.{table}] of {}", self.mapping),
            None => format!("the table of {member} in {}", self.mapping),
        };
        match values.is_empty() {
            true => format!("{name}: {}. Give it a default in {}.", parts.join(", "), self.mapping),
            false => format!("{name}: {}. Add them to {table} or give it a default.", parts.join(", ")),
        }
    }

    fn about_years(&self) -> String {
        let unsure = self.unsure_years.by_frequency();
        let examples: Vec<String> = unsure
            .iter()
            .take(3)
            .enumerate()
            .map(|(number, (text, count))| match number {
                0 => format!("“{text}” {}", times(*count)),
                _ => format!("“{text}” {}", grouped(*count)),
            })
            .collect();
        let examples =
            if examples.is_empty() { String::new() } else { format!(" ({})", examples.join(", ")) };
        format!(
            "Year: {} sure, {} kept as text{examples}, {} without.",
            grouped(self.sure_years),
            grouped(self.unsure_years.total()),
            grouped(self.without_year)
        )
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".into() } else { format!("{} times", grouped(count)) }
}

fn records(count: u64) -> String {
    if count == 1 { "1 record".into() } else { format!("{} records", grouped(count)) }
}

/// Returns a number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_texts_are_counted_by_themselves_up_to_a_number_and_a_size() {
        let counted = |number: usize, length: usize| {
            let mut counts = Counts::default();
            let padding = "0".repeat(length - 8);
            (0..number).for_each(|text| counts.add(&format!("{padding}{text:08}")));
            // One that is known is counted in any case.
            counts.add(&format!("{padding}{:08}", 0));
            (counts.counts.len(), counts.by_frequency().first().map(|(_, count)| *count), counts.total())
        };
        assert_eq!(counted(10_001, 8), (10_000, Some(2), 10_002));
        assert_eq!(counted(50, 1 << 18), (16, Some(2), 51));
    }
}
