//! The meanings of all listed projects in memory, and those that are near to a query.
//!
//! A query is compared with all of them, at some 20 ns each: 50 µs at 2,600 projects. Of many, the sketches of all are compared first, at
//! 5 ns each, and only what they show to be near enough is compared itself.

mod cursor;
mod rows;
mod sketch;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use arc_swap::ArcSwap;

pub use cursor::{Cursor, InvalidCursor};
use rows::{Block, Meaning, Query, at};

/// The numbers of a meaning.
pub const DIMENSIONS: usize = 256;

/// The numbers of a semantic vector that ends with a meaning: those of its words come first.
const WITH_WORDS: usize = 2 * DIMENSIONS;

/// The number of projects from which sketches are compared first.
const SKETCHES_FROM: usize = 50_000;

/// The number of nearest sketches among which the nearest project is looked for.
const NEAREST_SKETCHES: usize = 256;

/// The number of nearest sketches whose projects are compared, about: where half of a catalog is alike, all that is near would take long.
const MAX_COMPARED: usize = 5_000;

/// A project whose meaning is near to that of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The position of the event that selected it.
    pub ordinal: u64,
    /// The cosine of both meanings, from -1 to 1.
    pub score: f32,
}

/// From which score on a project is near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// The least score.
    pub least: f32,
    /// The least share of the best score of all projects, from 0 to 1.
    pub of_best: f32,
}

/// The meanings of the listed projects, as of the last refresh.
#[derive(Debug, Default)]
pub struct MeaningIndex {
    blocks: ArcSwap<Vec<Arc<Block>>>,
}

/// What a refresh changes before it publishes it.
#[derive(Debug, Default)]
pub(super) struct MeaningWriter {
    blocks: Vec<Arc<Block>>,
    /// The rows of the projects, by their ordinals.
    places: HashMap<u32, usize, foldhash::fast::RandomState>,
}

impl MeaningIndex {
    /// Returns the number of projects that have a meaning.
    pub fn len(&self) -> usize {
        self.blocks.load().iter().map(|block| block.len()).sum()
    }

    /// Returns whether no project has a meaning.
    pub fn is_empty(&self) -> bool {
        self.blocks.load().is_empty()
    }

    /// Returns the projects that are near to a query, a vector of [`DIMENSIONS`] numbers, in no order. The scores of equal meanings are
    /// equal, on every machine.
    ///
    /// Of 50,000 projects or more, some that just reach the floor are left out: those whose sketches show less, and where more than about
    /// 5,000 are near, those whose sketches are less near.
    pub fn near(&self, query: &[f32], floor: Floor) -> Vec<Near> {
        self.found(query, floor, |blocks, query| {
            if blocks.len() * rows::IN_A_BLOCK < SKETCHES_FROM {
                near_in_all(blocks, query, floor)
            } else {
                near_by_sketches(blocks, query, floor)
            }
        })
    }

    /// Returns the same as [`MeaningIndex::near`], with none left out: however many projects there are, all are compared.
    pub fn near_in_all(&self, query: &[f32], floor: Floor) -> Vec<Near> {
        self.found(query, floor, |blocks, query| near_in_all(blocks, query, floor))
    }

    fn found(
        &self,
        query: &[f32],
        floor: Floor,
        find: impl FnOnce(&[Arc<Block>], &Query) -> Vec<Vec<Near>>,
    ) -> Vec<Near> {
        let Some(query) = Query::new(query) else { return Vec::new() };
        let found = find(&self.blocks.load(), &query);
        let least = floor.of(&found);
        found.into_iter().flatten().filter(|near| near.score >= least).collect()
    }
}

/// Returns what is near as far as each block shows.
fn near_in_all(blocks: &[Arc<Block>], query: &Query, floor: Floor) -> Vec<Vec<Near>> {
    blocks.iter().map(|block| block.near(query, floor)).collect()
}

impl Floor {
    /// Returns the least score where this was found, in groups.
    fn of(self, found: &[Vec<Near>]) -> f32 {
        let best = found.iter().flatten().map(|near| near.score).fold(f32::MIN, f32::max);
        self.least.max(self.of_best * best)
    }
}

