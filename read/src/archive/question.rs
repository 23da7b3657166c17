//! What is asked of the six dimensions.

use std::hash::Hasher;

use schemas::record::Category;
use schemas::taste::{Dimension, Taste};

use super::cursor::Cursor;
use super::words::Stems;
use lexical::Fnv;

/// At most so many words of a dimension are asked for; the rest is ignored, and the answer says so.
pub const MOST_WORDS: usize = 16;

/// A question for projects of some taste.
#[derive(Clone, Debug, Default)]
pub struct TasteRequest<'a> {
    /// What is asked of each dimension, in the order of [`Dimension::ALL`]. Any text is legal; one without words matches
    /// nothing.
    pub asked: [Option<&'a str>; Dimension::COUNT],
    /// Only projects of this category.
    pub category: Option<Category>,
    /// The size of the page, from 1 to [`super::LARGEST_PAGE`]; beyond that it is clamped.
    pub limit: usize,
    /// Where the page before this one ended.
    pub after: Option<Cursor>,
}

impl<'a> TasteRequest<'a> {
    /// Returns a request for the texts of a taste, without a limit of its own.
    pub fn of(taste: &'a Taste) -> TasteRequest<'a> {
        TasteRequest {
            asked: Dimension::ALL.map(|dimension| taste.get(dimension)),
            ..TasteRequest::default()
        }
    }

    /// Asks this of a dimension, instead of what was asked of it before.
    #[must_use]
    pub fn asking(mut self, dimension: Dimension, text: &'a str) -> TasteRequest<'a> {
        self.asked[dimension.index()] = Some(text);
        self
    }
}

/// A question, taken apart.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) demands: Vec<Demand>,
    pub(super) category: Option<Category>,
}

/// What is asked of one dimension.
#[derive(Debug)]
pub(super) struct Demand {
    pub(super) dimension: Dimension,
    /// Distinct; all of them must be there.
    pub(super) stems: Vec<String>,
    pub(super) has_more: bool,
}

impl Question {
    pub(super) fn of(request: &TasteRequest<'_>, stems: &Stems) -> Question {
        let asked = Dimension::ALL.into_iter().zip(request.asked);
        let demands = asked.filter_map(|(dimension, text)| {
            let (stems, has_more) = stems.of_question(text?, MOST_WORDS);
            Some(Demand { dimension, stems, has_more })
        });
        Question { demands: demands.collect(), category: request.category }
    }

    /// Stands for the question in cursors: the same in every process, whatever the order of the words.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.write(b"taste");
        add_category(&mut hash, self.category);
        for demand in &self.demands {
            hash.write(demand.dimension.as_str().as_bytes());
            let mut stems: Vec<&str> = demand.stems.iter().map(String::as_str).collect();
            stems.sort_unstable();
            for stem in stems {
                hash.write(stem.as_bytes());
                hash.write(&[0]);
            }
        }
        hash.finish()
    }
}

/// Stands in cursors for the question for the newest.
pub(super) fn fingerprint_of_newest(category: Option<Category>) -> u64 {
    let mut hash = Fnv::default();
    // Cursors of the order before this one are refused.
    hash.write(b"newest 2");
    add_category(&mut hash, category);
    hash.finish()
}

fn add_category(hash: &mut Fnv, category: Option<Category>) {
    hash.write(category.map_or("", Category::as_str).as_bytes());
    hash.write(&[0]);
}
