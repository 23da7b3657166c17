//! Another block in the place of one: without what left, with what came.

use super::block::{Block, Builder};
use super::dictionary::{Dictionary, Key, Term};
use super::order::{Day, Place};

/// A project that comes into the order.
#[derive(Debug)]
pub(super) struct Coming {
    pub(super) day: Day,
    pub(super) slug: String,
    pub(super) ordinal: u64,
    /// The index of its category among [`schemas::record::Category::ALL`].
    pub(super) category: usize,
    /// Where its terms stand among those of all that come.
    pub(super) terms: std::ops::Range<usize>,
}

impl Coming {
    pub(super) fn place(&self) -> Place<'_> {
        Place { day: self.day, slug: &self.slug, ordinal: self.ordinal }
    }
}

/// Projects that come, in their order, with the terms of all that come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrivals<'a> {
    pub(super) projects: &'a [Coming],
    pub(super) terms: &'a [Term],
    pub(super) dictionary: &'a Dictionary,
}

/// A new place for a project that left.
const NOWHERE: u32 = u32::MAX;

/// The projects of each block where several are made, of blocks that hold so many at the most: there is room for others to
/// come before one must be cut.
pub(super) fn filled(largest: usize) -> usize {
    largest.div_ceil(4) * 3
}

/// The blocks that take the place of one: none where nothing is left, several where it grew beyond the largest.
pub(super) fn rebuild(
    block: &Block,
    leaving: &[usize],
    arrivals: Arrivals<'_>,
    largest: usize,
) -> Vec<Block> {
    let order = Order::of(block, leaving, arrivals.projects);
    let total = order.projects.len();
    if total == 0 {
        return Vec::new();
    }
    let pieces = if total > largest { total.div_ceil(filled(largest)) } else { 1 };
    let mut pieces = Pieces::new(total, pieces);
    for (at, project) in order.projects.iter().enumerate() {
        let builder = pieces.of(at);
        match project {
            Origin::Block(old) => builder.project(block.place(*old), block.category(*old)),
            Origin::Arrival(new) => {
                let project = &arrivals.projects[*new];
                builder.project(project.place(), project.category);
            }
        }
    }
    add_words(&mut pieces, block, &order, arrivals);
    pieces.builders.into_iter().map(Builder::finish).collect()
}

/// Where everyone stands in the new order.
struct Order {
    projects: Vec<Origin>,
    /// The new number of each project of the block.
    of_block: Vec<u32>,
    /// The new number of each that comes.
    of_arrivals: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Origin {
    Block(usize),
    Arrival(usize),
}

impl Order {
    fn of(block: &Block, leaving: &[usize], coming: &[Coming]) -> Order {
        let mut order = Order {
            projects: Vec::with_capacity(block.len() + coming.len()),
            of_block: vec![NOWHERE; block.len()],
            of_arrivals: Vec::with_capacity(coming.len()),
        };
        let (mut leaving, mut coming) = (leaving.iter().peekable(), coming.iter().enumerate().peekable());
        for old in 0..block.len() {
            if leaving.next_if(|leaves| **leaves == old).is_some() {
                continue;
            }
            let place = block.place(old);
            while let Some((new, _)) = coming.next_if(|(_, project)| project.place() < place) {
                order.arrive(new);
            }
            order.of_block[old] = order.projects.len() as u32;
            order.projects.push(Origin::Block(old));
        }
        coming.for_each(|(new, _)| order.arrive(new));
        order
    }

    fn arrive(&mut self, new: usize) {
        self.of_arrivals.push(self.projects.len() as u32);
        self.projects.push(Origin::Arrival(new));
    }
}

/// The new blocks, each with about as many projects.
struct Pieces {
    builders: Vec<Builder>,
    size: usize,
    total: usize,
}

impl Pieces {
    fn new(total: usize, pieces: usize) -> Pieces {
        let size = total.div_ceil(pieces);
        let length = |first| size.min(total - first);
        let builders = (0..total).step_by(size).map(|first| Builder::new(length(first))).collect();
        Pieces { builders, size, total }
    }

    fn of(&mut self, at: usize) -> &mut Builder {
        &mut self.builders[at / self.size]
    }

    fn posting(&mut self, key: Key, form: u32, holders: &[u32]) {
        let mut rest = holders;
        for (builder, first) in self.builders.iter_mut().zip((0..self.total as u32).step_by(self.size)) {
            let end = rest.partition_point(|at| *at < first + self.size as u32);
            let (own, others) = rest.split_at(end);
            builder.posting(key, form, own, first);
            rest = others;
        }
    }
}

/// A word, how it is written, and the new number of one who holds it.
type Held = (Key, u32, u32);

fn add_words(pieces: &mut Pieces, block: &Block, order: &Order, arrivals: Arrivals<'_>) {
    let Arrivals { projects, terms, dictionary } = arrivals;
    let mut held: Vec<Held> = Vec::with_capacity(projects.iter().map(|project| project.terms.len()).sum());
    for (project, at) in projects.iter().zip(&order.of_arrivals) {
        let terms = &terms[project.terms.clone()];
        held.extend(terms.iter().map(|term| (dictionary.key(*term), term.form(), *at)));
    }
    held.sort_unstable();
    let mut held = held.iter().peekable();
    let mut holders = Vec::new();
    for (key, posting) in block.postings() {
        // Words that only those hold who come, before this one.
        while let Some((key, form, _)) = held.peek().filter(|(k, form, _)| (*k, *form) < (key, posting.form))
        {
            take(&mut held, *key, *form, &mut holders);
            pieces.posting(*key, *form, &holders);
            holders.clear();
        }
        block.holders(posting).each(|old| {
            let new = order.of_block[old];
            if new != NOWHERE {
                holders.push(new);
            }
        });
        let others = holders.len();
        take(&mut held, key, posting.form, &mut holders);
        if others < holders.len() {
            holders.sort();
        }
        pieces.posting(key, posting.form, &holders);
        holders.clear();
    }
    while let Some((key, form, _)) = held.peek() {
        take(&mut held, *key, *form, &mut holders);
        pieces.posting(*key, *form, &holders);
        holders.clear();
    }
}

/// Moves the numbers of those who hold this word to the holders.
fn take(
    held: &mut std::iter::Peekable<std::slice::Iter<'_, Held>>,
    key: Key,
    form: u32,
    holders: &mut Vec<u32>,
) {
    while let Some((_, _, at)) = held.next_if(|(k, f, _)| (*k, *f) == (key, form)) {
        holders.push(*at);
    }
}
