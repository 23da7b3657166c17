//! Which projects match how many dimensions: a bitmap a dimension, added up bit by bit with carry, 64 projects at a time.

use schemas::record::Category;
use schemas::taste::{Dimension, DimensionSet};

use super::LARGEST_PAGE;
use super::bitmap;
use super::block::Block;
use super::cursor::{Cursor, InvalidCursor};
use super::dictionary::{Dictionary, Key};
use super::question::{Demand, Question};
use super::shelf::Shelf;
use super::snapshot::Snapshot;

/// Projects of some taste: those that match the most dimensions first, the newest of them first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TastePage {
    /// The projects of this page, in order.
    pub hits: Vec<Hit>,
    /// How many projects match at least one dimension, over all pages.
    pub total: u64,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
    /// What became of each dimension that was asked for, in the order of [`Dimension::ALL`].
    pub asked: Vec<AskedDimension>,
}

/// A project that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of the event that selected it, by which other models know it.
    pub ordinal: u64,
    /// The dimensions that match.
    pub matched: DimensionSet,
}

/// What became of what was asked of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedDimension {
    /// Which.
    pub dimension: Dimension,
    /// How many distinct words were asked for; what has none matches nothing. Of characters of a script without spaces
    /// that stand side by side, each pair of neighbours counts.
    pub words: usize,
    /// Whether there were more than [`super::MOST_WORDS`], so that the last ones were ignored.
    pub has_more: bool,
    /// How many projects match in this dimension, of the asked category.
    pub projects: u64,
}

/// Bitmaps over all blocks, one behind the other.
struct Tally<'a> {
    shelf: &'a Shelf,
    /// Where the bits of each block begin, in words; one more at the end.
    starts: Vec<usize>,
    /// Those who match each asked dimension.
    matching: Vec<Vec<u64>>,
    /// How many dimensions each matches, in three binary digits: ones, twos, fours.
    digits: [Vec<u64>; 3],
}

/// The page of a question.
pub(super) fn page(
    snapshot: &Snapshot,
    question: &Question,
    limit: usize,
    after: Option<Cursor>,
) -> Result<TastePage, InvalidCursor> {
    let fingerprint = question.fingerprint();
    let after = Cursor::belonging_to(after, fingerprint)?;
    let limit = limit.clamp(1, LARGEST_PAGE);
    let tally = Tally::of(snapshot, question);
    let asked = question.demands.iter().zip(&tally.matching).map(|(demand, bits)| AskedDimension {
        dimension: demand.dimension,
        words: demand.stems.len(),
        has_more: demand.has_more,
        projects: bitmap::count(bits),
    });
    let mut found = tally.collect(question.demands.len(), after.as_ref(), limit + 1);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| has_more).map(|last| {
        let place = snapshot.shelf.blocks[last.block].place(last.at);
        Cursor::new(fingerprint, last.matches, place)
    });
    let hits = found.iter().map(|found| tally.hit(question, found)).collect();
    Ok(TastePage { hits, total: tally.total(), next, asked: asked.collect() })
}

/// A match: the index of its block, its number there, and how many dimensions match.
struct Found {
    block: usize,
    at: usize,
    matches: u8,
}

