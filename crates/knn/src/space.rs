//! All rows, in groups of one layout.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::graph::Graph;
use crate::graph_state::{GraphState, Ids};
use crate::rank::Rank;
use crate::row::{Layout, Row};

/// The rows of a block: two blocks of 512 dimensions and their product fit into a processor's cache.
pub(crate) const BLOCK: usize = 512;

/// Rows by id, with the last rank of each row's list. Ids are unique.
#[derive(Debug)]
pub struct VectorSpace {
    /// The length of a list.
    k: usize,
    /// One for each layout, in the order of their first rows.
    groups: Vec<Group>,
    places: HashMap<u32, Place, RandomState>,
}

/// The rows of one layout, their values side by side.
#[derive(Debug)]
struct Group {
    layout: Layout,
    ids: Vec<u32>,
    values: Vec<f32>,
    /// A rank before a row's bar belongs into its list.
    bars: Vec<Rank>,
    /// Proposes candidates in a large group.
    graph: GraphState,
}

/// The place of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    group: usize,
    pub(crate) layout: Layout,
    pub(crate) row: usize,
}

/// Consecutive rows of one group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The length of a list.
    pub(crate) k: usize,
    pub(crate) layout: Layout,
    pub(crate) ids: &'a [u32],
    pub(crate) values: &'a [f32],
    pub(crate) bars: &'a [Rank],
}

impl<'a> Block<'a> {
    /// Returns the number of values in a row.
    pub(crate) fn width(&self) -> usize {
        self.layout.width()
    }

    pub(crate) fn row(&self, at: usize) -> Row<'a> {
        let width = self.width();
        Row::of(self.layout, &self.values[at * width..][..width])
    }
}

impl Group {
    fn of(layout: Layout) -> Group {
        Group { layout, ids: Vec::new(), values: Vec::new(), bars: Vec::new(), graph: GraphState::default() }
    }
}

impl VectorSpace {
    /// Creates an empty space for lists of `k` rows.
    pub fn new(k: usize) -> VectorSpace {
        VectorSpace { k, groups: Vec::new(), places: HashMap::default() }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns whether there is a row of this id.
    pub fn contains(&self, id: u32) -> bool {
        self.places.contains_key(&id)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns all ids, in no particular order.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().flat_map(|group| group.ids.iter().copied())
    }

    /// Adds a row of a new id with at least one side; its bar is [`Rank::LAST`].
    pub fn insert(&mut self, id: u32, row: Row<'_>) {
        let layout = row.layout;
        let at = self.groups.iter().position(|group| group.layout == layout).unwrap_or_else(|| {
            self.groups.push(Group::of(layout));
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        self.places.insert(id, Place { group: at, layout, row: group.ids.len() });
        group.ids.push(id);
        group.bars.push(Rank::LAST);
        group.graph.added(id);
        for side in [row.visual, row.semantic].into_iter().flatten() {
            group.values.extend_from_slice(side);
        }
    }

    /// Removes a row, if it is there.
    pub fn remove(&mut self, id: u32) {
        let Some(place) = self.places.remove(&id) else { return };
        let (Place { layout, row, .. }, group) = (place, &mut self.groups[place.group]);
        let (width, last) = (layout.width(), group.ids.len() - 1);
        group.graph.removed(id);
        group.ids.swap_remove(row);
        group.bars.swap_remove(row);
        group.values.copy_within(last * width..(last + 1) * width, row * width);
        group.values.truncate(last * width);
        if let Some(moved) = group.ids.get(row) {
            self.places.insert(*moved, place);
        }
    }

    /// Returns the row of an id.
    pub fn row(&self, id: u32) -> Option<Row<'_>> {
        let Place { group, layout, row } = *self.places.get(&id)?;
        let width = layout.width();
        Some(Row::of(layout, &self.groups[group].values[row * width..][..width]))
    }

    /// Returns the rank of a row in the list of another; `None` if one is not there, or without a common side.
    pub fn rank(&self, owner: u32, id: u32) -> Option<Rank> {
        let score = self.row(owner)?.score(self.row(id)?)?;
        Some(Rank { score, id })
    }

    /// Sets the last rank of a row's list.
    pub fn set_bar(&mut self, id: u32, bar: Rank) {
        if let Some(Place { group, row, .. }) = self.places.get(&id) {
            self.groups[*group].bars[*row] = bar;
        }
    }

    pub(crate) fn place(&self, id: u32) -> Option<Place> {
        self.places.get(&id).copied()
    }

    /// Returns the graph of a layout and the rows added since it was built; `None` while all rows are compared.
    pub(crate) fn graph(&self, layout: Layout) -> Option<(&Graph, &Ids)> {
        self.groups.iter().find(|group| group.layout == layout)?.graph.get()
    }

    /// Builds a graph of each group of at least `from` rows, and drops the others.
    pub fn build_graphs(&mut self, from: usize) {
        for group in &mut self.groups {
            group.graph = GraphState::default();
            if group.ids.len() >= from {
                group.graph.set(Graph::build(group.ids.clone(), &group.values, group.layout.width()));
            }
        }
    }

    /// Takes graphs that were rebuilt in the background, and begins to rebuild stale ones of groups of at least `from` rows.
    pub fn renew_graphs(&mut self, from: usize) {
        for group in &mut self.groups {
            group.graph.take_rebuilt();
            if group.ids.len() >= from && group.graph.is_stale(group.ids.len()) {
                group.graph.rebuild(group.ids.clone(), group.values.clone(), group.layout.width());
            }
        }
    }

    /// Returns all rows in blocks.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        fn of_group(group: &Group, k: usize) -> impl Iterator<Item = Block<'_>> {
            let Group { layout, ids, values, bars, .. } = group;
            let values = values.chunks(BLOCK * layout.width().max(1));
            let rows = ids.chunks(BLOCK).zip(bars.chunks(BLOCK)).zip(values);
            rows.map(move |((ids, bars), values)| Block { k, layout: *layout, ids, values, bars })
        }
        self.groups.iter().flat_map(|group| of_group(group, self.k)).collect()
    }

    /// Returns copies of some rows.
    pub fn subset<'a>(&self, ids: impl IntoIterator<Item = &'a u32>) -> VectorSpace {
        let mut some = VectorSpace::new(self.k);
        for id in ids {
            if let Some(row) = self.row(*id) {
                some.insert(*id, row);
            }
        }
        some
    }

    /// Returns the rows whose list has one of these: those for which it ranks at or before the bar.
    pub fn holders(&self, held: &[u32]) -> HashSet<u32> {
        let rows: Vec<(u32, Row<'_>)> = held.iter().filter_map(|id| Some((*id, self.row(*id)?))).collect();
        let in_block = |block: Block<'_>| {
            let holds = |at: &usize| {
                let row = block.row(*at);
                rows.iter().any(|(id, held)| {
                    let score = row.score(*held);
                    let rank = score.map(|score| Rank { score, id: *id });
                    rank.is_some_and(|rank| rank <= block.bars[*at])
                })
            };
            (0..block.ids.len()).filter(holds).map(|at| block.ids[at]).collect::<Vec<u32>>()
        };
        self.blocks().into_par_iter().flat_map_iter(in_block).collect()
    }
}
