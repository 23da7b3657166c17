//! All lists in memory, by project. A lookup copies a list of 400 bytes and waits only for the lock of a shard that a refresh is
//! writing.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;

use super::LISTED;
use super::list::Neighbours;

/// The number of shards: a shard that grows moves a 64th of the index.
const SHARDS: usize = 64;

/// The number of lists that are allocated at once, so that no shard has much unused space.
const PAGE: usize = 32;

/// The status of a project's list of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListStatus {
    /// No project was selected at this position, up to the checkpoint.
    Unknown,
    /// The project is withdrawn: it has no neighbours and is in no list.
    Withdrawn,
    /// No vector was recorded for the project.
    NoVectors,
    /// The project has vectors, and its list is not computed yet.
    Pending,
    /// The project has a list, which is empty only if no other project can be compared with it.
    Ready,
}

/// Every project's status and list.
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
    status: ListStatus,
    /// The numbers of the models of its vectors.
    models: Models,
}

/// The numbers of the models that made the visual and the semantic vector of a project; 0 for none.
pub(super) type Models = [u8; 2];

const _: () = assert!(size_of::<Row>() <= LISTED * 8 + 4);

impl Table {
    pub(super) fn new() -> Table {
        Table { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }

    /// Returns the status of the project that was selected at this position, and its list if that is ready.
    pub(super) fn find(&self, ordinal: u64) -> (ListStatus, Option<Neighbours>) {
        let Ok(ordinal) = u32::try_from(ordinal) else { return (ListStatus::Unknown, None) };
        let shard = self.shard(ordinal).read().unwrap_or_else(PoisonError::into_inner);
        match shard.index.get(&ordinal) {
            None => (ListStatus::Unknown, None),
            Some(at) => {
                let (page, row) = page_and_row(*at);
                let Row { neighbours, status, .. } = shard.pages[page][row];
                (status, (status == ListStatus::Ready).then_some(neighbours))
            }
        }
    }

    /// Returns the numbers of the models of the project that was selected at this position.
    pub(super) fn models(&self, ordinal: u64) -> Models {
        let Ok(ordinal) = u32::try_from(ordinal) else { return Models::default() };
        let shard = self.shard(ordinal).read().unwrap_or_else(PoisonError::into_inner);
        shard.index.get(&ordinal).map_or(Models::default(), |at| {
            let (page, row) = page_and_row(*at);
            shard.pages[page][row].models
        })
    }

    pub(super) fn set(&self, ordinal: u32, status: ListStatus, neighbours: Neighbours, models: Models) {
        let mut shard = self.shard(ordinal).write().unwrap_or_else(PoisonError::into_inner);
        let next = shard.index.len() as u32;
        let (page, row) = page_and_row(*shard.index.entry(ordinal).or_insert(next));
        let new = Row { neighbours, status, models };
        if page == shard.pages.len() {
            shard.pages.push(vec![new; PAGE].into_boxed_slice());
        }
        shard.pages[page][row] = new;
    }

    fn shard(&self, ordinal: u32) -> &RwLock<Shard> {
        &self.shards[ordinal as usize % SHARDS]
    }
}

fn page_and_row(at: u32) -> (usize, usize) {
    (at as usize / PAGE, at as usize % PAGE)
}
