//! A graph over many rows of one layout, built by instant-distance: it proposes rows that may be near, and those are
//! compared exactly. It cannot be added to; [`crate::graph_state`] has what changed since.

use std::sync::Arc;

use instant_distance::{Builder, HnswMap, Point, Search};

use crate::vector::dot;

/// The number of rows that are proposed. Of lists of 64 this leaves room for those that were removed meanwhile.
const PROPOSED: usize = 160;

/// The number of rows that are examined for the edges of a node.
const CONSTRUCTION: usize = 100;

/// The graph is the same for the same rows in the same order, on one thread.
const SEED: u64 = 0x6c6f_6767_6961;

/// A graph over a state of a group; its values are ids.
pub(crate) struct Graph {
    map: HnswMap<Direction, u32>,
}

/// A row of unit vectors. Copies share it.
#[derive(Debug, Clone)]
struct Direction(Arc<[f32]>);

impl Point for Direction {
    fn distance(&self, other: &Direction) -> f32 {
        // A distance without lanes makes building four times as slow (358 against 83 s, at 5,000 on a busy machine).
        // Only the order counts: rows of both sides have a length of the root of 2.
        1.0 - dot(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("rows", &self.map.values.len()).finish_non_exhaustive()
    }
}

impl Graph {
    /// Builds a graph of rows and their ids, on the threads of the current pool.
    pub(crate) fn build(ids: Vec<u32>, values: &[f32], width: usize) -> Graph {
        let points = values.chunks_exact(width).map(|row| Direction(row.into())).collect();
        let builder = Builder::default().ef_construction(CONSTRUCTION).ef_search(PROPOSED).seed(SEED);
        Graph { map: builder.build(points, ids) }
    }

    /// Returns the ids that are probably nearest to a row, at most [`PROPOSED`].
    pub(crate) fn propose(&self, row: &[f32], search: &mut Search) -> Vec<u32> {
        self.map.search(&Direction(row.into()), search).map(|item| *item.value).collect()
    }
}
