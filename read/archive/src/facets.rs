//! Facets: how many projects of a set have each value.

use std::sync::{Arc, OnceLock};

use lexical::OrdinalSet;
use schemas::record::Category;
use schemas::taste::Dimension;
use serde::Serialize;
use text::{fold, is_stop_word};

use super::blocks::Block;
use super::columns::chunk::LAST_YEAR;
use super::columns::texts::Texts;
use super::columns::{Columns, TextColumn};
use super::dictionary::{Dictionary, StemKey, TermKind};
use super::snapshot::Snapshot;

/// The maximum number of values of a facet.
pub const MAX_FACET_VALUES: usize = 20;

/// What projects are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Facet {
    /// The category.
    Category,
    /// The place as it is recorded.
    City,
    /// The studio.
    Studio,
    /// The curator.
    Curator,
    /// The year.
    Year,
    /// The words of a taste dimension, inflected forms together.
    Taste(Dimension),
}

/// The values of a facet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetCounts {
    /// The facet.
    pub facet: Facet,
    /// The most frequent values, at most [`MAX_FACET_VALUES`]; equally frequent ones in the order of their folded texts.
    pub values: Vec<FacetValue>,
}

/// A value and the number of projects that have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FacetValue {
    /// The value: of a text its most frequent spelling among the counted projects, of a word its most frequent form in the archive.
    pub value: String,
    /// The number of projects.
    pub count: u64,
}

impl Facet {
    /// The number of facets.
    pub const COUNT: usize = 5 + Dimension::COUNT;

    /// All facets in display order.
    pub const ALL: [Facet; Facet::COUNT] = {
        let mut all = [Facet::Category; Facet::COUNT];
        (all[1], all[2], all[3], all[4]) = (Facet::City, Facet::Studio, Facet::Curator, Facet::Year);
        let mut at = 0;
        while at < Dimension::COUNT {
            all[5 + at] = Facet::Taste(Dimension::ALL[at]);
            at += 1;
        }
        all
    };

    /// Returns the name in requests and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Facet::Category => "category",
            Facet::City => "city",
            Facet::Studio => "studio",
            Facet::Curator => "curator",
            Facet::Year => "year",
            Facet::Taste(dimension) => dimension.as_str(),
        }
    }

    /// Returns the index in [`Facet::ALL`].
    fn index(self) -> usize {
        match self {
            Facet::Category => 0,
            Facet::City => 1,
            Facet::Studio => 2,
            Facet::Curator => 3,
            Facet::Year => 4,
            Facet::Taste(dimension) => 5 + dimension.index(),
        }
    }

    /// Parses a name, ignoring case and surrounding white space.
    pub fn parse(text: &str) -> Option<Facet> {
        Facet::ALL.into_iter().find(|facet| facet.as_str().eq_ignore_ascii_case(text.trim()))
    }
}

/// The counts of all projects of a snapshot by each facet of [`Facet::ALL`], each counted when it is first asked for: front pages show
/// them.
#[derive(Debug, Default)]
pub(super) struct AllCounts([OnceLock<FacetCounts>; Facet::COUNT]);

impl AllCounts {
    /// Counts the projects by a facet. The snapshot, and the set of all its projects that `all` returns, are the same at each call.
    pub(super) fn get(
        &self,
        snapshot: &Snapshot,
        facet: Facet,
        all: impl Fn() -> Arc<OrdinalSet>,
    ) -> &FacetCounts {
        self.0[facet.index()].get_or_init(|| count(snapshot, &all(), facet))
    }
}

/// Counts the projects of a set by the values of a facet.
pub(super) fn count(snapshot: &Snapshot, set: &OrdinalSet, facet: Facet) -> FacetCounts {
    let columns = &snapshot.columns;
    let values = match facet {
        Facet::Category => categories(columns, set),
        Facet::City => texts(columns, set, TextColumn::City),
        Facet::Studio => texts(columns, set, TextColumn::Studio),
        Facet::Curator => texts(columns, set, TextColumn::Curator),
        Facet::Year => years(columns, set),
        Facet::Taste(dimension) => words(snapshot, set, dimension),
    };
    FacetCounts { facet, values }
}

fn categories(columns: &Columns, set: &OrdinalSet) -> Vec<FacetValue> {
    let mut tally = Tally::new(Category::ALL.len());
    for chunk in columns.chunks() {
        chunk.for_each_in(set, |row| tally.add(u32::from(chunk.categories[row]), 1));
    }
    let name = |index: u32| Category::ALL[index as usize].as_str();
    tally.most(name, |_| true).into_iter().map(|found| value(found.key, found.count)).collect()
}

fn years(columns: &Columns, set: &OrdinalSet) -> Vec<FacetValue> {
    // What is no year counts as the number after the last one: a tally is set to zero for each request.
    let mut tally = Tally::new(usize::from(LAST_YEAR) + 2);
    for chunk in columns.chunks() {
        chunk.for_each_in(set, |row| tally.add(u32::from(chunk.years[row].min(LAST_YEAR + 1)), 1));
    }
    let found = tally.most(|year| year, |year| year <= u32::from(LAST_YEAR));
    found.into_iter().map(|found| value(&format!("{:04}", found.key), found.count)).collect()
}

