//! All lists in memory, by whose they are. A look-up copies a list of 400 bytes and waits for nothing but a part of the
//! table that is being changed in a few places.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;

use super::LISTED;
use super::list::Neighbours;

/// Parts of the table: one that grows moves a 64th of the index.
const SHARDS: usize = 64;

/// Lists that are made room for at once, so that no part has room for many more than it has.
const PAGE: usize = 32;

/// What is known of a project's neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// No project was selected at this position, as far as the model has come.
    Unknown,
    /// It is not listed, so it has no neighbours and is none.
    Withdrawn,
    /// No vector was recorded for it.
    NoVectors,
    /// It has vectors, and its neighbours are still being looked for.
    Pending,
    /// It has a list, empty only if no other project can be compared with it.
    Known,
}

/// Every project's standing and list.
#[derive(Debug)]
pub(super) struct Table {
    shards: Box<[RwLock<Shard>]>,
}

#[derive(Debug, Default)]
struct Shard {
    index: HashMap<u32, u32, RandomState>,
    pages: Vec<Box<[Row]>>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    neighbours: Neighbours,
    standing: Standing,
}

const _: () = assert!(size_of::<Row>() <= LISTED * 8 + 2);

impl Table {
    pub(super) fn new() -> Table {
        Table { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }

    /// What is known of the project that was selected at this position; its list where that is known.
    pub(super) fn find(&self, ordinal: u64) -> (Standing, Option<Neighbours>) {
        let Ok(ordinal) = u32::try_from(ordinal) else { return (Standing::Unknown, None) };
        let shard = self.shard(ordinal).read().unwrap_or_else(PoisonError::into_inner);
        match shard.index.get(&ordinal) {
            None => (Standing::Unknown, None),
            Some(at) => {
                let (page, row) = place(*at);
                let Row { neighbours, standing } = shard.pages[page][row];
                (standing, (standing == Standing::Known).then_some(neighbours))
            }
        }
    }

    pub(super) fn set(&self, ordinal: u32, standing: Standing, neighbours: Neighbours) {
        let mut shard = self.shard(ordinal).write().unwrap_or_else(PoisonError::into_inner);
        let next = shard.index.len() as u32;
        let (page, row) = place(*shard.index.entry(ordinal).or_insert(next));
        let new = Row { neighbours, standing };
        if page == shard.pages.len() {
            shard.pages.push(vec![new; PAGE].into_boxed_slice());
        }
        shard.pages[page][row] = new;
    }

    fn shard(&self, ordinal: u32) -> &RwLock<Shard> {
        &self.shards[ordinal as usize % SHARDS]
    }
}

fn place(at: u32) -> (usize, usize) {
    (at as usize / PAGE, at as usize % PAGE)
}
