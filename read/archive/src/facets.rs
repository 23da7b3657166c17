//! Facets: how many projects of a set have each value.

use std::cell::{OnceCell, RefCell};
use std::sync::{Arc, OnceLock};

use lexical::OrdinalSet;
use schemas::record::Category;
use schemas::taste::Dimension;
use serde::Serialize;

use super::blocks::{Block, bitmap};
use super::columns::chunk::{Chunk, LAST_YEAR};
use super::columns::texts::Texts;
use super::columns::{Columns, TextColumn};
use super::snapshot::Snapshot;

/// The maximum number of values of a facet.
pub const MAX_FACET_VALUES: usize = 20;

/// How many projects a scan passes in the time in which one is found by its ordinal: those lie apart in memory.
const SCANNED_FOR_FOUND: u64 = 200;

/// The most tallies that are used at the same time: spellings, and values.
const MAX_KEPT_COUNTS: usize = 2;

thread_local! {
    /// Counts that are all zero.
    static KEPT_COUNTS: RefCell<Vec<Vec<u32>>> = const { RefCell::new(Vec::new()) };
}

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
    /// The number of all values that projects of the set have.
    pub distinct: u64,
    /// The number of projects of the set that have no value.
    pub unrecorded: u64,
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
        self.0[facet.index()].get_or_init(|| CountedSet::new(snapshot, &all()).by(facet))
    }
}

/// A set of projects that is counted by one facet after the other.
pub(super) struct CountedSet<'s> {
    snapshot: &'s Snapshot,
    set: &'s OrdinalSet,
    rows: OnceCell<SetRows<'s>>,
}

impl<'s> CountedSet<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, set: &'s OrdinalSet) -> CountedSet<'s> {
        CountedSet { snapshot, set, rows: OnceCell::new() }
    }

    /// Counts the projects by the values of a facet.
    pub(super) fn by(&self, facet: Facet) -> FacetCounts {
        let columns = &self.snapshot.columns;
        let rows = || self.rows.get_or_init(|| SetRows::of(columns, self.set));
        let Counted { values, distinct, unrecorded } = match facet {
            Facet::Category => categories(rows()),
            Facet::City => texts(columns, rows(), TextColumn::City),
            Facet::Studio => texts(columns, rows(), TextColumn::Studio),
            Facet::Curator => texts(columns, rows(), TextColumn::Curator),
            Facet::Year => years(rows()),
            Facet::Taste(dimension) => words(self.snapshot, self.set, dimension),
        };
        FacetCounts { facet, values, distinct: distinct as u64, unrecorded }
    }
}

/// What is counted of a facet, see [`FacetCounts`].
struct Counted {
    values: Vec<FacetValue>,
    distinct: usize,
    unrecorded: u64,
}

/// The rows of the projects of a set: looked for once, and counted by each facet.
struct SetRows<'c> {
    rows: Vec<u16>,
    /// Each chunk with the end of its rows in `rows`.
    chunks: Vec<(&'c Chunk, usize)>,
}

impl<'c> SetRows<'c> {
    fn of(columns: &'c Columns, set: &OrdinalSet) -> SetRows<'c> {
        let mut found = SetRows { rows: Vec::with_capacity(set.len() as usize), chunks: Vec::new() };
        for chunk in columns.chunks() {
            chunk.for_each_in(set, |row| found.rows.push(row as u16));
            found.chunks.push((chunk, found.rows.len()));
        }
        found
    }

    /// Calls `visit` with each row of the set.
    fn for_each<T: Copy + 'c>(&self, column: impl Fn(&'c Chunk) -> &'c [T], mut visit: impl FnMut(T)) {
        let mut start = 0;
        for (chunk, end) in &self.chunks {
            let values = column(chunk);
            self.rows[start..*end].iter().for_each(|row| visit(values[usize::from(*row)]));
            start = *end;
        }
    }
}