impl<'a> Tally<'a> {
    fn of(snapshot: &'a Snapshot, question: &Question) -> Tally<'a> {
        let shelf = &snapshot.shelf;
        let mut starts = vec![0];
        let mut end = 0;
        for block in &shelf.blocks {
            end += bitmap::words(block.len());
            starts.push(end);
        }
        let demands = question.demands.iter();
        let matching = demands.map(|demand| matching(shelf, &snapshot.dictionary, demand, question.category));
        let matching: Vec<Vec<u64>> = matching.collect();
        let digits = add_up(&matching, end);
        Tally { shelf, starts, matching, digits }
    }

    fn total(&self) -> u64 {
        let [ones, twos, fours] = &self.digits;
        let any = ones.iter().zip(twos).zip(fours).map(|((ones, twos), fours)| ones | twos | fours);
        any.map(|word| u64::from(word.count_ones())).sum()
    }

    /// The first matches behind a cursor, at most so many.
    fn collect(&self, most: usize, after: Option<&Cursor>, limit: usize) -> Vec<Found> {
        let mut found = Vec::with_capacity(limit);
        let most = self.most(most as u8);
        let from = after.map_or(most, |cursor| cursor.matches.min(most));
        for matches in (1..=from).rev() {
            let place = after.filter(|cursor| cursor.matches == matches).map(Cursor::place);
            let (first, at) = self.shelf.behind(place);
            for index in first..self.shelf.blocks.len() {
                let start = if index == first { at } else { 0 };
                self.collect_in(index, start, matches, limit, &mut found);
                if found.len() == limit {
                    return found;
                }
            }
        }
        found
    }

    /// As many dimensions as some project may match, of so many that were asked for.
    fn most(&self, asked: u8) -> u8 {
        let [_, twos, fours] = &self.digits;
        let is_empty = |bits: &[u64]| bits.iter().fold(0, |any, word| any | word) == 0;
        match (is_empty(fours), is_empty(twos)) {
            (false, _) => asked,
            (true, false) => asked.min(3),
            (true, true) => asked.min(1),
        }
    }

    fn collect_in(&self, block: usize, start: usize, matches: u8, limit: usize, found: &mut Vec<Found>) {
        let words = self.starts[block]..self.starts[block + 1];
        for (index, word) in words.enumerate().skip(start / 64) {
            let exactly = self.exactly(word, matches) & bitmap::from(index, start);
            for at in bitmap::ones(index, exactly) {
                if found.len() == limit {
                    return;
                }
                found.push(Found { block, at, matches });
            }
        }
    }

    /// Those of 64 projects that match exactly so many dimensions, of which there is at least one.
    fn exactly(&self, word: usize, matches: u8) -> u64 {
        let digit = |at: usize| {
            let bits = self.digits[at][word];
            if matches >> at & 1 == 1 { bits } else { !bits }
        };
        digit(0) & digit(1) & digit(2)
    }

    fn hit(&self, question: &Question, found: &Found) -> Hit {
        let at = self.starts[found.block] * 64 + found.at;
        let matched = question.demands.iter().zip(&self.matching).filter(|(_, bits)| bitmap::has(bits, at));
        Hit {
            ordinal: self.shelf.blocks[found.block].ordinals()[found.at],
            matched: matched.map(|(demand, _)| demand.dimension).collect(),
        }
    }
}

/// Those who match one dimension, over all blocks.
fn matching(shelf: &Shelf, dictionary: &Dictionary, demand: &Demand, category: Option<Category>) -> Vec<u64> {
    let words: usize = shelf.blocks.iter().map(|block| bitmap::words(block.len())).sum();
    let mut bits = vec![0; words];
    let keys: Option<Vec<Key>> =
        demand.stems.iter().map(|stem| Some(Key::new(demand.dimension, dictionary.stem(stem)?))).collect();
    let Some((first, others)) = keys.as_deref().and_then(<[Key]>::split_first) else { return bits };
    let mut other = Vec::new();
    let mut rest = bits.as_mut_slice();
    for block in &shelf.blocks {
        let (own, behind) = rest.split_at_mut(bitmap::words(block.len()));
        rest = behind;
        add_holders(block, *first, own);
        for key in others {
            other.clear();
            other.resize(own.len(), 0);
            add_holders(block, *key, &mut other);
            keep(own, &other);
        }
        if let Some(category) = category {
            keep(own, block.of_category(category));
        }
    }
    bits
}

fn add_holders(block: &Block, key: Key, bits: &mut [u64]) {
    block.find(key).iter().for_each(|posting| block.holders(*posting).add_to(bits));
}

fn keep(bits: &mut [u64], others: &[u64]) {
    bits.iter_mut().zip(others).for_each(|(bits, others)| *bits &= others);
}

const _: () = assert!(Dimension::COUNT < 8, "three binary digits count to seven");

/// In how many of the bitmaps each bit stands, in three binary digits; each bitmap has `words` words.
fn add_up(bitmaps: &[Vec<u64>], words: usize) -> [Vec<u64>; 3] {
    let [mut ones, mut twos, mut fours] = [(); 3].map(|()| vec![0_u64; words]);
    for bits in bitmaps {
        let digits = ones.iter_mut().zip(&mut twos).zip(&mut fours);
        for (bits, ((one, two), four)) in bits.iter().zip(digits) {
            let carry = *one & bits;
            *one ^= bits;
            *four |= *two & carry;
            *two ^= carry;
        }
    }
    [ones, twos, fours]
}
