//! One side of the rows of a group.

use std::borrow::Cow;
use std::ops::Range;

use crate::row::Encoding;
use crate::vector::{Quantized, Side};

/// The vectors of one encoding, one row after the other.
#[derive(Debug)]
pub(crate) struct Column {
    dimensions: usize,
    numbers: Numbers,
}

#[derive(Debug)]
enum Numbers {
    Floats(Vec<f32>),
    /// The numbers, and the square of the length of each row.
    Bytes(Vec<i8>, Vec<u32>),
}

impl Column {
    pub(crate) fn new(encoding: Encoding) -> Column {
        let numbers = match encoding.is_quantized {
            false => Numbers::Floats(Vec::new()),
            true => Numbers::Bytes(Vec::new(), Vec::new()),
        };
        Column { dimensions: encoding.dimensions, numbers }
    }

    /// Adds a vector of this encoding after the last row.
    pub(crate) fn push(&mut self, side: Side<'_>) {
        match (&mut self.numbers, side) {
            (Numbers::Floats(floats), Side::Floats(side)) => floats.extend_from_slice(side),
            (Numbers::Bytes(bytes, squares), Side::Bytes(side)) => {
                bytes.extend_from_slice(side.numbers);
                squares.push(side.square);
            }
            (Numbers::Floats(_) | Numbers::Bytes(..), _) => {
                debug_assert!(false, "a vector of another form than its encoding says");
            }
        }
    }

    /// Removes a row, and puts the last one in its place.
    pub(crate) fn swap_remove(&mut self, row: usize) {
        fn remove<T: Copy>(numbers: &mut Vec<T>, row: usize, dimensions: usize) {
            let last = numbers.len() - dimensions;
            numbers.copy_within(last.., row * dimensions);
            numbers.truncate(last);
        }
        match &mut self.numbers {
            Numbers::Floats(floats) => remove(floats, row, self.dimensions),
            Numbers::Bytes(bytes, squares) => {
                remove(bytes, row, self.dimensions);
                squares.swap_remove(row);
            }
        }
    }

    /// Returns the vector of a row.
    pub(crate) fn side(&self, row: usize) -> Side<'_> {
        let range = self.range(row..row + 1);
        match &self.numbers {
            Numbers::Floats(floats) => Side::Floats(&floats[range]),
            Numbers::Bytes(bytes, squares) => {
                Side::Bytes(Quantized { numbers: &bytes[range], square: squares[row] })
            }
        }
    }

    /// Returns the vectors of rows with unit length, one after the other; each number is off by at most `f32::EPSILON` of itself.
    pub(crate) fn unit_rows(&self, rows: Range<usize>) -> Cow<'_, [f32]> {
        match &self.numbers {
            Numbers::Floats(floats) => Cow::Borrowed(&floats[self.range(rows)]),
            Numbers::Bytes(..) => {
                let mut unit = Vec::with_capacity(rows.len() * self.dimensions);
                rows.for_each(|row| self.append(row, 1.0, &mut unit));
                Cow::Owned(unit)
            }
        }
    }

    /// Appends the vector of a row, scaled to a length.
    pub(crate) fn append(&self, row: usize, length: f32, values: &mut Vec<f32>) {
        match self.side(row) {
            Side::Floats(numbers) => values.extend(numbers.iter().map(|n| n * length)),
            Side::Bytes(Quantized { numbers, square }) => {
                let scale = (f64::from(length) / f64::from(square).sqrt()) as f32;
                values.extend(numbers.iter().map(|n| f32::from(*n) * scale));
            }
        }
    }

    /// Swaps two rows.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        fn swap<T>(numbers: &mut [T], a: usize, b: usize, dimensions: usize) {
            let (left, right) = numbers.split_at_mut(a.max(b) * dimensions);
            left[a.min(b) * dimensions..][..dimensions].swap_with_slice(&mut right[..dimensions]);
        }
        if a == b {
            return;
        }
        match &mut self.numbers {
            Numbers::Floats(floats) => swap(floats, a, b, self.dimensions),
            Numbers::Bytes(bytes, squares) => {
                swap(bytes, a, b, self.dimensions);
                squares.swap(a, b);
            }
        }
    }

    fn range(&self, rows: Range<usize>) -> Range<usize> {
        rows.start * self.dimensions..rows.end * self.dimensions
    }
}
