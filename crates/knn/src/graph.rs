//! A graph (HNSW, by instant-distance) over the rows of a large group: it proposes rows that may be near, which are then compared
//! exactly. Rows cannot be added to it: [`GraphState`] has what changed since it was built, and builds the next one in the
//! background.

use std::collections::HashSet;
use std::sync::Arc;
use std::thread::JoinHandle;

use foldhash::fast::RandomState;
use instant_distance::{Builder, HnswMap, Point, Search};

use crate::row::Row;
use crate::vector::{Side, dot_bytes};

/// The number of rows that are proposed (HNSW's `ef`). For lists of 64 this leaves room for rows that were removed since.
const PROPOSED: usize = 160;

/// The number of rows that are examined for the edges of a node (HNSW's `ef_construction`).
const CONSTRUCTION: usize = 100;

/// The same rows in the same order give the same graph, on one thread.
const SEED: u64 = 0x6c6f_6767_6961;

/// A graph over the rows that a group had when it was built; its values are ids.
pub(crate) struct Graph {
    map: HnswMap<CoarseRow, u32>,
}

/// A row in one byte a number, and what one step of each side is worth. Which rows are proposed depends on it, and nothing else.
/// Clones share the values.
#[derive(Debug, Clone)]
pub(crate) struct CoarseRow {
    /// Those of the first side, then those of the second.
    values: Arc<[i8]>,
    /// The number of values of the first side.
    visual: usize,
    steps: [f32; 2],
}

impl CoarseRow {
    pub(crate) fn of(row: Row<'_>) -> CoarseRow {
        let mut values = Vec::new();
        let mut add = |side: Option<Side<'_>>| match side {
            None => 0.0,
            Some(Side::Floats(side)) => {
                let greatest = side.iter().fold(0.0, |greatest: f32, value| greatest.max(value.abs()));
                let step = greatest / f32::from(i8::MAX);
                // Of nothing but zeros each is a NaN, which is cast to 0.
                values.extend(side.iter().map(|value| (value / step).round() as i8));
                step
            }
            Some(Side::Bytes(side)) => {
                values.extend_from_slice(side.numbers);
                f64::from(side.square).sqrt().recip() as f32
            }
        };
        let steps = [add(row.visual), add(row.semantic)];
        let visual = row.layout.visual.map_or(0, |encoding| encoding.dimensions);
        CoarseRow { values: values.into(), visual, steps }
    }
}

impl Point for CoarseRow {
    fn distance(&self, other: &CoarseRow) -> f32 {
        let (a, b) = (self.values.split_at(self.visual), other.values.split_at(other.visual));
        let cosine =
            |a: &[i8], b: &[i8], side: usize| dot_bytes(a, b) as f32 * (self.steps[side] * other.steps[side]);
        // Only the order counts, so it may be off by a constant: rows of two sides have the length √2.
        1.0 - cosine(a.0, b.0, 0) - cosine(a.1, b.1, 1)
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("rows", &self.map.values.len()).finish_non_exhaustive()
    }
}

impl Graph {
    /// Builds a graph of rows and their ids, on the threads of the current pool.
    pub(crate) fn build(ids: Vec<u32>, rows: Vec<CoarseRow>) -> Graph {
        let builder = Builder::default().ef_construction(CONSTRUCTION).ef_search(PROPOSED).seed(SEED);
        Graph { map: builder.build(rows, ids) }
    }

    /// Returns the ids of the rows that are probably nearest to `row`, at most [`PROPOSED`].
    pub(crate) fn propose(&self, row: Row<'_>, search: &mut Search) -> Vec<u32> {
        self.map.search(&CoarseRow::of(row), search).map(|item| *item.value).collect()
    }
}

/// A graph is rebuilt in the background when one in this many rows changed since it was built: some thousands of hundreds of
/// thousands.
const STALE_SHARE: usize = 50;

/// A set of ids.
pub(crate) type Ids = HashSet<u32, RandomState>;

