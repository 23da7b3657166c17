//! The meanings of all listed projects in memory, and those that are near to a query.
//!
//! A query is compared with all of them, at some 20 ns each: 50 µs at 2,600 projects, 2 ms at 100,000 on one processor.

mod cursor;
mod rows;

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

pub use cursor::{Cursor, InvalidCursor};
use rows::{Block, Meaning, Query, at};

/// The numbers of a meaning.
pub const DIMENSIONS: usize = 256;

/// The numbers of a semantic vector that ends with a meaning: those of its words come first.
const WITH_WORDS: usize = 2 * DIMENSIONS;

/// The number of projects from which several threads compare: below, to wake them takes longer.
const PARALLEL_FROM: usize = 50_000;

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
    pub fn near(&self, query: &[f32], floor: Floor) -> Vec<Near> {
        let Some(query) = Query::new(query) else { return Vec::new() };
        let blocks = self.blocks.load();
        let of_block = |block: &Arc<Block>| block.near(&query, floor);
        let found: Vec<Vec<Near>> = if blocks.len() * rows::IN_A_BLOCK < PARALLEL_FROM {
            blocks.iter().map(of_block).collect()
        } else {
            blocks.par_iter().map(of_block).collect()
        };
        let best = found.iter().flatten().map(|near| near.score).fold(f32::MIN, f32::max);
        let least = floor.least.max(floor.of_best * best);
        found.into_iter().flatten().filter(|near| near.score >= least).collect()
    }
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
