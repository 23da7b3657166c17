//! Some thousand projects that follow each other, and which of them hold which word in which dimension. A block is never
//! changed; another one takes its place.

use schemas::record::Category;
use schemas::taste::Dimension;

use super::bitmap;
use super::dictionary::Key;
use super::order::{Day, Place};

/// The most projects of a block. What is changed is made anew as a whole, and every question looks into every block: this is
/// between the two. Numbers in a block have 16 bits.
pub(super) const LARGEST: usize = 16_384;

/// Projects in their order, numbered from 0, and their words.
#[derive(Debug, Default)]
pub(super) struct Block {
    days: Vec<Day>,
    ordinals: Vec<u64>,
    slugs: String,
    /// Where each slug ends in `slugs`.
    slug_ends: Vec<u32>,
    /// A bitmap for each category, in the order of [`Category::ALL`].
    categories: [Vec<u64>; 5],
    /// The stems of each dimension in order; one that is written in several ways stands there for each of them.
    keys: Vec<Key>,
    postings: Vec<Posting>,
    lists: Vec<u16>,
    bitmaps: Vec<u64>,
}

/// Who holds a word that is written in one way, in one dimension: a bitmap where that is smaller than a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) form: u32,
    start: u32,
    /// How many hold it.
    pub(super) count: u32,
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.ordinals.len()
    }

    pub(super) fn ordinals(&self) -> &[u64] {
        &self.ordinals
    }

    pub(super) fn place(&self, at: usize) -> Place<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.slug_ends[before]);
        let slug = &self.slugs[start as usize..self.slug_ends[at] as usize];
        Place { day: self.days[at], slug, ordinal: self.ordinals[at] }
    }

    /// The first project behind a place; the number of all where there is none.
    pub(super) fn behind(&self, place: Place<'_>) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.place(middle) <= place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(super) fn of_category(&self, category: Category) -> &[u64] {
        &self.categories[category as usize]
    }

    /// The index of its category among [`Category::ALL`].
    pub(super) fn category(&self, at: usize) -> usize {
        self.categories.iter().position(|bits| bitmap::has(bits, at)).unwrap_or_default()
    }

    /// How many are listed, of one category or of all.
    pub(super) fn listed(&self, category: Option<Category>) -> u64 {
        category.map_or(self.len() as u64, |category| bitmap::count(self.of_category(category)))
    }

    /// The ways in which a stem is written in its dimension, with who holds them.
    pub(super) fn find(&self, key: Key) -> &[Posting] {
        let first = self.keys.partition_point(|known| *known < key);
        let length = self.keys[first..].iter().take_while(|known| **known == key).count();
        &self.postings[first..first + length]
    }

    /// The stems of a dimension in order, each with the ways in which it is written and who holds them.
    pub(super) fn stems_of(&self, dimension: Dimension) -> impl Iterator<Item = (Key, &[Posting])> {
        let first = self.keys.partition_point(|key| *key < Key::new(dimension, 0));
        let mut rest = &self.keys[first..];
        let mut at = first;
        std::iter::from_fn(move || {
            let key = *rest.first().filter(|key| key.dimension() == dimension.index())?;
            let length = rest.iter().take_while(|other| **other == key).count();
            rest = &rest[length..];
            at += length;
            Some((key, &self.postings[at - length..at]))
        })
    }

    /// Everything that is held, by key and form.
    pub(super) fn postings(&self) -> impl ExactSizeIterator<Item = (Key, Posting)> {
        self.keys.iter().copied().zip(self.postings.iter().copied())
    }

    /// The bitmap or the list of those who hold it.
    pub(super) fn holders(&self, posting: Posting) -> Holders<'_> {
        let (start, count) = (posting.start as usize, posting.count as usize);
        if is_dense(count, self.len()) {
            Holders::Bitmap(&self.bitmaps[start..start + bitmap::words(self.len())])
        } else {
            Holders::List(&self.lists[start..start + count])
        }
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let categories: usize = self.categories.iter().map(|bits| bits.capacity() * 8).sum();
        size_of::<Block>()
            + categories
            + self.days.capacity() * size_of::<Day>()
            + self.ordinals.capacity() * 8
            + self.slugs.capacity()
            + self.slug_ends.capacity() * 4
            + self.keys.capacity() * size_of::<Key>()
            + self.postings.capacity() * size_of::<Posting>()
            + self.lists.capacity() * 2
            + self.bitmaps.capacity() * 8
    }
}