/// The graph of a group, if it has one, and the changes since. Without a graph all rows are compared.
#[derive(Debug, Default)]
pub(crate) struct GraphState {
    graph: Option<Graph>,
    /// The rows that were added or replaced since it was built: always compared, and ignored where the graph proposes them.
    added: Ids,
    /// The number of rows removed since it was built.
    removed: usize,
    rebuild: Option<Rebuild>,
}

/// A graph that is being built on its own thread while the previous one is in use, and the changes since its start.
#[derive(Debug)]
struct Rebuild {
    graph: JoinHandle<Option<Graph>>,
    added: Ids,
    removed: usize,
}

impl GraphState {
    /// Returns the graph and the rows that were added or replaced since it was built.
    pub(crate) fn get(&self) -> Option<(&Graph, &Ids)> {
        self.graph.as_ref().map(|graph| (graph, &self.added))
    }

    /// Replaces the graph by one of the current rows.
    pub(crate) fn set(&mut self, graph: Graph) {
        *self = GraphState { graph: Some(graph), ..GraphState::default() };
    }

    /// Records that a row was added.
    pub(crate) fn add(&mut self, id: u32) {
        if self.graph.is_some() {
            self.added.insert(id);
        }
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.added.insert(id);
        }
    }

    /// Records that a row was removed.
    pub(crate) fn remove(&mut self, id: u32) {
        self.added.remove(&id);
        self.removed += 1;
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.added.remove(&id);
            rebuild.removed += 1;
        }
    }

    /// Returns whether the graph of a group that now has `rows` rows is to be rebuilt.
    pub(crate) fn is_stale(&self, rows: usize) -> bool {
        let changes = self.added.len() + self.removed;
        self.rebuild.is_none() && (self.graph.is_none() || changes * STALE_SHARE > rows)
    }

    /// Starts to build a graph of the current rows on a thread of its own.
    pub(crate) fn rebuild(&mut self, ids: Vec<u32>, rows: Vec<CoarseRow>) {
        let build = move || {
            // One thread: it is not urgent, and requests need the other threads.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
            Some(pool.install(|| Graph::build(ids, rows)))
        };
        match std::thread::Builder::new().name("neighbours-graph".into()).spawn(build) {
            Ok(graph) => self.rebuild = Some(Rebuild { graph, added: Ids::default(), removed: 0 }),
            Err(error) => {
                tracing::warn!(%error, "the graph of neighbours could not be rebuilt; trying later")
            }
        }
    }

    /// Replaces the graph by the rebuilt one if that is ready.
    pub(crate) fn take_rebuilt(&mut self) {
        let Some(Rebuild { graph, added, removed }) =
            self.rebuild.take_if(|rebuild| rebuild.graph.is_finished())
        else {
            return;
        };
        match graph.join() {
            Ok(Some(graph)) => *self = GraphState { graph: Some(graph), added, removed, rebuild: None },
            Ok(None) | Err(_) => {
                tracing::warn!("the graph of neighbours could not be rebuilt; trying again");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::row::{Encoding, Layout};
    use crate::vector::Quantized;

    #[test]
    fn a_coarse_row_is_as_far_as_its_row_but_for_one_percent() {
        let floats = [[0.6, 0.8, 0.0, 0.0], [0.8, -0.6, 0.0, 0.0], [0.0, 0.05, 0.0, 0.9987], [0.0; 4]];
        let bytes = [[127_i8, 0, 5], [-90, 90, 1], [4, 5, 6], [0, 0, 127]];
        let encoding = |dimensions, is_quantized| Some(Encoding { model: 0, dimensions, is_quantized });
        let layout = Layout { visual: encoding(4, false), semantic: encoding(3, true) };
        let row = |at: usize| {
            let (visual, semantic) = (Side::Floats(&floats[at]), Side::Bytes(Quantized::new(&bytes[at])));
            Row { layout, visual: Some(visual), semantic: Some(semantic) }
        };
        for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let exact = 1.0 - 2.0 * row(a).score(row(b)).unwrap_or_default();
            let coarse = CoarseRow::of(row(a)).distance(&CoarseRow::of(row(b)));
            assert!((coarse - exact).abs() < 0.01, "{a} {b}: {coarse} for {exact}");
        }
    }
}