fn texts(columns: &Columns, set: &OrdinalSet, column: TextColumn) -> Vec<FacetValue> {
    let texts = columns.texts(column);
    let mut spellings = Tally::new(texts.count() + 1);
    for chunk in columns.chunks() {
        let numbers = chunk.texts(column);
        chunk.for_each_in(set, |row| spellings.add(numbers[row], 1));
    }
    let mut values = Tally::new(texts.count() + 1);
    for number in spellings.found.iter().filter(|number| **number > 0) {
        values.add(texts.first_of(*number), spellings.counts[*number as usize]);
    }
    let found = values.most(|number| texts.value(number), |_| true);
    found
        .into_iter()
        .map(|found| value(most_frequent(texts, &spellings, found.number), found.count))
        .collect()
}

/// Returns the most frequent spelling of a value; of several the first in alphabetical order.
fn most_frequent<'t>(texts: &'t Texts, spellings: &Tally, first: u32) -> &'t str {
    let all = texts.spellings(texts.value(first));
    let rank = |number: u32| (spellings.counts[number as usize], std::cmp::Reverse(texts.text(number)));
    all.max_by_key(|number| rank(*number)).map_or("", |number| texts.text(number))
}

fn words(snapshot: &Snapshot, set: &OrdinalSet, dimension: Dimension) -> Vec<FacetValue> {
    let Snapshot { block_list, dictionary, .. } = snapshot;
    let mut tally = Tally::new(dictionary.stems());
    for block in &block_list.blocks {
        for (at, ordinal) in block.ordinals.iter().enumerate() {
            if set.contains(*ordinal) {
                block.stems_in(dimension, at).iter().for_each(|key| tally.add(key.stem(), 1));
            }
        }
    }
    let form = |stem: u32| {
        most_used_form(&block_list.blocks, dictionary, StemKey::new(TermKind::Word, dimension, stem))
    };
    let found = tally.most(form, |form: &str| !is_stop_word(&fold(form)));
    found.into_iter().map(|found| value(found.key, found.count)).collect()
}

/// Returns the form of a stem that most projects of the archive have; of several the first in alphabetical order.
fn most_used_form<'d>(blocks: &[std::sync::Arc<Block>], dictionary: &'d Dictionary, key: StemKey) -> &'d str {
    let mut forms: Vec<(u32, u32)> = Vec::new();
    for term in blocks.iter().flat_map(|block| block.find(key)) {
        match forms.iter_mut().find(|(form, _)| *form == term.form) {
            Some((_, count)) => *count += term.count,
            None => forms.push((term.form, term.count)),
        }
    }
    let best = forms.iter().max_by_key(|(form, count)| (*count, std::cmp::Reverse(dictionary.form(*form))));
    best.map_or("", |(form, _)| dictionary.form(*form))
}

fn value(value: &str, count: u32) -> FacetValue {
    FacetValue { value: value.to_owned(), count: u64::from(count) }
}

/// Counts by number.
struct Tally {
    counts: Vec<u32>,
    /// The numbers that were counted, each once.
    found: Vec<u32>,
}

impl Tally {
    /// Returns a tally for numbers below `bound`.
    fn new(bound: usize) -> Tally {
        Tally { counts: vec![0; bound], found: Vec::new() }
    }

    #[inline]
    fn add(&mut self, number: u32, count: u32) {
        let counted = &mut self.counts[number as usize];
        if *counted == 0 {
            self.found.push(number);
        }
        *counted += count;
    }

    /// Returns the numbers with the greatest counts, at most [`MAX_FACET_VALUES`], of those whose key is `shown`; equal counts are in the
    /// order of their keys.
    fn most<K: Ord + Copy>(&self, key: impl Fn(u32) -> K, shown: impl Fn(K) -> bool) -> Vec<Found<K>> {
        let mut best: Vec<Found<K>> = Vec::with_capacity(MAX_FACET_VALUES + 1);
        for &number in &self.found {
            let count = self.counts[number as usize];
            let last = best.last().filter(|_| best.len() == MAX_FACET_VALUES);
            // Most numbers are rare, and a key may have to be looked for.
            if last.is_some_and(|last| last.count > count) {
                continue;
            }
            let found = Found { key: key(number), number, count };
            if last.is_some_and(|last| last.is_before(&found)) || !shown(found.key) {
                continue;
            }
            let at = best.partition_point(|other| other.is_before(&found));
            best.insert(at, found);
            best.truncate(MAX_FACET_VALUES);
        }
        best
    }
}

/// A counted number.
struct Found<K> {
    key: K,
    number: u32,
    count: u32,
}

impl<K: Ord> Found<K> {
    fn is_before(&self, other: &Found<K>) -> bool {
        self.count > other.count || self.count == other.count && self.key < other.key
    }
}
