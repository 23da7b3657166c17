//! One of the two blocks of rows that are compared, with the nearest that were found so far.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::rank::{Best, Rank};
use super::space::Block;

/// A block and what was found for its rows.
pub(super) struct Side<'a> {
    pub(super) block: Block<'a>,
    /// Whether a row is offered to those that it meets.
    pub(super) gives: Vec<bool>,
    best: Mutex<Vec<Best>>,
}

impl<'a> Side<'a> {
    pub(super) fn new(
        block: Block<'a>,
        gives: impl Fn(u32) -> bool,
        bar: impl Fn(usize) -> Rank,
    ) -> Side<'a> {
        let rows = block.ordinals.len();
        Side {
            block,
            gives: block.ordinals.iter().map(|ordinal| gives(*ordinal)).collect(),
            best: Mutex::new((0..rows).map(|row| Best::before(bar(row))).collect()),
        }
    }

    pub(super) fn best(&self) -> MutexGuard<'_, Vec<Best>> {
        // Whoever panics with it in hand ends the whole comparison.
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_found(self) -> impl Iterator<Item = (u32, Vec<Rank>)> {
        let best = self.best.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.block.ordinals.iter().copied().zip(best.into_iter().map(Best::into_found))
    }
}
