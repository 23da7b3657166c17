//! Counts how many projects use each word or phrase of a dimension.

use schemas::record::Category;
use schemas::taste::Dimension;

use text::{fold, is_stop_word};

use crate::blocks::{Block, BlockList, TermInfo, bitmap};
use crate::dictionary::{Dictionary, TermKind};

/// The used words or phrases of each dimension, without stop words.
#[derive(Debug)]
pub(super) struct TermCounts {
    dimensions: [Vec<TermUse>; Dimension::COUNT],
}

/// The number of projects that use a stem in a dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermUse {
    /// The most frequent form of the stem; of equally frequent ones the first in alphabetical order.
    pub(super) form: u32,
    pub(super) projects: u32,
}

impl TermCounts {
    /// Counts all words or phrases. Reads all their posting lists.
    pub(super) fn of(
        block_list: &BlockList,
        dictionary: &Dictionary,
        kind: TermKind,
        category: Option<Category>,
    ) -> TermCounts {
        let mut counter = Counter { stems: vec![0; dictionary.stems()], forms: vec![0; dictionary.forms()] };
        let of_dimension = |dimension| {
            counter.stems.fill(0);
            counter.forms.fill(0);
            block_list.blocks.iter().for_each(|block| counter.add(block, (kind, dimension), category));
            counter.uses(dictionary)
        };
        TermCounts { dimensions: Dimension::ALL.map(of_dimension) }
    }

    pub(super) fn of_dimension(&self, dimension: Dimension) -> &[TermUse] {
        &self.dimensions[dimension.index()]
    }

    /// Returns the memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.dimensions.iter().map(|uses| uses.capacity() * size_of::<TermUse>()).sum()
    }
}

/// The number of projects with each stem and each form, in one dimension.
struct Counter {
    stems: Vec<u32>,
    forms: Vec<u32>,
}

impl Counter {
    fn add(&mut self, block: &Block, (kind, dimension): (TermKind, Dimension), category: Option<Category>) {
        let category = category.map(|category| block.category_bits(category));
        let mut any = vec![0; bitmap::word_count(block.len())];
        for (key, terms) in block.stems_of(kind, dimension) {
            for term in terms {
                self.forms[term.form as usize] += of_category(block, *term, category);
            }
            let stem = &mut self.stems[key.stem() as usize];
            match terms {
                [alone] => *stem += of_category(block, *alone, category),
                several => {
                    // A project with two forms of a stem counts once.
                    any.fill(0);
                    several.iter().for_each(|term| block.posting_list(*term).add_to(&mut any));
                    if let Some(category) = category {
                        bitmap::intersect(&mut any, category);
                    }
                    *stem += bitmap::count(&any) as u32;
                }
            }
        }
    }

    fn uses(&self, dictionary: &Dictionary) -> Vec<TermUse> {
        let mut best: Vec<Option<u32>> = vec![None; self.stems.len()];
        for (form, count) in (0..).zip(&self.forms).filter(|(_, count)| **count > 0) {
            let best = &mut best[dictionary.stem_of(form) as usize];
            let is_better = best.is_none_or(|best: u32| {
                let others = self.forms[best as usize];
                *count > others || *count == others && dictionary.form(form) < dictionary.form(best)
            });
            if is_better {
                *best = Some(form);
            }
        }
        let best = best.iter().zip(&self.stems).filter_map(|(form, projects)| Some(((*form)?, *projects)));
        let shown = best.filter(|(form, _)| !is_stop_word(&fold(dictionary.form(*form))));
        shown.map(|(form, projects)| TermUse { form, projects }).collect()
    }
}

/// Returns the number of projects with a term, of a category or of all.
fn of_category(block: &Block, term: TermInfo, category: Option<&[u64]>) -> u32 {
    category.map_or(term.count, |category| block.posting_list(term).count_in(category) as u32)
}
