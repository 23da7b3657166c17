//! The vector space: all rows, grouped by layout.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::graph::{CoarseRow, Graph, GraphState, Ids};
use crate::rank::Rank;
use crate::row::{Layout, Row};

/// The rows of a block. Two blocks of 512 dimensions and their product fit into a processor's cache.
pub(crate) const BLOCK: usize = 512;

/// Rows by id, each with the admission threshold of its list: a rank that is not before it cannot enter the list.
#[derive(Debug)]
pub struct VectorSpace {
    /// The length of a list.
    k: usize,
    /// One for each layout, in the order of their first rows.
    groups: Vec<Group>,
    positions: HashMap<u32, Position, RandomState>,
}

/// The rows of one layout.
#[derive(Debug)]
struct Group {
    layout: Layout,
    ids: Vec<u32>,
    /// The values of all rows, one row after the other.
    values: Vec<f32>,
    /// The admission threshold of each row.
    thresholds: Vec<Rank>,
    /// Proposes candidates in a large group.
    graph: GraphState,
}

/// Where a row is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    group: usize,
    pub(crate) layout: Layout,
    /// Its index in the group.
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
    pub(crate) thresholds: &'a [Rank],
}

impl<'a> Block<'a> {
    /// Returns the number of values of a row.
    pub(crate) fn width(&self) -> usize {
        self.layout.width()
    }

    /// Returns a row by its index in the block.
    pub(crate) fn row(&self, at: usize) -> Row<'a> {
        let width = self.width();
        Row::of(self.layout, &self.values[at * width..][..width])
    }
}

impl Group {
    fn new(layout: Layout) -> Group {
        Group {
            layout,
            ids: Vec::new(),
            values: Vec::new(),
            thresholds: Vec::new(),
            graph: GraphState::default(),
        }
    }

    /// Returns the rows for a graph.
    fn coarse_rows(&self) -> Vec<CoarseRow> {
        CoarseRow::all(&self.values, self.layout.width())
    }
}

impl VectorSpace {
    /// Creates an empty space for lists of `k` rows.
    pub fn new(k: usize) -> VectorSpace {
        VectorSpace { k, groups: Vec::new(), positions: HashMap::default() }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Returns whether there is a row with this id.
    pub fn contains(&self, id: u32) -> bool {
        self.positions.contains_key(&id)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns all ids, in no particular order.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().flat_map(|group| group.ids.iter().copied())
    }

    /// Adds a row with a new id and at least one side. Its admission threshold is [`Rank::LAST`].
    pub fn insert(&mut self, id: u32, row: Row<'_>) {
        let layout = row.layout;
        let at = self.groups.iter().position(|group| group.layout == layout).unwrap_or_else(|| {
            self.groups.push(Group::new(layout));
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        self.positions.insert(id, Position { group: at, layout, row: group.ids.len() });
        group.ids.push(id);
        group.thresholds.push(Rank::LAST);
        group.graph.add(id);
        for side in [row.visual, row.semantic].into_iter().flatten() {
            group.values.extend_from_slice(side);
        }
    }

    /// Removes a row if there is one with this id.
    pub fn remove(&mut self, id: u32) {
        let Some(position) = self.positions.remove(&id) else { return };
        let (Position { layout, row, .. }, group) = (position, &mut self.groups[position.group]);
        let (width, last) = (layout.width(), group.ids.len() - 1);
        group.graph.remove(id);
        group.ids.swap_remove(row);
        group.thresholds.swap_remove(row);
        group.values.copy_within(last * width..(last + 1) * width, row * width);
        group.values.truncate(last * width);
        if let Some(moved) = group.ids.get(row) {
            self.positions.insert(*moved, position);
        }
    }

    /// Returns the row with this id.
    pub fn row(&self, id: u32) -> Option<Row<'_>> {
        let Position { group, layout, row } = *self.positions.get(&id)?;
        let width = layout.width();
        Some(Row::of(layout, &self.groups[group].values[row * width..][..width]))
    }

    /// Returns the rank that the row `id` has among the neighbours of `owner`; `None` if one of them does not exist, or without a common
    /// side.
    pub fn rank(&self, owner: u32, id: u32) -> Option<Rank> {
        let score = self.row(owner)?.score(self.row(id)?)?;
        Some(Rank { score, id })
    }

    /// Sets the admission threshold of a row: the last rank of its list, or [`Rank::LAST`] while the list has fewer than k.
    pub fn set_threshold(&mut self, id: u32, threshold: Rank) {
        if let Some(Position { group, row, .. }) = self.positions.get(&id) {
            self.groups[*group].thresholds[*row] = threshold;
        }
    }

    pub(crate) fn position(&self, id: u32) -> Option<Position> {
        self.positions.get(&id).copied()
    }

    /// Returns the graph of a layout and the rows added since it was built; `None` if all its rows are to be compared.
    pub(crate) fn graph(&self, layout: Layout) -> Option<(&Graph, &Ids)> {
        self.groups.iter().find(|group| group.layout == layout)?.graph.get()
    }

    /// Builds a graph for each group of at least `min_rows` rows, and drops all others.
    pub fn build_graphs(&mut self, min_rows: usize) {
        for group in &mut self.groups {
            group.graph = GraphState::default();
            if group.ids.len() >= min_rows {
                group.graph.set(Graph::build(group.ids.clone(), group.coarse_rows()));
            }
        }
    }

    /// Puts graphs that were rebuilt in the background to use, and starts to rebuild stale ones of groups of at least `min_rows` rows.
    pub fn refresh_graphs(&mut self, min_rows: usize) {
        for group in &mut self.groups {
            group.graph.take_rebuilt();
            if group.ids.len() >= min_rows && group.graph.is_stale(group.ids.len()) {
                group.graph.rebuild(group.ids.clone(), group.coarse_rows());
            }
        }
    }

    /// Returns all rows in blocks.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        fn of_group(group: &Group, k: usize) -> impl Iterator<Item = Block<'_>> {
            let Group { layout, ids, values, thresholds, .. } = group;
            let values = values.chunks(BLOCK * layout.width().max(1));
            let rows = ids.chunks(BLOCK).zip(thresholds.chunks(BLOCK)).zip(values);
            rows.map(move |((ids, thresholds), values)| Block { k, layout: *layout, ids, values, thresholds })
        }
        self.groups.iter().flat_map(|group| of_group(group, self.k)).collect()
    }

    /// Returns a space with copies of these rows; ids without a row are ignored.
    pub fn subset<'a>(&self, ids: impl IntoIterator<Item = &'a u32>) -> VectorSpace {
        let mut some = VectorSpace::new(self.k);
        for id in ids {
            if let Some(row) = self.row(*id) {
                some.insert(*id, row);
            }
        }
        some
    }

    /// Returns the rows whose list contains one of these: those for which it ranks at or before the threshold.
    pub fn rows_listing(&self, ids: &[u32]) -> HashSet<u32> {
        let rows: Vec<(u32, Row<'_>)> = ids.iter().filter_map(|id| Some((*id, self.row(*id)?))).collect();
        let in_block = |block: Block<'_>| {
            let lists_one = |at: &usize| {
                let row = block.row(*at);
                rows.iter().any(|(id, other)| {
                    let score = row.score(*other);
                    let rank = score.map(|score| Rank { score, id: *id });
                    rank.is_some_and(|rank| rank <= block.thresholds[*at])
                })
            };
            (0..block.ids.len()).filter(lists_one).map(|at| block.ids[at]).collect::<Vec<u32>>()
        };
        self.blocks().into_par_iter().flat_map_iter(in_block).collect()
    }
}
