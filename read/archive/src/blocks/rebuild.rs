//! Replaces a block by others, without removed projects and with added ones.

use super::block::{Block, BlockBuilder};
use crate::dictionary::{Dictionary, FormKey, StemKey};
use crate::order::{Day, SortKey};

/// A project that is added to the order.
#[derive(Debug)]
pub(crate) struct NewProject {
    pub(crate) day: Day,
    pub(crate) slug: String,
    pub(crate) ordinal: u64,
    /// The index in [`schemas::record::Category::ALL`].
    pub(crate) category: usize,
    /// Its range of [`NewProjects::terms`].
    pub(crate) terms: std::ops::Range<usize>,
}

impl NewProject {
    pub(crate) fn sort_key(&self) -> SortKey<'_> {
        SortKey { day: self.day, slug: &self.slug, ordinal: self.ordinal }
    }
}

/// Added projects in order, and the terms of all that are added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewProjects<'a> {
    pub(crate) projects: &'a [NewProject],
    pub(crate) terms: &'a [FormKey],
    pub(crate) dictionary: &'a Dictionary,
}

/// The new number of a removed project.
const REMOVED: u32 = u32::MAX;

/// Returns the number of projects to put into each of several new blocks: three quarters of the maximum, so that others can be
/// added before a block must be split.
pub(super) fn fill_target(max_projects: usize) -> usize {
    max_projects.div_ceil(4) * 3
}

/// Returns the blocks that replace one: none if no project is left, several if there are more than `max_projects`. `removed`
/// are numbers in the block, ascending.
pub(super) fn rebuild(
    block: &Block,
    removed: &[usize],
    added: NewProjects<'_>,
    max_projects: usize,
) -> Vec<Block> {
    let order = MergedOrder::of(block, removed, added.projects);
    let total = order.projects.len();
    if total == 0 {
        return Vec::new();
    }
    let blocks = if total > max_projects { total.div_ceil(fill_target(max_projects)) } else { 1 };
    let mut builders = Builders::new(total, blocks);
    for (at, project) in order.projects.iter().enumerate() {
        let builder = builders.of(at);
        match project {
            Origin::Old(at) => builder.push_project(block.sort_key(*at), block.category_index(*at)),
            Origin::New(at) => {
                let project = &added.projects[*at];
                builder.push_project(project.sort_key(), project.category);
            }
        }
    }
    merge_posting_lists(&mut builders, block, &order, added);
    builders.builders.into_iter().map(BlockBuilder::finish).collect()
}

/// The order of the remaining and the added projects.
struct MergedOrder {
    projects: Vec<Origin>,
    /// The new number of each project of the block, or [`REMOVED`].
    of_block: Vec<u32>,
    /// The new number of each added project.
    of_added: Vec<u32>,
}

/// The number of a project in the block or among the added ones.
#[derive(Clone, Copy)]
enum Origin {
    Old(usize),
    New(usize),
}

impl MergedOrder {
    fn of(block: &Block, removed: &[usize], added: &[NewProject]) -> MergedOrder {
        let mut order = MergedOrder {
            projects: Vec::with_capacity(block.len() + added.len()),
            of_block: vec![REMOVED; block.len()],
            of_added: Vec::with_capacity(added.len()),
        };
        let (mut removed, mut added) = (removed.iter().peekable(), added.iter().enumerate().peekable());
        for old in 0..block.len() {
            if removed.next_if(|removed| **removed == old).is_some() {
                continue;
            }
            let key = block.sort_key(old);
            while let Some((new, _)) = added.next_if(|(_, project)| project.sort_key() < key) {
                order.push_new(new);
            }
            order.of_block[old] = order.projects.len() as u32;
            order.projects.push(Origin::Old(old));
        }
        added.for_each(|(new, _)| order.push_new(new));
        order
    }

    fn push_new(&mut self, new: usize) {
        self.of_added.push(self.projects.len() as u32);
        self.projects.push(Origin::New(new));
    }
}

/// Builders of equally large blocks; the last one may be smaller.
struct Builders {
    builders: Vec<BlockBuilder>,
    size: usize,
    total: usize,
}

impl Builders {
    fn new(total: usize, blocks: usize) -> Builders {
        let size = total.div_ceil(blocks);
        let length = |first| size.min(total - first);
        let builders = (0..total).step_by(size).map(|first| BlockBuilder::new(length(first))).collect();
        Builders { builders, size, total }
    }

    fn of(&mut self, at: usize) -> &mut BlockBuilder {
        &mut self.builders[at / self.size]
    }

    /// Distributes a posting list over the blocks.
    fn push_posting_list(&mut self, key: StemKey, form: u32, projects: &[u32]) {
        let mut rest = projects;
        for (builder, first) in self.builders.iter_mut().zip((0..self.total as u32).step_by(self.size)) {
            let end = rest.partition_point(|at| *at < first + self.size as u32);
            let (own, others) = rest.split_at(end);
            builder.push_posting_list(key, form, own, first);
            rest = others;
        }
    }
}

/// A stem, its form, and the new number of a project that contains it.
type Posting = (StemKey, u32, u32);

fn merge_posting_lists(builders: &mut Builders, block: &Block, order: &MergedOrder, added: NewProjects<'_>) {
    let NewProjects { projects, terms, dictionary } = added;
    let terms_in_total = projects.iter().map(|project| project.terms.len()).sum();
    let mut postings: Vec<Posting> = Vec::with_capacity(terms_in_total);
    for (project, at) in projects.iter().zip(&order.of_added) {
        let terms = &terms[project.terms.clone()];
        postings.extend(terms.iter().map(|term| (dictionary.stem_key(*term), term.form(), *at)));
    }
    postings.sort_unstable();
    let mut postings = postings.iter().peekable();
    let mut list = Vec::new();
    for (key, term) in block.terms() {
        // Terms before this one that only added projects contain.
        while let Some((key, form, _)) = postings.peek().filter(|(k, form, _)| (*k, *form) < (key, term.form))
        {
            take_projects(&mut postings, *key, *form, &mut list);
            builders.push_posting_list(*key, *form, &list);
            list.clear();
        }
        block.posting_list(term).for_each(|old| {
            let new = order.of_block[old];
            if new != REMOVED {
                list.push(new);
            }
        });
        let remaining = list.len();
        take_projects(&mut postings, key, term.form, &mut list);
        if remaining < list.len() {
            list.sort();
        }
        builders.push_posting_list(key, term.form, &list);
        list.clear();
    }
    while let Some((key, form, _)) = postings.peek() {
        take_projects(&mut postings, *key, *form, &mut list);
        builders.push_posting_list(*key, *form, &list);
        list.clear();
    }
}

/// Moves the projects that contain this form from the head of `postings` to the end of `list`.
fn take_projects(
    postings: &mut std::iter::Peekable<std::slice::Iter<'_, Posting>>,
    key: StemKey,
    form: u32,
    list: &mut Vec<u32>,
) {
    while let Some((_, _, at)) = postings.next_if(|(k, f, _)| (*k, *f) == (key, form)) {
        list.push(*at);
    }
}
