//! The vector space: all rows, grouped by layout.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use crate::column::Column;
use crate::graph::{CoarseRow, Graph, GraphState, Ids};
use crate::rank::Rank;
use crate::row::{Encoding, Layout, Row};
use crate::sketch::{self, Sketches};

/// The rows of a block. Two blocks of 512 dimensions and their product fit into a processor's cache.
pub(crate) const BLOCK: usize = 512;

/// The number of rows from which sketches save time: below, all products take a second.
const SKETCH_FROM: usize = 8_192;

/// Rows by id, each with the admission threshold of its list: a rank that is not before it cannot enter the list.
#[derive(Debug)]
pub struct VectorSpace {
    /// The length of a list.
    k: usize,
    /// One for each layout, in the order of their first rows.
    groups: Vec<Group>,
    positions: HashMap<u32, Position, RandomState>,
    /// The number of rows of a group from which a search for all lists uses sketches.
    sketch_from: usize,
}

/// The rows of one layout.
#[derive(Debug)]
pub(crate) struct Group {
    layout: Layout,
    ids: Vec<u32>,
    /// The first side and the second one.
    sides: [Option<Column>; 2],
    /// The admission threshold of each row.
    thresholds: Vec<Rank>,
    /// Proposes candidates in a large group.
    graph: GraphState,
    /// Those of the rows in their present order, during a search for all lists.
    sketches: Option<Sketches>,
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
    pub(crate) thresholds: &'a [Rank],
    group: &'a Group,
    /// The index of its first row in the group.
    pub(crate) start: usize,
}

impl<'a> Block<'a> {
    /// Returns a row by its index in the block.
    pub(crate) fn row(&self, at: usize) -> Row<'a> {
        self.group.row(self.start + at)
    }

    /// Returns the sketches of its group and its rows among them, during a search for all lists of a large group.
    pub(crate) fn sketches(&self) -> Option<(&'a Sketches, Range<usize>)> {
        Some((self.group.sketches.as_ref()?, self.start..self.start + self.ids.len()))
    }

    /// Returns the vectors of the first side or the second one, as [`Column::unit_rows`] does.
    pub(crate) fn unit_rows(&self, side: usize) -> Option<Cow<'a, [f32]>> {
        let column = self.group.sides[side].as_ref()?;
        Some(column.unit_rows(self.start..self.start + self.ids.len()))
    }
}

impl Group {
    fn new(layout: Layout) -> Group {
        Group {
            layout,
            ids: Vec::new(),
            sides: [layout.visual, layout.semantic].map(|side| side.map(Column::new)),
            thresholds: Vec::new(),
            graph: GraphState::default(),
            sketches: None,
        }
    }

    /// Returns the number of dimensions of a row, of all sides.
    fn dimensions(&self) -> usize {
        let sides: [Option<Encoding>; 2] = [self.layout.visual, self.layout.semantic];
        sides.iter().flatten().map(|side| side.dimensions).sum()
    }

    /// Computes the sketches of all rows, and puts similar rows next to each other.
    fn sketch(&mut self) {
        let sides = self.sides.iter().flatten().count();
        let length = (sides as f32).sqrt().recip();
        let append = |row: usize, values: &mut Vec<f32>| {
            self.sides.iter().flatten().for_each(|side| side.append(row, length, values));
        };
        let mut sketches = Sketches::new(self.ids.len(), self.dimensions(), append);
        let order = sketches.order();
        sketches.reorder(&order);
        self.reorder(order);
        self.sketches = Some(sketches);
    }

    /// Reorders the rows: row n is then the former row `order[n]`.
    fn reorder(&mut self, mut order: Vec<usize>) {
        for start in 0..order.len() {
            // The rows of each cycle move up by one, and the first one to its end.
            let mut at = start;
            loop {
                let from = std::mem::replace(&mut order[at], at);
                if from == start {
                    break;
                }
                self.ids.swap(at, from);
                self.thresholds.swap(at, from);
                self.columns().for_each(|column| column.swap(at, from));
                at = from;
            }
        }
    }

    fn row(&self, at: usize) -> Row<'_> {
        let [visual, semantic] = self.sides.each_ref().map(|side| side.as_ref().map(|side| side.side(at)));
        Row { layout: self.layout, visual, semantic }
    }

    fn columns(&mut self) -> impl Iterator<Item = &mut Column> {
        self.sides.iter_mut().flatten()
    }

    /// Returns the rows for a graph.
    fn coarse_rows(&self) -> Vec<CoarseRow> {
        (0..self.ids.len()).map(|at| CoarseRow::of(self.row(at))).collect()
    }
}

impl VectorSpace {
    /// Creates an empty space for lists of `k` rows.
    pub fn new(k: usize) -> VectorSpace {
        VectorSpace { k, groups: Vec::new(), positions: HashMap::default(), sketch_from: SKETCH_FROM }
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

    /// Adds a row with a new id and at least one side; its vectors must be as its layout says. Its admission threshold is
    /// [`Rank::LAST`].
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
        let sides = [row.visual, row.semantic].into_iter().flatten();
        group.columns().zip(sides).for_each(|(column, side)| column.push(side));
    }

    /// Removes a row if there is one with this id.
    pub fn remove(&mut self, id: u32) {
        let Some(position) = self.positions.remove(&id) else { return };
        let (Position { row, .. }, group) = (position, &mut self.groups[position.group]);
        group.graph.remove(id);
        group.ids.swap_remove(row);
        group.thresholds.swap_remove(row);
        group.columns().for_each(|column| column.swap_remove(row));
        if let Some(moved) = group.ids.get(row) {
            self.positions.insert(*moved, position);
        }
    }

    /// Returns the row with this id.
    pub fn row(&self, id: u32) -> Option<Row<'_>> {
        let Position { group, row, .. } = *self.positions.get(&id)?;
        Some(self.groups[group].row(row))
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

    /// Uses sketches for groups of at least `rows` rows.
    #[cfg(test)]
    pub(crate) fn sketch_from(&mut self, rows: usize) {
        self.sketch_from = rows;
    }

    /// Computes the sketches of large groups without a graph, whose rows it reorders.
    pub(crate) fn sketch(&mut self) {
        for (number, group) in self.groups.iter_mut().enumerate() {
            let is_large =
                group.ids.len() >= self.sketch_from && group.dimensions() >= sketch::MIN_DIMENSIONS;
            if is_large && group.graph.get().is_none() {
                group.sketch();
                let position = |row| Position { group: number, layout: group.layout, row };
                let moved = group.ids.iter().enumerate().map(|(row, id)| (*id, position(row)));
                self.positions.extend(moved);
            }
        }
    }

    /// Drops the sketches.
    pub(crate) fn drop_sketches(&mut self) {
        self.groups.iter_mut().for_each(|group| group.sketches = None);
    }

    /// Returns all rows in blocks.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        for group in &self.groups {
            let rows = group.ids.chunks(BLOCK).zip(group.thresholds.chunks(BLOCK)).enumerate();
            blocks.extend(rows.map(|(at, (ids, thresholds))| {
                let (k, layout, start) = (self.k, group.layout, at * BLOCK);
                Block { k, layout, ids, thresholds, group, start }
            }));
        }
        blocks
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
