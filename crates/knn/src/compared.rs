//! One of two blocks of rows that are compared, with the best that were found so far.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::rank::{Best, Rank};
use crate::space::Block;

/// A block and the best ranks of its rows.
pub(crate) struct Compared<'a> {
    pub(crate) block: Block<'a>,
    /// Whether each row is offered to the lists of the rows that it is compared with.
    pub(crate) gives: Vec<bool>,
    best: Mutex<Vec<Best>>,
}

impl<'a> Compared<'a> {
    pub(crate) fn new(
        block: Block<'a>,
        gives: impl Fn(u32) -> bool,
        bar: impl Fn(usize) -> Rank,
    ) -> Compared<'a> {
        let rows = block.ids.len();
        Compared {
            block,
            gives: block.ids.iter().map(|id| gives(*id)).collect(),
            best: Mutex::new((0..rows).map(|row| Best::before(bar(row), block.k)).collect()),
        }
    }

    pub(crate) fn best(&self) -> MutexGuard<'_, Vec<Best>> {
        // A panic ends the whole comparison.
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn into_found(self) -> impl Iterator<Item = (u32, Vec<Rank>)> {
        let best = self.best.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.block.ids.iter().copied().zip(best.into_iter().map(Best::into_found))
    }
}
