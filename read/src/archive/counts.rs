//! How often the words of each dimension are used.

use schemas::record::Category;
use schemas::taste::Dimension;

use super::bitmap;
use super::block::{Block, Posting};
use super::dictionary::Dictionary;
use super::shelf::Shelf;
use text::{fold, is_stop_word};

/// How often words are used: for each dimension, those that are.
#[derive(Debug)]
pub(super) struct Counts {
    dimensions: [Vec<Use>; Dimension::COUNT],
}

/// The use of a stem in a dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    /// The form that most projects write, of several the first in alphabetical order.
    pub(super) form: u32,
    pub(super) projects: u32,
}

impl Counts {
    /// Counts all words, which takes a pass over all of them.
    pub(super) fn of(shelf: &Shelf, dictionary: &Dictionary, category: Option<Category>) -> Counts {
        let mut counter = Counter { stems: vec![0; dictionary.stems()], forms: vec![0; dictionary.forms()] };
        let of_dimension = |dimension| {
            counter.stems.fill(0);
            counter.forms.fill(0);
            shelf.blocks.iter().for_each(|block| counter.add(block, dimension, category));
            counter.uses(dictionary)
        };
        Counts { dimensions: Dimension::ALL.map(of_dimension) }
    }

    pub(super) fn of_dimension(&self, dimension: Dimension) -> &[Use] {
        &self.dimensions[dimension.index()]
    }

    pub(super) fn bytes(&self) -> usize {
        self.dimensions.iter().map(|uses| uses.capacity() * size_of::<Use>()).sum()
    }
}

/// In how many projects each stem and each form stands, in one dimension.
struct Counter {
    stems: Vec<u32>,
    forms: Vec<u32>,
}

impl Counter {
    fn add(&mut self, block: &Block, dimension: Dimension, category: Option<Category>) {
        let category = category.map(|category| block.of_category(category));
        let mut any = vec![0; bitmap::words(block.len())];
        for (key, postings) in block.stems_of(dimension) {
            for posting in postings {
                self.forms[posting.form as usize] += of_category(block, *posting, category);
            }
            let stem = &mut self.stems[key.stem() as usize];
            match postings {
                [alone] => *stem += of_category(block, *alone, category),
                several => {
                    // Who writes a word in two ways counts once.
                    any.fill(0);
                    several.iter().for_each(|posting| block.holders(*posting).add_to(&mut any));
                    if let Some(category) = category {
                        any.iter_mut().zip(category).for_each(|(any, own)| *any &= own);
                    }
                    *stem += bitmap::count(&any) as u32;
                }
            }
        }
    }

    fn uses(&self, dictionary: &Dictionary) -> Vec<Use> {
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
        shown.map(|(form, projects)| Use { form, projects }).collect()
    }
}

fn of_category(block: &Block, posting: Posting, category: Option<&[u64]>) -> u32 {
    category.map_or(posting.count, |category| block.holders(posting).count_in(category) as u32)
}
