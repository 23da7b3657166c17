//! The graph of a large group: built of an earlier state, with the rows that changed since.

use std::collections::HashSet;
use std::thread::JoinHandle;

use foldhash::fast::RandomState;

use crate::graph::Graph;

/// A graph is rebuilt in the background when one in this many rows changed since it was built: some thousands of
/// hundreds of thousands.
const STALE: usize = 50;

/// A set of ids.
pub(crate) type Ids = HashSet<u32, RandomState>;

/// The graph, if there is one already: until then all rows are compared.
#[derive(Debug, Default)]
pub(crate) struct GraphState {
    graph: Option<Graph>,
    /// The rows that were added or replaced since it was built; its proposals of them are ignored.
    since: Ids,
    removed: usize,
    rebuild: Option<Rebuild>,
}

/// A graph that is being built on its own thread while the former one is in use.
#[derive(Debug)]
struct Rebuild {
    graph: JoinHandle<Option<Graph>>,
    since: Ids,
    removed: usize,
}

impl GraphState {
    /// Returns the graph and the rows that were added since.
    pub(crate) fn get(&self) -> Option<(&Graph, &Ids)> {
        self.graph.as_ref().map(|graph| (graph, &self.since))
    }

    /// Replaces the graph by one of the present state.
    pub(crate) fn set(&mut self, graph: Graph) {
        *self = GraphState { graph: Some(graph), ..GraphState::default() };
    }

    pub(crate) fn added(&mut self, id: u32) {
        if self.graph.is_some() {
            self.since.insert(id);
        }
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.since.insert(id);
        }
    }

    pub(crate) fn removed(&mut self, id: u32) {
        self.since.remove(&id);
        self.removed += 1;
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.since.remove(&id);
            rebuild.removed += 1;
        }
    }

    /// Returns whether the graph of a group of this many rows is to be rebuilt.
    pub(crate) fn is_stale(&self, rows: usize) -> bool {
        let changes = self.since.len() + self.removed;
        self.rebuild.is_none() && (self.graph.is_none() || changes * STALE > rows)
    }

    /// Rebuilds the graph of the present rows on a thread of its own.
    pub(crate) fn rebuild(&mut self, ids: Vec<u32>, values: Vec<f32>, width: usize) {
        let make = move || {
            // One thread: it is not urgent, and requests need the others.
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
            Some(one.install(|| Graph::build(ids, &values, width)))
        };
        match std::thread::Builder::new().name("neighbours-graph".into()).spawn(make) {
            Ok(graph) => self.rebuild = Some(Rebuild { graph, since: Ids::default(), removed: 0 }),
            Err(error) => {
                tracing::warn!(%error, "the graph of neighbours could not be rebuilt; trying later")
            }
        }
    }

    /// Takes the rebuilt graph if it is ready.
    pub(crate) fn take_rebuilt(&mut self) {
        let Some(Rebuild { graph, since, removed }) =
            self.rebuild.take_if(|rebuild| rebuild.graph.is_finished())
        else {
            return;
        };
        match graph.join() {
            Ok(Some(graph)) => *self = GraphState { graph: Some(graph), since, removed, rebuild: None },
            Ok(None) | Err(_) => {
                tracing::warn!("the graph of neighbours could not be rebuilt; trying again");
            }
        }
    }
}
