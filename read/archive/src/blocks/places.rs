//! Where each project is in the blocks.

use std::sync::{Arc, OnceLock};

use super::Block;

/// The block of each ordinal, and the index in it; looked for when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Places(OnceLock<Box<[Option<Place>]>>);

#[derive(Debug, Clone, Copy)]
struct Place {
    block: u32,
    at: u16,
}

impl Places {
    /// Returns the index of the block of a project, and its index in that. The blocks are the same at each call.
    pub(super) fn get(&self, blocks: &[Arc<Block>], ordinal: u64) -> Option<(usize, u16)> {
        let places = self.0.get_or_init(|| places(blocks));
        let Place { block, at } = (*places.get(usize::try_from(ordinal).ok()?)?)?;
        Some((block as usize, at))
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.get().map_or(0, |places| size_of_val(&**places))
    }
}

fn places(blocks: &[Arc<Block>]) -> Box<[Option<Place>]> {
    let last = blocks.iter().flat_map(|block| &block.ordinals).max();
    let mut places = vec![None; last.map_or(0, |last| *last as usize + 1)];
    for (index, block) in (0..).zip(blocks) {
        for (at, ordinal) in (0..).zip(&block.ordinals) {
            places[*ordinal as usize] = Some(Place { block: index, at });
        }
    }
    places.into()
}
