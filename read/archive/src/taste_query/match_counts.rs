//! How many of the requested dimensions each project matches: the projects that match a dimension are a bitmap; the number of matching
//! dimensions of 64 projects at a time is the sum of these bitmaps, in binary digits with carry.

use lexical::OrdinalSet;
use schemas::record::Category;
use schemas::taste::Dimension;

use super::{Alternative, DimensionMatches, DimensionQuery, Hit, MatchMode, TasteQuery};
use crate::blocks::{Block, BlockList, bitmap};
use crate::cursor::Cursor;
use crate::dictionary::{Dictionary, StemKey};
use crate::snapshot::Snapshot;

/// A matching project: the index of its block, its number there, and the number of matching dimensions.
pub(super) struct Match {
    pub(super) block: usize,
    pub(super) at: usize,
    pub(super) matches: u8,
}

/// Bitmaps over all projects, in which each block begins with a new word.
pub(super) struct MatchCounts<'a> {
    block_list: &'a BlockList,
    /// The index of the first word of each block, and the number of words at the end.
    starts: Vec<usize>,
    /// The projects that match, for each requested dimension.
    matching: Vec<Vec<u64>>,
    /// The number of matching dimensions of each project in three binary digits: ones, twos, fours.
    digits: [Vec<u64>; 3],
    /// The least number of matching dimensions with which a project is a hit: one, or that of all requested ones.
    least: u8,
}

impl<'a> MatchCounts<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, query: &TasteQuery<'_>) -> MatchCounts<'a> {
        let block_list = &snapshot.block_list;
        let mut starts = vec![0];
        let mut end = 0;
        for block in &block_list.blocks {
            end += bitmap::word_count(block.len());
            starts.push(end);
        }
        let category = query.category;
        let matching = |query: &DimensionQuery| matching(block_list, &snapshot.dictionary, query, category);
        let mut matching: Vec<Vec<u64>> = query.dimensions.iter().map(matching).collect();
        if let Some(within) = query.within {
            retain_within(block_list, &starts, within.set, &mut matching);
        }
        let digits = sum(&matching, end);
        let least = match query.matching {
            MatchMode::Any => 1,
            MatchMode::All => matching.len().max(1) as u8,
        };
        MatchCounts { block_list, starts, matching, digits, least }
    }

    /// Returns the number of requested dimensions.
    fn requested(&self) -> u8 {
        self.matching.len() as u8
    }

    /// Returns the bits of the hits: of the projects that match at least one dimension, or all.
    fn hits(&self) -> Vec<u64> {
        let [ones, twos, fours] = &self.digits;
        if self.least > 1 {
            return (0..ones.len()).map(|word| self.exactly(word, self.least)).collect();
        }
        ones.iter().zip(twos).zip(fours).map(|((ones, twos), fours)| ones | twos | fours).collect()
    }

    /// Returns how many projects match exactly one dimension, two, and so on up to the number of requested ones, whether they are hits or
    /// not.
    pub(super) fn by_matched(&self) -> Vec<u64> {
        let max = self.max_matches();
        let count = |matches: u8| {
            let words = 0..self.digits[0].len();
            words.map(|word| u64::from(self.exactly(word, matches).count_ones())).sum()
        };
        (1..=self.requested()).map(|matches| if matches > max { 0 } else { count(matches) }).collect()
    }

    /// Returns the number of hits, from the numbers of projects by matching dimensions.
    pub(super) fn total(&self, by_matched: &[u64]) -> u64 {
        by_matched.iter().skip(usize::from(self.least - 1)).sum()
    }

    /// Returns the hits.
    pub(super) fn set(&self) -> OrdinalSet {
        let hits = self.hits();
        let blocks = self.block_list.blocks.iter().zip(self.starts.windows(2));
        let ordinals = blocks.flat_map(|(block, words)| {
            let own = hits[words[0]..words[1]].iter().enumerate();
            own.flat_map(|(index, word)| bitmap::ones(index, *word)).map(|at| block.ordinals[at])
        });
        ordinals.collect()
    }

    /// Returns where projects are, in the order of these ordinals.
    pub(super) fn find(&self, ordinals: &[u64]) -> Vec<Match> {
        let mut found: Vec<Option<Match>> = ordinals.iter().map(|_| None).collect();
        for (block, projects) in self.block_list.blocks.iter().enumerate() {
            for (at, ordinal) in projects.ordinals.iter().enumerate() {
                if let Some(place) = ordinals.iter().position(|wanted| wanted == ordinal) {
                    found[place] = Some(Match { block, at, matches: 0 });
                }
            }
        }
        found.into_iter().flatten().collect()
    }

    pub(super) fn dimensions(&self, query: &TasteQuery<'_>) -> Vec<DimensionMatches> {
        let dimensions = query.dimensions.iter().zip(&self.matching);
        let matches = dimensions.map(|(query, bits)| DimensionMatches {
            dimension: query.dimension,
            words: query.words(),
            is_truncated: query.is_truncated,
            projects: bitmap::count(bits),
        });
        matches.collect()
    }

    /// Returns the first `limit` hits after a cursor.
    pub(super) fn collect(&self, after: Option<&Cursor>, limit: usize) -> Vec<Match> {
        let mut found = Vec::with_capacity(limit);
        let max = self.max_matches();
        let from = after.map_or(max, |cursor| cursor.matches.min(max));
        for matches in (self.least..=from).rev() {
            let last = after.filter(|cursor| cursor.matches == matches).map(Cursor::sort_key);
            let (first, at) = self.block_list.first_after(last);
            for index in first..self.block_list.blocks.len() {
                let start = if index == first { at } else { 0 };
                self.collect_in(index, start, matches, limit, &mut found);
                if found.len() == limit {
                    return found;
                }
            }
        }
        found
    }

    /// Returns an upper bound of the number of dimensions that a project matches.
    fn max_matches(&self) -> u8 {
        let (requested, [_, twos, fours]) = (self.requested(), &self.digits);
        let is_empty = |bits: &[u64]| bits.iter().fold(0, |any, word| any | word) == 0;
        match (is_empty(fours), is_empty(twos)) {
            (false, _) => requested,
            (true, false) => requested.min(3),
            (true, true) => requested.min(1),
        }
    }

    fn collect_in(&self, block: usize, start: usize, matches: u8, limit: usize, found: &mut Vec<Match>) {
        let words = self.starts[block]..self.starts[block + 1];
        for (index, word) in words.enumerate().skip(start / 64) {
            let exactly = self.exactly(word, matches) & bitmap::mask_from(index, start);
            for at in bitmap::ones(index, exactly) {
                if found.len() == limit {
                    return;
                }
                found.push(Match { block, at, matches });
            }
        }
    }

    /// Returns the bits of the projects that match exactly `matches` dimensions, at least one.
    fn exactly(&self, word: usize, matches: u8) -> u64 {
        let digit = |at: usize| {
            let bits = self.digits[at][word];
            if matches >> at & 1 == 1 { bits } else { !bits }
        };
        digit(0) & digit(1) & digit(2)
    }

    pub(super) fn hit(&self, query: &TasteQuery<'_>, found: &Match) -> Hit {
        let at = self.starts[found.block] * 64 + found.at;
        let dimensions = query.dimensions.iter().zip(&self.matching);
        let matched = dimensions.filter(|(_, bits)| bitmap::contains(bits, at));
        Hit {
            ordinal: self.block_list.blocks[found.block].ordinals[found.at],
            matched: matched.map(|(query, _)| query.dimension).collect(),
        }
    }
}