/// Who holds a word.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holders<'a> {
    /// A bit a project.
    Bitmap(&'a [u64]),
    /// Their numbers in order.
    List(&'a [u16]),
}

impl Holders<'_> {
    /// Adds them to a bitmap.
    pub(super) fn add_to(self, bits: &mut [u64]) {
        match self {
            Holders::Bitmap(own) => bits.iter_mut().zip(own).for_each(|(bits, own)| *bits |= own),
            Holders::List(own) => own.iter().for_each(|at| bitmap::set(bits, usize::from(*at))),
        }
    }

    /// How many of them stand in a bitmap.
    pub(super) fn count_in(self, bits: &[u64]) -> u64 {
        match self {
            Holders::Bitmap(own) => own.iter().zip(bits).map(|(a, b)| u64::from((a & b).count_ones())).sum(),
            Holders::List(own) => own.iter().filter(|at| bitmap::has(bits, usize::from(**at))).count() as u64,
        }
    }

    /// Calls `visit` with the number of each, in order.
    pub(super) fn each(self, mut visit: impl FnMut(usize)) {
        match self {
            Holders::Bitmap(own) => {
                own.iter()
                    .enumerate()
                    .for_each(|(index, word)| bitmap::ones(index, *word).for_each(&mut visit));
            }
            Holders::List(own) => own.iter().for_each(|at| visit(usize::from(*at))),
        }
    }
}

/// Whether a bit for each of `projects` takes no more than a number for each of the `count` that hold the word.
fn is_dense(count: usize, projects: usize) -> bool {
    count * 16 >= projects
}

/// Makes a block: first its projects in order, then its words.
#[derive(Debug, Default)]
pub(super) struct Builder {
    block: Block,
}

impl Builder {
    /// For so many projects.
    pub(super) fn new(projects: usize) -> Builder {
        let mut block = Block::default();
        block.days.reserve_exact(projects);
        block.ordinals.reserve_exact(projects);
        block.slug_ends.reserve_exact(projects);
        block.categories = [(); 5].map(|()| vec![0; bitmap::words(projects)]);
        Builder { block }
    }

    /// Adds the project that comes next in the order. The category is its index among [`Category::ALL`].
    pub(super) fn project(&mut self, place: Place<'_>, category: usize) {
        let block = &mut self.block;
        bitmap::set(&mut block.categories[category], block.ordinals.len());
        block.days.push(place.day);
        block.ordinals.push(place.ordinal);
        block.slugs.push_str(place.slug);
        block.slug_ends.push(block.slugs.len() as u32);
    }

    /// Adds who holds a word that is written in one way; keys and forms come in order, and so do the projects. Their numbers
    /// count from `first`.
    pub(super) fn posting(&mut self, key: Key, form: u32, holders: &[u32], first: u32) {
        if holders.is_empty() {
            return;
        }
        let block = &mut self.block;
        let projects = block.ordinals.len();
        let start = if is_dense(holders.len(), projects) {
            let start = block.bitmaps.len();
            block.bitmaps.resize(start + bitmap::words(projects), 0);
            let bits = &mut block.bitmaps[start..];
            holders.iter().for_each(|at| bitmap::set(bits, (at - first) as usize));
            start
        } else {
            let start = block.lists.len();
            block.lists.extend(holders.iter().map(|at| (at - first) as u16));
            start
        };
        block.keys.push(key);
        block.postings.push(Posting { form, start: start as u32, count: holders.len() as u32 });
    }

    pub(super) fn finish(mut self) -> Block {
        let block = &mut self.block;
        block.slugs.shrink_to_fit();
        block.keys.shrink_to_fit();
        block.postings.shrink_to_fit();
        block.lists.shrink_to_fit();
        block.bitmaps.shrink_to_fit();
        self.block
    }
}
