//! A block: some thousand consecutive projects and the posting lists of their words. Blocks are immutable; a change
//! replaces whole blocks.

use std::sync::OnceLock;

use schemas::record::Category;
use schemas::taste::Dimension;

use super::bitmap;
use crate::dictionary::{StemKey, TermKind};
use crate::order::{Day, SortKey};

/// The maximum number of projects in a block. A change rebuilds a whole block, and a query reads every block: this is a
/// compromise between the two. Numbers within a block have 16 bits.
pub(crate) const MAX_PROJECTS: usize = 16_384;

/// Projects in order, numbered from 0, and their posting lists.
#[derive(Debug, Default)]
pub(crate) struct Block {
    days: Vec<Day>,
    pub(crate) ordinals: Vec<u64>,
    slugs: String,
    /// The end of each slug in `slugs`.
    slug_ends: Vec<u32>,
    /// A bitmap for each category, in the order of [`Category::ALL`].
    categories: [Vec<u64>; Category::ALL.len()],
    /// The stem of each term, ascending; a stem with several forms is repeated.
    keys: Vec<StemKey>,
    terms: Vec<TermInfo>,
    lists: Vec<u16>,
    bitmaps: Vec<u64>,
    /// By dimension, computed when its words are first counted.
    by_project: [OnceLock<ProjectStems>; Dimension::COUNT],
}

/// The stems of the words of each project in one dimension.
#[derive(Debug)]
pub(crate) struct ProjectStems {
    /// Ascending within a project.
    stems: Vec<u32>,
    /// Where the stems of each project end in `stems`, after a 0.
    ends: Vec<u32>,
}

impl ProjectStems {
    /// Returns the stems of a project, ascending.
    #[inline]
    pub(crate) fn of(&self, at: u16) -> &[u32] {
        let at = usize::from(at);
        &self.stems[self.ends[at] as usize..self.ends[at + 1] as usize]
    }

    fn bytes(&self) -> usize {
        (self.stems.capacity() + self.ends.capacity()) * 4
    }
}

/// Locates the posting list of one form of a word in one dimension. It is stored as a bitmap if that is no larger than a
/// list of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermInfo {
    pub(crate) form: u32,
    start: u32,
    /// The number of projects.
    pub(crate) count: u32,
}

impl Block {
    pub(crate) fn len(&self) -> usize {
        self.ordinals.len()
    }

    pub(crate) fn sort_key(&self, at: usize) -> SortKey<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.slug_ends[before]);
        let slug = &self.slugs[start as usize..self.slug_ends[at] as usize];
        SortKey { day: self.days[at], slug, ordinal: self.ordinals[at] }
    }

    /// Returns the number of the first project after a sort key; the length of the block if there is none.
    pub(super) fn first_after(&self, key: SortKey<'_>) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.sort_key(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the bitmap of the projects of a category.
    pub(crate) fn category_bits(&self, category: Category) -> &[u64] {
        &self.categories[category as usize]
    }

    /// Returns the index in [`Category::ALL`] of a project's category.
    pub(super) fn category_index(&self, at: usize) -> usize {
        self.categories.iter().position(|bits| bitmap::contains(bits, at)).unwrap_or_default()
    }

    /// Returns the number of projects, of one category or of all.
    pub(crate) fn listed(&self, category: Option<Category>) -> u64 {
        category.map_or(self.len() as u64, |category| bitmap::count(self.category_bits(category)))
    }

    /// Returns the forms of a stem in its dimension.
    pub(crate) fn find(&self, key: StemKey) -> &[TermInfo] {
        let first = self.keys.partition_point(|known| *known < key);
        let length = self.keys[first..].iter().take_while(|known| **known == key).count();
        &self.terms[first..first + length]
    }

    /// Iterates over the stems of the words or phrases of a dimension in ascending order, each with its forms.
    pub(crate) fn stems_of(
        &self,
        kind: TermKind,
        dimension: Dimension,
    ) -> impl Iterator<Item = (StemKey, &[TermInfo])> {
        let first = self.keys.partition_point(|key| *key < StemKey::new(kind, dimension, 0));
        let mut rest = &self.keys[first..];
        let mut at = first;
        std::iter::from_fn(move || {
            let key = *rest.first().filter(|key| key.is_of(kind, dimension))?;
            let length = rest.iter().take_while(|other| **other == key).count();
            rest = &rest[length..];
            at += length;
            Some((key, &self.terms[at - length..at]))
        })
    }

    /// Returns the stems of the words of each project in a dimension.
    pub(crate) fn stems_by_project(&self, dimension: Dimension) -> &ProjectStems {
        self.by_project[dimension.index()].get_or_init(|| self.project_stems(dimension))
    }

    fn project_stems(&self, dimension: Dimension) -> ProjectStems {
        // A project with two forms of a stem has it once.
        let for_each_stem = |visit: &mut dyn FnMut(u32, usize)| {
            let mut last = vec![None; self.len()];
            for (key, forms) in self.stems_of(TermKind::Word, dimension) {
                for term in forms {
                    self.posting_list(*term).for_each(|at| {
                        if last[at].replace(key) != Some(key) {
                            visit(key.stem(), at);
                        }
                    });
                }
            }
        };
        let mut ends = vec![0; self.len() + 1];
        for_each_stem(&mut |_, at| ends[at + 1] += 1);
        let mut total = 0;
        for end in &mut ends {
            total += *end;
            *end = total;
        }
        let mut next = ends.clone();
        let mut stems = vec![0; total as usize];
        for_each_stem(&mut |stem, at| {
            stems[next[at] as usize] = stem;
            next[at] += 1;
        });
        ProjectStems { stems, ends }
    }

    /// Iterates over all terms, ascending by stem and form.
    pub(super) fn terms(&self) -> impl ExactSizeIterator<Item = (StemKey, TermInfo)> {
        self.keys.iter().copied().zip(self.terms.iter().copied())
    }

    pub(crate) fn posting_list(&self, term: TermInfo) -> PostingList<'_> {
        let (start, count) = (term.start as usize, term.count as usize);
        if is_dense(count, self.len()) {
            PostingList::Bitmap(&self.bitmaps[start..start + bitmap::word_count(self.len())])
        } else {
            PostingList::List(&self.lists[start..start + count])
        }
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let categories: usize = self.categories.iter().map(|bits| bits.capacity() * 8).sum();
        size_of::<Block>()
            + categories
            + self.days.capacity() * size_of::<Day>()
            + self.ordinals.capacity() * 8
            + self.slugs.capacity()
            + self.slug_ends.capacity() * 4
            + self.keys.capacity() * size_of::<StemKey>()
            + self.terms.capacity() * size_of::<TermInfo>()
            + self.lists.capacity() * 2
            + self.bitmaps.capacity() * 8
            + self.by_project.iter().filter_map(OnceLock::get).map(ProjectStems::bytes).sum::<usize>()
    }
}

