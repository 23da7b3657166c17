//! The listed projects in the order of [`SortKey`], cut into blocks. Two lists share the blocks that are equal in both.

pub(super) mod bitmap;
mod block;
mod places;
mod rebuild;

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::order::SortKey;
use places::Places;
use rebuild::{fill_target, rebuild};

pub(super) use block::{Block, MAX_PROJECTS, TermInfo};
pub(super) use rebuild::{NewProject, NewProjects};

/// The blocks in order, none of them empty.
#[derive(Debug)]
pub(super) struct BlockList {
    pub(super) blocks: Vec<Arc<Block>>,
    /// The maximum number of projects in a block.
    max_projects: usize,
    places: Places,
}

impl BlockList {
    pub(super) fn new(max_projects: usize) -> BlockList {
        BlockList { blocks: Vec::new(), max_projects, places: Places::default() }
    }

    /// Returns the list without the projects with these ordinals, and with the added ones.
    pub(super) fn updated(&self, removed: &HashSet<u64, RandomState>, added: NewProjects<'_>) -> BlockList {
        let mut blocks = Vec::with_capacity(self.blocks.len() + 1);
        let mut remaining = added.projects;
        for (index, block) in self.blocks.iter().enumerate() {
            let next = self.blocks.get(index + 1).map(|next| next.sort_key(0));
            let end =
                next.map_or(remaining.len(), |next| remaining.partition_point(|one| one.sort_key() < next));
            let (own, others) = remaining.split_at(end);
            remaining = others;
            let ordinals = block.ordinals.iter().enumerate();
            let removed: Vec<usize> =
                ordinals.filter(|(_, ordinal)| removed.contains(ordinal)).map(|(at, _)| at).collect();
            if own.is_empty() && removed.is_empty() {
                blocks.push(block.clone());
            } else {
                let own = NewProjects { projects: own, ..added };
                blocks.extend(rebuild(block, &removed, own, self.max_projects).into_iter().map(Arc::new));
            }
        }
        // Projects remain only if there was no block.
        for own in remaining.chunks(fill_target(self.max_projects)) {
            let own = NewProjects { projects: own, ..added };
            blocks.extend(rebuild(&Block::default(), &[], own, self.max_projects).into_iter().map(Arc::new));
        }
        BlockList { blocks, max_projects: self.max_projects, places: Places::default() }
    }

    /// Returns the number of projects.
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.len()).sum()
    }

    /// Returns the block of a project, and its index in that.
    pub(super) fn find(&self, ordinal: u64) -> Option<(&Block, u16)> {
        let (block, at) = self.places.get(&self.blocks, ordinal)?;
        Some((&self.blocks[block], at))
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes()).sum::<usize>() + self.places.bytes()
    }

    /// Returns the block index and the number in it of the first project after a sort key, or of the first of all.
    pub(super) fn first_after(&self, key: Option<SortKey<'_>>) -> (usize, usize) {
        let Some(key) = key else { return (0, 0) };
        let index = self.blocks.partition_point(|block| block.sort_key(block.len() - 1) <= key);
        (index, self.blocks.get(index).map_or(0, |block| block.first_after(key)))
    }
}