/// Clears the bits of projects that a set does not contain. Only matching projects are looked up.
fn retain_within(block_list: &BlockList, starts: &[usize], set: &OrdinalSet, bitmaps: &mut [Vec<u64>]) {
    for (block, &start) in block_list.blocks.iter().zip(starts) {
        for index in 0..bitmap::word_count(block.len()) {
            let any = bitmaps.iter().fold(0, |any, bits| any | bits[start + index]);
            let allowed = bitmap::ones(index, any).filter(|at| set.contains(block.ordinals[*at]));
            let allowed = allowed.fold(0, |bits, at| bits | 1 << (at % 64));
            bitmaps.iter_mut().for_each(|bits| bits[start + index] &= allowed);
        }
    }
}

/// Returns the bitmap of the projects that match one dimension, over all blocks.
fn matching(
    block_list: &BlockList,
    dictionary: &Dictionary,
    query: &DimensionQuery,
    category: Option<Category>,
) -> Vec<u64> {
    let words: usize = block_list.blocks.iter().map(|block| bitmap::word_count(block.len())).sum();
    let mut bits = vec![0; words];
    // An alternative with a word that is not used anywhere, or without words, matches nothing.
    let keys = |one: &Alternative| one.keys(query.dimension, dictionary);
    let mut alternatives: Vec<Vec<StemKey>> = query.alternatives.iter().filter_map(keys).collect();
    alternatives.retain(|keys| !keys.is_empty());
    let (mut whole, mut other) = (Vec::new(), Vec::new());
    let mut rest = bits.as_mut_slice();
    for block in &block_list.blocks {
        let (own, remaining) = rest.split_at_mut(bitmap::word_count(block.len()));
        rest = remaining;
        match alternatives.as_slice() {
            [alone] => add_alternative(block, alone, own, &mut other),
            several => {
                for keys in several {
                    whole.clear();
                    whole.resize(own.len(), 0);
                    add_alternative(block, keys, &mut whole, &mut other);
                    own.iter_mut().zip(&whole).for_each(|(own, whole)| *own |= whole);
                }
            }
        }
        if let Some(category) = category {
            bitmap::intersect(own, block.category_bits(category));
        }
    }
    bits
}

/// Sets the bits of the projects of a block that contain all stems; all bits are clear before. `other` is spare room.
fn add_alternative(block: &Block, keys: &[StemKey], bits: &mut [u64], other: &mut Vec<u64>) {
    let Some((first, others)) = keys.split_first() else { return };
    add_projects(block, *first, bits);
    for key in others {
        other.clear();
        other.resize(bits.len(), 0);
        add_projects(block, *key, other);
        bitmap::intersect(bits, other);
    }
}

/// Sets the bits of the projects of a block that contain a stem.
fn add_projects(block: &Block, key: StemKey, bits: &mut [u64]) {
    block.find(key).iter().for_each(|term| block.posting_list(*term).add_to(bits));
}

const _: () = assert!(Dimension::COUNT < 8, "three binary digits count to seven");

/// Returns how many of the bitmaps have each bit set, in three binary digits. Each bitmap has `words` words.
fn sum(bitmaps: &[Vec<u64>], words: usize) -> [Vec<u64>; 3] {
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
