//! What stands in for comparing everyone in a large group: a graph over a former state of it, and what came since.

use std::collections::HashSet;
use std::thread::JoinHandle;

use foldhash::fast::RandomState;

use super::graph::Graph;

/// When one in so many of the group came or left since the graph was made, another one is made beside it: some thousands
/// where there are hundreds of thousands.
const STALE: usize = 50;

/// Some projects.
pub(super) type Ordinals = HashSet<u32, RandomState>;

/// A graph, or the hope of one: until the first is made, everyone is compared.
#[derive(Debug, Default)]
pub(super) struct Base {
    graph: Option<Graph>,
    /// Who came, or changed, since the graph was made: what it says of them is not looked at.
    since: Ordinals,
    left: usize,
    next: Option<Next>,
}

/// A graph that is being made on a thread of its own while the former one serves.
#[derive(Debug)]
struct Next {
    graph: JoinHandle<Option<Graph>>,
    since: Ordinals,
    left: usize,
}

impl Base {
    /// Who came in since the graph was made, if there is one.
    pub(super) fn graph(&self) -> Option<(&Graph, &Ordinals)> {
        self.graph.as_ref().map(|graph| (graph, &self.since))
    }

    /// From now on the graph shows the group as it is.
    pub(super) fn set(&mut self, graph: Graph) {
        *self = Base { graph: Some(graph), ..Base::default() };
    }

    pub(super) fn came(&mut self, ordinal: u32) {
        if self.graph.is_some() {
            self.since.insert(ordinal);
        }
        if let Some(next) = &mut self.next {
            next.since.insert(ordinal);
        }
    }

    pub(super) fn left(&mut self, ordinal: u32) {
        self.since.remove(&ordinal);
        self.left += 1;
        if let Some(next) = &mut self.next {
            next.since.remove(&ordinal);
            next.left += 1;
        }
    }

    /// Whether it is time to make another graph of a group that has so many projects.
    pub(super) fn is_stale(&self, projects: usize) -> bool {
        let changes = self.since.len() + self.left;
        self.next.is_none() && (self.graph.is_none() || changes * STALE > projects)
    }

    /// Makes another graph of rows and whose they are, which are those of now, on a thread of its own.
    pub(super) fn make_next(&mut self, ordinals: Vec<u32>, numbers: Vec<f32>, width: usize) {
        let make = move || {
            // Of one thread: there is no hurry, and those who answer need the others.
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok()?;
            Some(one.install(|| Graph::build(ordinals, &numbers, width)))
        };
        match std::thread::Builder::new().name("neighbours-graph".into()).spawn(make) {
            Ok(graph) => self.next = Some(Next { graph, since: Ordinals::default(), left: 0 }),
            Err(error) => {
                tracing::warn!(%error, "the graph of neighbours could not be made anew; trying later")
            }
        }
    }

    /// Takes the next graph if it is made.
    pub(super) fn take_next(&mut self) {
        let Some(Next { graph, since, left }) = self.next.take_if(|next| next.graph.is_finished()) else {
            return;
        };
        match graph.join() {
            Ok(Some(graph)) => *self = Base { graph: Some(graph), since, left, next: None },
            Ok(None) | Err(_) => {
                tracing::warn!("the graph of neighbours could not be made anew; trying again");
            }
        }
    }
}