/// Returns what is near as far as sketches show, by blocks: first the nearest ones, which tell how near the others must be.
///
/// One thread does it all: of queries that shared the work of several, some waited for parts of many others.
fn near_by_sketches(blocks: &[Arc<Block>], query: &Query, floor: Floor) -> Vec<Vec<Near>> {
    let distances: Vec<Vec<u8>> = blocks.iter().map(|block| block.distances(query)).collect();
    let counts = counts(&distances);
    let nearest = distance_within(&counts, NEAREST_SKETCHES);
    let within = |floor: Floor, range: RangeInclusive<u8>| {
        let blocks = blocks.iter().zip(&distances);
        blocks.map(move |(block, distances)| block.near_within(query, floor, (distances, range.clone())))
    };
    let mut found: Vec<Vec<Near>> = within(floor, 0..=nearest).collect();
    let floor = Floor { least: floor.of(&found), of_best: floor.of_best };
    let last = sketch::distance_of(floor.least).min(distance_within(&counts, MAX_COMPARED));
    if let Some(next) = nearest.checked_add(1)
        && next <= last
    {
        found.extend(within(floor, next..=last));
    }
    found
}

/// Returns how many sketches have each distance.
fn counts(distances: &[Vec<u8>]) -> [usize; 256] {
    let mut counts = [0; 256];
    for distance in distances.iter().flatten() {
        counts[usize::from(*distance)] += 1;
    }
    counts
}

/// Returns the least distance within which there are at least this many of the counted sketches.
fn distance_within(counts: &[usize; 256], sketches: usize) -> u8 {
    let mut total = 0;
    let is_enough = |count: &usize| {
        total += count;
        total >= sketches
    };
    counts.iter().position(is_enough).and_then(|distance| u8::try_from(distance).ok()).unwrap_or(u8::MAX)
}

impl MeaningWriter {
    /// Sets or replaces the meaning of a project.
    pub(super) fn set(&mut self, ordinal: u32, meaning: &Meaning) {
        if let Some(place) = self.places.get(&ordinal) {
            let (block, row) = at(*place);
            if let Some(block) = self.blocks.get_mut(block)
                && !block.has(row, meaning)
            {
                Arc::make_mut(block).set(row, ordinal, meaning);
            }
            return;
        }
        if self.blocks.last().is_none_or(|last| last.len() == rows::IN_A_BLOCK) {
            self.blocks.push(Arc::default());
        }
        if let Some(last) = self.blocks.last_mut() {
            Arc::make_mut(last).push(ordinal, meaning);
            self.places.insert(ordinal, self.places.len());
        }
    }

    /// Removes a project, if it has a meaning. The last one takes its row.
    pub(super) fn remove(&mut self, ordinal: u32) {
        let Some(place) = self.places.remove(&ordinal) else { return };
        let Some((last, meaning)) = self.blocks.last_mut().and_then(|block| Arc::make_mut(block).pop())
        else {
            return;
        };
        self.blocks.pop_if(|block| block.len() == 0);
        if last != ordinal {
            let (block, row) = at(place);
            if let Some(block) = self.blocks.get_mut(block) {
                Arc::make_mut(block).set(row, last, &meaning);
            }
            self.places.insert(last, place);
        }
    }

    /// Shows readers what was set and removed.
    pub(super) fn publish(&self, index: &MeaningIndex) {
        index.blocks.store(Arc::new(self.blocks.clone()));
    }
}

/// Returns the meaning in a stored semantic vector, of a 32-bit float or of a byte a number; `None` if it is that of another text model, or
/// of a project without words that the model has.
pub(super) fn meaning_of(text_model: &str, model: &str, stored: &[u8]) -> Option<Meaning> {
    if !model.split('+').any(|part| part == text_model) {
        return None;
    }
    let numbers: Vec<f32> = match stored.len() {
        WITH_WORDS => stored.iter().map(|byte| f32::from(byte.cast_signed())).collect(),
        _ => stored.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
    };
    Meaning::new(numbers.get(DIMENSIONS..)?)
}

#[cfg(test)]
mod tests;
