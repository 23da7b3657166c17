//! All listed projects with vectors, in groups of those whose sides were made alike.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::base::{Base, Ordinals};
use super::graph::Graph;
use super::rank::Rank;
use super::rows::{Kind, Row};

/// Rows that are multiplied at once: two such blocks of 512 dimensions and their product fit into a processor's cache.
pub(super) const BLOCK: usize = 512;

/// Projects and their vectors.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// One for each kind, in the order in which the first of each came.
    groups: Vec<Group>,
    places: HashMap<u32, Place, RandomState>,
}

/// Projects of one kind, their numbers side by side.
#[derive(Debug)]
struct Group {
    kind: Kind,
    ordinals: Vec<u32>,
    numbers: Vec<f32>,
    /// Who ranks before a project's bar belongs into its list.
    bars: Vec<Rank>,
    /// Proposes who is near where the group is large.
    base: Base,
}

/// Where a project stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    group: usize,
    pub(super) kind: Kind,
    pub(super) row: usize,
}

/// Some rows of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) kind: Kind,
    pub(super) ordinals: &'a [u32],
    pub(super) numbers: &'a [f32],
    pub(super) bars: &'a [Rank],
}

impl<'a> Block<'a> {
    /// Numbers in a row.
    pub(super) fn width(&self) -> usize {
        self.kind.width()
    }

    pub(super) fn row(&self, at: usize) -> Row<'a> {
        let width = self.width();
        Row::of(self.kind, &self.numbers[at * width..][..width])
    }
}

impl Group {
    fn of(kind: Kind) -> Group {
        Group { kind, ordinals: Vec::new(), numbers: Vec::new(), bars: Vec::new(), base: Base::default() }
    }
}

impl Space {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn ordinals(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().flat_map(|group| group.ordinals.iter().copied())
    }

    /// Adds a project that is not there, with at least one side; its list is open to everyone.
    pub(super) fn insert(&mut self, ordinal: u32, row: Row<'_>) {
        let kind = row.kind;
        let at = self.groups.iter().position(|group| group.kind == kind).unwrap_or_else(|| {
            self.groups.push(Group::of(kind));
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        self.places.insert(ordinal, Place { group: at, kind, row: group.ordinals.len() });
        group.ordinals.push(ordinal);
        group.bars.push(Rank::LAST);
        group.base.came(ordinal);
        for side in [row.visual, row.semantic].into_iter().flatten() {
            group.numbers.extend_from_slice(side);
        }
    }

    /// Takes a project out; the last of its kind takes its place.
    pub(super) fn remove(&mut self, ordinal: u32) {
        let Some(place) = self.places.remove(&ordinal) else { return };
        let (Place { kind, row, .. }, group) = (place, &mut self.groups[place.group]);
        let (width, last) = (kind.width(), group.ordinals.len() - 1);
        group.base.left(ordinal);
        group.ordinals.swap_remove(row);
        group.bars.swap_remove(row);
        group.numbers.copy_within(last * width..(last + 1) * width, row * width);
        group.numbers.truncate(last * width);
        if let Some(moved) = group.ordinals.get(row) {
            self.places.insert(*moved, place);
        }
    }

    pub(super) fn row(&self, ordinal: u32) -> Option<Row<'_>> {
        let Place { group, kind, row } = *self.places.get(&ordinal)?;
        let width = kind.width();
        Some(Row::of(kind, &self.groups[group].numbers[row * width..][..width]))
    }

    /// Where a project ranks for another; none if one of them is not there, or without a common side.
    pub(super) fn rank(&self, owner: u32, ordinal: u32) -> Option<Rank> {
        let score = self.row(owner)?.score(self.row(ordinal)?)?;
        Some(Rank { score, ordinal })
    }

    pub(super) fn set_bar(&mut self, ordinal: u32, bar: Rank) {
        if let Some(Place { group, row, .. }) = self.places.get(&ordinal) {
            self.groups[*group].bars[*row] = bar;
        }
    }

    pub(super) fn place(&self, ordinal: u32) -> Option<Place> {
        self.places.get(&ordinal).copied()
    }

    /// What proposes who is near in the group of a kind; none while everyone is compared.
    pub(super) fn base(&self, kind: Kind) -> Option<(&Graph, &Ordinals)> {
        self.groups.iter().find(|group| group.kind == kind)?.base.graph()
    }

    /// Makes a graph over each group of so many projects, and waits for it.
    pub(super) fn make_graphs(&mut self, from: usize) {
        for group in &mut self.groups {
            group.base = Base::default();
            if group.ordinals.len() >= from {
                group.base.set(Graph::build(group.ordinals.clone(), &group.numbers, group.kind.width()));
            }
        }
    }

    /// Takes graphs that were made beside the former ones, and begins to make others where it is time.
    pub(super) fn renew_graphs(&mut self, from: usize) {
        for group in &mut self.groups {
            group.base.take_next();
            if group.ordinals.len() >= from && group.base.is_stale(group.ordinals.len()) {
                group.base.make_next(group.ordinals.clone(), group.numbers.clone(), group.kind.width());
            }
        }
    }

    /// Everyone, in blocks.
    pub(super) fn blocks(&self) -> Vec<Block<'_>> {
        fn of_kind(group: &Group) -> impl Iterator<Item = Block<'_>> {
            let Group { kind, ordinals, numbers, bars, .. } = group;
            let numbers = numbers.chunks(BLOCK * kind.width().max(1));
            let rows = ordinals.chunks(BLOCK).zip(bars.chunks(BLOCK)).zip(numbers);
            rows.map(|((ordinals, bars), numbers)| Block { kind: *kind, ordinals, numbers, bars })
        }
        self.groups.iter().flat_map(of_kind).collect()
    }

    /// Copies of some projects.
    pub(super) fn some<'a>(&self, ordinals: impl IntoIterator<Item = &'a u32>) -> Space {
        let mut some = Space::default();
        for ordinal in ordinals {
            if let Some(row) = self.row(*ordinal) {
                some.insert(*ordinal, row);
            }
        }
        some
    }

    /// Those whose list holds one of these, which are all there: exactly those for whom it ranks up to the last of
    /// their list.
    pub(super) fn holders(&self, held: &[u32]) -> HashSet<u32> {
        let rows: Vec<(u32, Row<'_>)> =
            held.iter().filter_map(|ordinal| Some((*ordinal, self.row(*ordinal)?))).collect();
        let in_block = |block: Block<'_>| {
            let holds = |at: &usize| {
                let row = block.row(*at);
                rows.iter().any(|(ordinal, held)| {
                    let score = row.score(*held);
                    let rank = score.map(|score| Rank { score, ordinal: *ordinal });
                    rank.is_some_and(|rank| rank <= block.bars[*at])
                })
            };
            (0..block.ordinals.len()).filter(holds).map(|at| block.ordinals[at]).collect::<Vec<u32>>()
        };
        self.blocks().into_par_iter().flat_map_iter(in_block).collect()
    }
}