fn categories(rows: &SetRows<'_>) -> Counted {
    let mut tally = Tally::new(Category::ALL.len());
    rows.for_each(|chunk| &chunk.categories, |category| tally.add(u32::from(category), 1));
    let found = tally.most(|index| Some(Category::ALL[index as usize].as_str()));
    let values = found.into_iter().map(|found| value(found.key, found.count)).collect();
    Counted { values, distinct: tally.found.len(), unrecorded: 0 }
}

fn years(rows: &SetRows<'_>) -> Counted {
    // What is no year counts as the number after the last one: a tally is set to zero for each request.
    let no_year = LAST_YEAR + 1;
    let mut tally = Tally::new(usize::from(no_year) + 1);
    rows.for_each(|chunk| &chunk.years, |year| tally.add(u32::from(year.min(no_year)), 1));
    let found = tally.most(|year| Some(year).filter(|year| *year < u32::from(no_year)));
    let values = found.into_iter().map(|found| value(&format!("{:04}", found.key), found.count)).collect();
    let unrecorded = tally.counts[usize::from(no_year)];
    let distinct = tally.found.len() - usize::from(unrecorded > 0);
    Counted { values, distinct, unrecorded: u64::from(unrecorded) }
}

fn texts(columns: &Columns, rows: &SetRows<'_>, column: TextColumn) -> Counted {
    let texts = columns.texts(column);
    let mut spellings = Tally::new(texts.count() + 1);
    rows.for_each(|chunk| chunk.texts(column), |number| spellings.add(number, 1));
    let mut values = Tally::new(texts.count() + 1);
    for number in spellings.found.iter().filter(|number| **number > 0) {
        values.add(texts.first_of(*number), spellings.counts[*number as usize]);
    }
    let found = values.most(|number| Some(texts.value(number)));
    let shown =
        found.into_iter().map(|found| value(most_frequent(texts, &spellings, found.number), found.count));
    // Number 0 stands for rows without a text.
    Counted {
        values: shown.collect(),
        distinct: values.found.len(),
        unrecorded: u64::from(spellings.counts[0]),
    }
}

/// Returns the most frequent spelling of a value; of several the first in alphabetical order.
fn most_frequent<'t>(texts: &'t Texts, spellings: &Tally, first: u32) -> &'t str {
    let all = texts.spellings(texts.value(first));
    let rank = |number: u32| (spellings.counts[number as usize], std::cmp::Reverse(texts.text(number)));
    all.max_by_key(|number| rank(*number)).map_or("", |number| texts.text(number))
}

fn words(snapshot: &Snapshot, set: &OrdinalSet, dimension: Dimension) -> Counted {
    let Snapshot { block_list, dictionary, shown_forms, .. } = snapshot;
    let shown = |stem: u32| shown_forms.get((&block_list.blocks, dictionary), dimension, stem);
    let hidden: Vec<u32> = dictionary.stop_stems().filter(|stem| shown(*stem).is_none()).collect();
    let mut words = WordTally { tally: Tally::new(dictionary.stems()), hidden: bits(&hidden), unrecorded: 0 };
    let is_small = set.len().saturating_mul(SCANNED_FOR_FOUND) < block_list.len() as u64;
    if is_small {
        for (block, at) in set.iter().filter_map(|ordinal| block_list.find(ordinal)) {
            words.add(block.stems_by_project(dimension).of(at));
        }
    } else {
        scan_words(&block_list.blocks, set, dimension, &mut words);
    }
    let WordTally { tally, unrecorded, .. } = words;
    let found = tally.most(shown);
    let values = found.into_iter().map(|found| value(found.key, found.count)).collect();
    let not_shown = hidden.iter().filter(|stem| tally.counts[**stem as usize] > 0).count();
    Counted { values, distinct: tally.found.len() - not_shown, unrecorded }
}

/// Counts the words of projects in a dimension.
struct WordTally {
    tally: Tally,
    /// A bit for each stem up to the last that is not shown, set for those: stop words, which are few and have low numbers.
    hidden: Vec<u64>,
    /// The number of projects without another word.
    unrecorded: u64,
}

