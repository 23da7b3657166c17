//! Meanings as they are compared: two numbers of one byte each in 16 bits, which processors multiply eight at a time.

use std::ops::RangeInclusive;

use super::sketch::Sketch;
use super::{DIMENSIONS, Floor, Near};

/// The number of rows in a block, which is copied when one of them changes: 300 KB.
pub(super) const IN_A_BLOCK: usize = 1_024;

const PAIRS: usize = DIMENSIONS / 2;

/// The greatest absolute value of a number of a meaning.
const MAX_NUMBER: f32 = 127.0;
/// The greatest absolute value of a number of a query: a sum of [`DIMENSIONS`] products fits into 32 bits.
const MAX_QUERY: f32 = 16_383.0;
/// What is added to the lower number of a pair, so that it has no sign.
const OFFSET: i16 = 128;

/// The meaning of a project.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::neighbours) struct Meaning {
    /// The first number of a pair in the upper byte, the second in the lower one, [`OFFSET`] greater.
    pairs: [i16; PAIRS],
    /// One divided by the length of the vector.
    inverse_length: f32,
    sketch: Sketch,
}

/// The meanings of at most [`IN_A_BLOCK`] projects.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    ordinals: Vec<u32>,
    inverse_lengths: Vec<f32>,
    sketches: Vec<Sketch>,
    rows: Vec<[i16; PAIRS]>,
}

/// The meaning of a query.
#[derive(Debug)]
pub(super) struct Query {
    /// The first numbers of the pairs.
    first: [i16; PAIRS],
    /// The second numbers of the pairs.
    second: [i16; PAIRS],
    /// What the offsets of the second numbers add to a product.
    offset: i32,
    inverse_length: f32,
    sketch: Sketch,
}

/// Returns the block and the row within it of a row of all.
pub(super) fn at(place: usize) -> (usize, usize) {
    (place / IN_A_BLOCK, place % IN_A_BLOCK)
}

impl Meaning {
    /// Returns the meaning of the direction of [`DIMENSIONS`] numbers; `None` of another number, and if all are 0.
    pub(super) fn new(numbers: &[f32]) -> Option<Meaning> {
        let (numbers, inverse_length) = whole_numbers(numbers, MAX_NUMBER)?;
        let pairs = std::array::from_fn(|pair| numbers[2 * pair] << 8 | (numbers[2 * pair + 1] + OFFSET));
        Some(Meaning { pairs, inverse_length, sketch: Sketch::new(numbers.map(f32::from)) })
    }
}

impl Query {
    /// Returns the query of the direction of [`DIMENSIONS`] numbers; `None` of another number, and if all are 0.
    pub(super) fn new(numbers: &[f32]) -> Option<Query> {
        let (numbers, inverse_length) = whole_numbers(numbers, MAX_QUERY)?;
        let first = std::array::from_fn(|pair| numbers[2 * pair]);
        let second: [i16; PAIRS] = std::array::from_fn(|pair| numbers[2 * pair + 1]);
        let offset = second.iter().map(|number| i32::from(*number) * i32::from(OFFSET)).sum();
        let sketch = Sketch::new(numbers.map(f32::from));
        Some(Query { first, second, offset, inverse_length, sketch })
    }

    /// Returns the dot product with a row. Compilers turn it into instructions that multiply and add eight pairs at once.
    #[inline]
    fn dot(&self, row: &[i16; PAIRS]) -> i32 {
        let mut sum = 0;
        for ((pair, first), second) in row.iter().zip(&self.first).zip(&self.second) {
            sum += i32::from(*pair >> 8) * i32::from(*first) + i32::from(*pair & 0xff) * i32::from(*second);
        }
        sum - self.offset
    }
}

/// Scales numbers to whole ones up to `greatest`; returns them, and one divided by the length of their vector.
fn whole_numbers(numbers: &[f32], greatest: f32) -> Option<([i16; DIMENSIONS], f32)> {
    let numbers: &[f32; DIMENSIONS] = numbers.try_into().ok()?;
    let most = numbers.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    if !(most > 0.0 && most.is_finite()) {
        return None;
    }
    let whole = numbers.map(|number| (number / most * greatest).round() as i16);
    // Exact: the sum of 256 squares of at most 16,383 is below 2^53.
    let length = whole.iter().map(|number| f64::from(*number) * f64::from(*number)).sum::<f64>().sqrt();
    Some((whole, (1.0 / length) as f32))
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.ordinals.len()
    }

    pub(super) fn push(&mut self, ordinal: u32, meaning: &Meaning) {
        self.ordinals.push(ordinal);
        self.inverse_lengths.push(meaning.inverse_length);
        self.sketches.push(meaning.sketch);
        self.rows.push(meaning.pairs);
    }

    pub(super) fn pop(&mut self) -> Option<(u32, Meaning)> {
        let ordinal = self.ordinals.pop()?;
        let (inverse_length, sketch) = (self.inverse_lengths.pop()?, self.sketches.pop()?);
        let meaning = Meaning { inverse_length, sketch, pairs: self.rows.pop()? };
        Some((ordinal, meaning))
    }

    pub(super) fn set(&mut self, row: usize, ordinal: u32, meaning: &Meaning) {
        self.ordinals[row] = ordinal;
        self.inverse_lengths[row] = meaning.inverse_length;
        self.sketches[row] = meaning.sketch;
        self.rows[row] = meaning.pairs;
    }

    /// Returns whether a row has this meaning.
    pub(super) fn has(&self, row: usize, meaning: &Meaning) -> bool {
        self.rows[row] == meaning.pairs
    }

    /// Returns the projects that are near to a query as far as this block shows; of all blocks some may be too far.
    pub(super) fn near(&self, query: &Query, floor: Floor) -> Vec<Near> {
        let mut found = Vec::new();
        let mut least = floor.least;
        for row in 0..self.len() {
            self.compare(row, query, floor, (&mut least, &mut found));
        }
        found
    }

    /// Returns the distances of all rows from a query, by their sketches.
    pub(super) fn distances(&self, query: &Query) -> Vec<u8> {
        self.sketches.iter().map(|sketch| sketch.distance(&query.sketch)).collect()
    }

    /// Returns the same as [`Block::near`] of the rows whose distances are in a range.
    pub(super) fn near_within(
        &self,
        query: &Query,
        floor: Floor,
        (distances, range): (&[u8], RangeInclusive<u8>),
    ) -> Vec<Near> {
        // All rows first: processors then fetch the next ones from memory while they compare one.
        let rows: Vec<usize> = (0..self.len()).filter(|row| range.contains(&distances[*row])).collect();
        let mut found = Vec::new();
        let mut least = floor.least;
        for row in rows {
            self.compare(row, query, floor, (&mut least, &mut found));
        }
        found
    }

    /// Adds a row to what was found, if it is near enough.
    #[inline]
    fn compare(&self, row: usize, query: &Query, floor: Floor, (least, found): (&mut f32, &mut Vec<Near>)) {
        let score = query.dot(&self.rows[row]) as f32 * (self.inverse_lengths[row] * query.inverse_length);
        if score >= *least {
            *least = least.max(floor.of_best * score);
            found.push(Near { ordinal: u64::from(self.ordinals[row]), score });
        }
    }
}