/// The projects of a block that contain a term.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PostingList<'a> {
    /// One bit per project.
    Bitmap(&'a [u64]),
    /// Numbers of projects, ascending.
    List(&'a [u16]),
}

impl PostingList<'_> {
    /// Sets the bits of the projects.
    pub(crate) fn add_to(self, bits: &mut [u64]) {
        match self {
            PostingList::Bitmap(own) => bits.iter_mut().zip(own).for_each(|(bits, own)| *bits |= own),
            PostingList::List(own) => own.iter().for_each(|at| bitmap::set(bits, usize::from(*at))),
        }
    }

    /// Returns the number of projects whose bit is set.
    pub(crate) fn count_in(self, bits: &[u64]) -> u64 {
        match self {
            PostingList::Bitmap(own) => {
                own.iter().zip(bits).map(|(a, b)| u64::from((a & b).count_ones())).sum()
            }
            PostingList::List(own) => {
                own.iter().filter(|at| bitmap::contains(bits, usize::from(**at))).count() as u64
            }
        }
    }

    /// Calls `visit` with the number of each project, ascending.
    pub(super) fn for_each(self, mut visit: impl FnMut(usize)) {
        match self {
            PostingList::Bitmap(own) => {
                own.iter()
                    .enumerate()
                    .for_each(|(index, word)| bitmap::ones(index, *word).for_each(&mut visit));
            }
            PostingList::List(own) => own.iter().for_each(|at| visit(usize::from(*at))),
        }
    }
}

/// Returns whether a bitmap over `projects` is no larger than a list of `count` 16-bit numbers.
fn is_dense(count: usize, projects: usize) -> bool {
    count * 16 >= projects
}

/// Builds a block: first its projects in order, then its terms.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    block: Block,
}

impl BlockBuilder {
    /// Returns a builder for exactly this many projects.
    pub(super) fn new(projects: usize) -> BlockBuilder {
        let mut block = Block::default();
        block.days.reserve_exact(projects);
        block.ordinals.reserve_exact(projects);
        block.slug_ends.reserve_exact(projects);
        block.categories = Category::ALL.map(|_| vec![0; bitmap::word_count(projects)]);
        BlockBuilder { block }
    }

    /// Appends a project. `category` is an index in [`Category::ALL`].
    pub(super) fn push_project(&mut self, key: SortKey<'_>, category: usize) {
        let block = &mut self.block;
        bitmap::set(&mut block.categories[category], block.ordinals.len());
        block.days.push(key.day);
        block.ordinals.push(key.ordinal);
        block.slugs.push_str(key.slug);
        block.slug_ends.push(block.slugs.len() as u32);
    }

    /// Appends the posting list of a term, after all with a smaller stem or form. `projects` are ascending and count from
    /// `first`; an empty list is not stored.
    pub(super) fn push_posting_list(&mut self, key: StemKey, form: u32, projects: &[u32], first: u32) {
        if projects.is_empty() {
            return;
        }
        let block = &mut self.block;
        let total = block.ordinals.len();
        let start = if is_dense(projects.len(), total) {
            let start = block.bitmaps.len();
            block.bitmaps.resize(start + bitmap::word_count(total), 0);
            let bits = &mut block.bitmaps[start..];
            projects.iter().for_each(|at| bitmap::set(bits, (at - first) as usize));
            start
        } else {
            let start = block.lists.len();
            block.lists.extend(projects.iter().map(|at| (at - first) as u16));
            start
        };
        block.keys.push(key);
        block.terms.push(TermInfo { form, start: start as u32, count: projects.len() as u32 });
    }

    pub(super) fn finish(mut self) -> Block {
        let block = &mut self.block;
        block.slugs.shrink_to_fit();
        block.keys.shrink_to_fit();
        block.terms.shrink_to_fit();
        block.lists.shrink_to_fit();
        block.bitmaps.shrink_to_fit();
        self.block
    }
}
