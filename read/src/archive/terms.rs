//! The words that the dimensions really use.

use std::cmp::Reverse;

use schemas::record::Category;
use schemas::taste::Dimension;

use super::counts::Use;
use super::dictionary::Dictionary;
use super::vocabulary::Vocabulary;

/// The most used words of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimensionTerms {
    /// Which.
    pub dimension: Dimension,
    /// The most used first, those that are used alike in alphabetical order.
    pub terms: Vec<Term>,
    /// How many different words the dimension has.
    pub distinct: u64,
}

/// A word and its use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// As most projects write it, in lower case. It stands for all words of its stem.
    pub term: String,
    /// How many projects a question for this word alone in this dimension finds.
    pub projects: u64,
}

/// The most used words of one dimension, or of each.
pub(super) fn terms(
    vocabulary: &Vocabulary,
    dimension: Option<Dimension>,
    category: Option<Category>,
    limit: usize,
) -> Vec<DimensionTerms> {
    let counts = vocabulary.counts(category);
    let wanted = Dimension::ALL.into_iter().filter(|one| dimension.is_none_or(|wanted| wanted == *one));
    let of_dimension = |dimension: Dimension| {
        let uses = counts.of_dimension(dimension);
        let terms = most_used(uses, vocabulary.dictionary(), limit);
        DimensionTerms { dimension, terms, distinct: uses.len() as u64 }
    };
    wanted.map(of_dimension).collect()
}

fn most_used(uses: &[Use], dictionary: &Dictionary, limit: usize) -> Vec<Term> {
    let mut uses = uses.to_vec();
    let order = |a: &Use, b: &Use| {
        let by_use = Reverse(a.projects).cmp(&Reverse(b.projects));
        by_use.then_with(|| dictionary.form(a.form).cmp(dictionary.form(b.form)))
    };
    if uses.len() > limit {
        uses.select_nth_unstable_by(limit, order);
        uses.truncate(limit);
    }
    uses.sort_unstable_by(order);
    uses.iter().map(|one| one.term(dictionary)).collect()
}

impl Use {
    pub(super) fn term(self, dictionary: &Dictionary) -> Term {
        Term { term: dictionary.form(self.form).to_owned(), projects: u64::from(self.projects) }
    }
}
