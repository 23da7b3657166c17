//! The archive at one moment, together with the search index at that moment: an answer whose order comes from the one has
//! its summaries from the other.

use std::sync::Arc;

use schemas::record::Category;
use schemas::taste::Dimension;

use super::browse::{self, NewestPage};
use super::cursor::{Cursor, InvalidCursor};
use super::nearest;
use super::question::{Question, TasteRequest};
use super::snapshot::Snapshot;
use super::tally::{self, TastePage};
use super::terms::{self, DimensionTerms, Term};
use super::vocabulary::Vocabulary;
use super::words::Stems;
use crate::search::View;

/// What is asked of the archive, at one moment; clones share it.
#[derive(Clone, Debug)]
pub struct Listing {
    pub(super) snapshot: Arc<Snapshot>,
    /// The words in use, counted at this moment or somewhat earlier.
    pub(super) vocabulary: Arc<Vocabulary>,
    /// The search index, which knows every project that is listed here; none where the archive is read by itself.
    pub(super) view: Option<View>,
    pub(super) stems: Arc<Stems>,
}

impl Listing {
    /// The projects of some taste. A cursor that was made for another question is refused.
    pub fn by_taste(&self, request: &TasteRequest<'_>) -> Result<TastePage, InvalidCursor> {
        let question = Question::of(request, &self.stems);
        tally::page(&self.snapshot, &question, request.limit, request.after.clone())
    }

    /// The newest projects, of one category or of all: by publication, else by the day of their selection, else by that on
    /// which they came in; within a day the one that came last is first. The limit is clamped to 1 to
    /// [`super::LARGEST_PAGE`]; a cursor that was made for another question is refused.
    pub fn newest(
        &self,
        category: Option<Category>,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<NewestPage, InvalidCursor> {
        browse::newest(&self.snapshot, category, limit, after)
    }

    /// The ordinal of the listed project that a number stands for. Drawn from all 64-bit numbers alike, it gives each
    /// project the same chance, to less than one part in 10^12. None where nothing is listed.
    pub fn random(&self, category: Option<Category>, draw: u64) -> Option<u64> {
        browse::random(&self.snapshot, category, draw)
    }

    /// How many projects are listed, of one category or of all.
    pub fn listed(&self, category: Option<Category>) -> u64 {
        browse::listed(&self.snapshot, category)
    }

    /// The words that projects really use, of one dimension or of each, at most `limit` of each dimension. In a
    /// large archive they are those of some moments ago: words are counted while the archive is refreshed, not while it is
    /// asked.
    pub fn terms(
        &self,
        dimension: Option<Dimension>,
        category: Option<Category>,
        limit: usize,
    ) -> Vec<DimensionTerms> {
        terms::terms(&self.vocabulary, dimension, category, limit)
    }

    /// For the words of a text that no project uses in a dimension: words that are used and differ by few letters, or begin
    /// alike; the nearest first, then the most used. At most `limit`.
    pub fn nearest_terms(&self, dimension: Dimension, text: &str, limit: usize) -> Vec<Term> {
        nearest::nearest_terms((&self.snapshot, &self.stems), &self.vocabulary, dimension, text, limit)
    }

    /// Whether the search index belongs to it, so that listed projects have summaries.
    pub fn has_summaries(&self) -> bool {
        self.view.is_some()
    }

    /// The summary of a listed project: a JSON object without its closing brace.
    pub fn summary_of(&self, ordinal: u64) -> Option<&[u8]> {
        self.view.as_ref()?.summary_of(ordinal)
    }
}
