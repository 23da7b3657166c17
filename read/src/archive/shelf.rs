//! The whole order: blocks one after the other. Shelves share the blocks that did not change between them.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::block::Block;
use super::order::Place;
use super::rebuild::{Arrivals, filled, rebuild};

/// The blocks in order, none of them empty.
#[derive(Debug)]
pub(super) struct Shelf {
    pub(super) blocks: Vec<Arc<Block>>,
    /// The most projects of a block.
    largest: usize,
}

impl Shelf {
    pub(super) fn new(largest: usize) -> Shelf {
        Shelf { blocks: Vec::new(), largest }
    }

    /// The shelf without the projects of these ordinals, and with those that come.
    pub(super) fn changed(&self, leaving: &HashSet<u64, RandomState>, arrivals: Arrivals<'_>) -> Shelf {
        let mut blocks = Vec::with_capacity(self.blocks.len() + 1);
        let mut coming = arrivals.projects;
        for (index, block) in self.blocks.iter().enumerate() {
            let next = self.blocks.get(index + 1).map(|next| next.place(0));
            let end = next.map_or(coming.len(), |next| coming.partition_point(|one| one.place() < next));
            let (own, others) = coming.split_at(end);
            coming = others;
            let ordinals = block.ordinals().iter().enumerate();
            let leaving: Vec<usize> =
                ordinals.filter(|(_, ordinal)| leaving.contains(ordinal)).map(|(at, _)| at).collect();
            if own.is_empty() && leaving.is_empty() {
                blocks.push(block.clone());
            } else {
                let own = Arrivals { projects: own, ..arrivals };
                blocks.extend(rebuild(block, &leaving, own, self.largest).into_iter().map(Arc::new));
            }
        }
        // There is no block that could take them up: the shelf was empty.
        for own in coming.chunks(filled(self.largest)) {
            let own = Arrivals { projects: own, ..arrivals };
            blocks.extend(rebuild(&Block::default(), &[], own, self.largest).into_iter().map(Arc::new));
        }
        Shelf { blocks, largest: self.largest }
    }

    /// The first project behind a place: the index of its block, and its number there. Without a place the very first.
    pub(super) fn behind(&self, place: Option<Place<'_>>) -> (usize, usize) {
        let Some(place) = place else { return (0, 0) };
        let index = self.blocks.partition_point(|block| block.place(block.len() - 1) <= place);
        (index, self.blocks.get(index).map_or(0, |block| block.behind(place)))
    }
}
