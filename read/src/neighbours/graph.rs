//! A graph over many projects of one kind, made by instant-distance: it proposes who may be near, and those are compared
//! exactly. It cannot be added to; see `base` for what came since.

use std::sync::Arc;

use instant_distance::{Builder, HnswMap, Point, Search};

use super::unit::dot;

/// How many are proposed to a project. Of 64 that are kept this leaves room for those that are left out meanwhile.
const PROPOSED: usize = 160;

/// How many are looked at for the edges of a node.
const CONSTRUCTION: usize = 100;

/// The graph is the same for the same projects in the same order, on one thread.
const SEED: u64 = 0x6c6f_6767_6961;

/// A graph over a state of a group; values are ordinals.
pub(super) struct Graph {
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
        f.debug_struct("Graph").field("projects", &self.map.values.len()).finish_non_exhaustive()
    }
}

impl Graph {
    /// Of rows and whose they are, on the threads of the pool that it is called in.
    pub(super) fn build(ordinals: Vec<u32>, numbers: &[f32], width: usize) -> Graph {
        let points = numbers.chunks_exact(width).map(|row| Direction(row.into())).collect();
        let builder = Builder::default().ef_construction(CONSTRUCTION).ef_search(PROPOSED).seed(SEED);
        Graph { map: builder.build(points, ordinals) }
    }

    /// Those of its projects that are nearest to a row, most likely: at most [`PROPOSED`].
    pub(super) fn propose(&self, row: &[f32], search: &mut Search) -> Vec<u32> {
        self.map.search(&Direction(row.into()), search).map(|item| *item.value).collect()
    }
}