impl WordTally {
    /// Counts the words of a project.
    #[inline]
    fn add(&mut self, stems: &[u32]) {
        stems.iter().for_each(|stem| self.tally.add(*stem, 1));
        let is_shown = |stem: &u32| {
            self.hidden.get((stem / 64) as usize).is_none_or(|hidden| hidden >> (stem % 64) & 1 == 0)
        };
        let has_shown = stems.iter().any(is_shown);
        self.unrecorded += u64::from(!has_shown);
    }
}

/// Returns a bit for each number up to the greatest of these, set for those.
fn bits(numbers: &[u32]) -> Vec<u64> {
    let mut bits = vec![0; numbers.iter().max().map_or(0, |last| bitmap::word_count(*last as usize + 1))];
    numbers.iter().for_each(|number| bitmap::set(&mut bits, *number as usize));
    bits
}

/// Counts the words of a set in a dimension, block by block.
fn scan_words(blocks: &[Arc<Block>], set: &OrdinalSet, dimension: Dimension, words: &mut WordTally) {
    let mut of_set: Vec<u16> = Vec::new();
    for block in blocks {
        of_set.clear();
        of_set.resize(block.len(), 0);
        let mut count = 0;
        // Each is written, and overwritten if it is not in the set: no branch depends on the set, which is in no order here.
        for (at, ordinal) in (0_u16..).zip(&block.ordinals) {
            of_set[count] = at;
            count += usize::from(set.contains(*ordinal));
        }
        if count > 0 {
            let stems = block.stems_by_project(dimension);
            of_set[..count].iter().for_each(|at| words.add(stems.of(*at)));
        }
    }
}

fn value(value: &str, count: u32) -> FacetValue {
    FacetValue { value: value.to_owned(), count: u64::from(count) }
}

/// Counts by number. A thread keeps the memory of its last ones: new memory of this size comes from the system and has to be made zero for
/// each request, which takes longer than counting.
struct Tally {
    counts: Vec<u32>,
    /// The numbers that were counted, each once.
    found: Vec<u32>,
}

impl Tally {
    /// Returns a tally for numbers below `bound`.
    fn new(bound: usize) -> Tally {
        let mut counts = KEPT_COUNTS.with_borrow_mut(Vec::pop).unwrap_or_default();
        counts.resize(bound.max(counts.len()), 0);
        Tally { counts, found: Vec::new() }
    }

    #[inline]
    fn add(&mut self, number: u32, count: u32) {
        let counted = &mut self.counts[number as usize];
        if *counted == 0 {
            self.found.push(number);
        }
        *counted += count;
    }

    /// Returns the numbers with the greatest counts, at most [`MAX_FACET_VALUES`], of those that have a key; equal counts are in the order
    /// of their keys.
    fn most<K: Ord>(&self, key: impl Fn(u32) -> Option<K>) -> Vec<Found<K>> {
        let mut best: Vec<Found<K>> = Vec::with_capacity(MAX_FACET_VALUES + 1);
        for &number in &self.found {
            let count = self.counts[number as usize];
            let last = best.last().filter(|_| best.len() == MAX_FACET_VALUES);
            // Most numbers are rare, and a key may have to be looked for.
            if last.is_some_and(|last| last.count > count) {
                continue;
            }
            let Some(key) = key(number) else { continue };
            let found = Found { key, number, count };
            if last.is_some_and(|last| last.is_before(&found)) {
                continue;
            }
            let at = best.partition_point(|other| other.is_before(&found));
            best.insert(at, found);
            best.truncate(MAX_FACET_VALUES);
        }
        best
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.found.iter().for_each(|number| self.counts[*number as usize] = 0);
        let counts = std::mem::take(&mut self.counts);
        // It fails while the thread ends.
        let _ = KEPT_COUNTS.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            if kept.len() < MAX_KEPT_COUNTS {
                kept.push(counts);
            }
        });
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
