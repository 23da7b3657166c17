//! "Did you mean": another query that has full matches.

use std::sync::Arc;

use text::is_stop_word;

use super::expansion::{is_literal, is_short, similar_words};
use super::{ResultPage, Search};
use crate::Collects;
use crate::matching::Scope;
use crate::ordinal_set::OrdinalSet;
use crate::query::Query;
use crate::ranking::top_k::{Collected, PageStart, TopK};

/// Shorter words, in characters, are corrected only if the query has a word of this length, or is that word alone.
const MIN_LONG: usize = 5;

/// Another query, and the number of projects that match it in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Its text.
    pub query: String,
    /// The number of projects that contain every word of it in some form, at least one.
    pub total: u64,
}

impl Suggestion {
    /// Returns whether its full matches are the results of a search, on whatever page: then it suggests what is already shown. Sets of
    /// different sizes are not compared.
    pub(super) fn finds_the_results(&self, search: &Search<'_>, page: &ResultPage) -> tantivy::Result<bool> {
        if self.total != page.total {
            return Ok(false);
        }
        let results = ordinals(search, page)?;
        let scope = Scope { allowed: Some(&results), ..search.scope };
        let query = Query::parse(&self.query);
        Ok(Search { query: &query, scope, ..*search }.count_full()? == self.total)
    }
}

/// Returns the ordinals of the results of all pages of a search in one of the tiers that correct words.
fn ordinals(search: &Search<'_>, page: &ResultPage) -> tantivy::Result<Arc<OrdinalSet>> {
    if let Collected::Ordinals(all) = &page.collected {
        return Ok(Arc::clone(all));
    }
    let ResultPage { documents, total, state, .. } = page;
    if documents.len() as u64 == *total {
        let segments = &search.snapshot.segments;
        let ordinals = documents.iter().map(|found| segments[found.segment as usize].ordinal(found.document));
        return Ok(Arc::new(ordinals.collect()));
    }
    let mut all = TopK::new(1, PageStart::First).collecting(Collects::Ordinals);
    let clauses = search.approximate_clauses(state.tier, Some(&state.weights))?;
    search.approximate_tier(state.tier, &clauses, &search.snapshot.length_norms, &mut all)?;
    match all.collected {
        Collected::Ordinals(all) => Ok(all),
        Collected::Matches(_) | Collected::Nothing => Ok(Arc::default()),
    }
}

/// The text of a query, by the words that it folds to.
pub(super) struct QueryText<'t> {
    text: &'t str,
    /// The folded words of each piece, separated by spaces, and the piece.
    pieces: Vec<(String, &'t str)>,
}

impl<'t> QueryText<'t> {
    pub(super) fn new(text: &'t str) -> QueryText<'t> {
        QueryText { text, pieces: text::pieces(text).map(|piece| (text::fold(piece), piece)).collect() }
    }

    /// Returns a folded word as it was typed; of a character in a run, the run.
    pub(super) fn as_typed<'w>(&self, word: &'w str) -> &'w str
    where
        't: 'w,
    {
        let has_word = |(folded, _): &&(String, &'t str)| folded.split(' ').any(|one| one == word);
        self.pieces.iter().find(has_word).map_or(word, |(_, piece)| piece)
    }

    /// Returns words that follow each other, as they were typed with what is between them; `None` if they were not typed so.
    pub(super) fn compound_as_typed(&self, words: &[&str]) -> Option<&'t str> {
        let is_typed = |window: &&[(String, &str)]| window.iter().map(|(folded, _)| folded).eq(words);
        let window = self.pieces.windows(words.len()).find(is_typed)?;
        let ((_, first), (_, last)) = (window.first()?, window.last()?);
        // Pieces are parts of the text.
        let begin = first.as_ptr().addr() - self.text.as_ptr().addr();
        let end = last.as_ptr().addr() - self.text.as_ptr().addr() + last.len();
        self.text.get(begin..end)
    }
}

/// Returns the first of these queries that has full matches: the query with its unknown words corrected, to frequent words too;
/// without its unknown and insignificant words; also without the word that says least, or the next one; the rarest words that occur
/// together in a project. `None` if no significant word of the query occurs.
pub(super) fn did_you_mean(
    search: &Search<'_>,
    typed: &QueryText<'_>,
) -> tantivy::Result<Option<Suggestion>> {
    if let Some(corrected) = corrected_words(search, typed)
        && let Some(found) = suggestion(search, &corrected)?
    {
        return Ok(Some(found));
    }
    let words = significant_words(search, typed);
    if let Some(found) = suggestion(search, &words)? {
        return Ok(Some(found));
    }
    // What says most comes first: words before numbers, then the rarest.
    let mut order: Vec<usize> = (0..words.len()).collect();
    let lexicon = &search.snapshot.lexicon;
    order.sort_by_key(|index| {
        let folded = text::fold(words[*index]);
        (is_literal(&folded), lexicon.document_frequency(&folded))
    });
    for dropped in order.iter().rev() {
        let others = words.iter().enumerate().filter(|(index, _)| index != dropped);
        let others: Vec<&str> = others.map(|(_, word)| *word).collect();
        if let Some(found) = suggestion(search, &others)? {
            return Ok(Some(found));
        }
    }
    let (mut together, mut best) = (Vec::new(), None);
    for index in order {
        together.push(words[index]);
        match suggestion(search, &together)? {
            Some(found) => best = Some(found),
            None => drop(together.pop()),
        }
    }
    Ok(best)
}

/// Returns all words, the unknown ones corrected to the nearest; `None` if one of them is near to no word.
fn corrected_words<'s>(search: &'s Search<'_>, typed: &QueryText<'s>) -> Option<Vec<&'s str>> {
    let (query, lexicon) = (search.query, &search.snapshot.lexicon);
    let is_long = |word: &str| word.chars().count() >= MIN_LONG;
    // Two short words that are both near to something are more likely names.
    let may_correct_short = query.words.len() == 1 || query.words.iter().any(|word| is_long(word));
    let mut words = Vec::with_capacity(query.words.len());
    for (index, word) in query.words.iter().enumerate() {
        let corrected = if search.frequency(index) > 0 {
            typed.as_typed(word)
        } else {
            let similar = similar_words(lexicon, word).into_iter();
            similar.filter(|_| may_correct_short || is_long(word)).find(|found| !is_short(found.word))?.word
        };
        if !words.contains(&corrected) {
            words.push(corrected);
        }
    }
    Some(words)
}

/// Returns the words that occur and say something, as they were typed: no stop words, and of the short ones those of at least
/// three characters that are not frequent. None if all of them are short.
fn significant_words<'s>(search: &'s Search<'_>, typed: &QueryText<'s>) -> Vec<&'s str> {
    let mut words = Vec::with_capacity(search.query.words.len());
    for (index, word) in search.query.words.iter().enumerate() {
        let document_frequency = search.frequency(index);
        let says_little = word.chars().count() < 3 || document_frequency > search.snapshot.frequent_above();
        let is_significant = is_literal(word) || (!is_short(word) || !says_little) && !is_stop_word(word);
        let typed = typed.as_typed(word);
        if document_frequency > 0 && is_significant && !words.contains(&typed) {
            words.push(typed);
        }
    }
    let is_short = |word: &&str| is_short(word) && !is_literal(word);
    if words.iter().all(is_short) { Vec::new() } else { words }
}

/// Returns the query of these words if it has full matches.
fn suggestion(search: &Search<'_>, words: &[&str]) -> tantivy::Result<Option<Suggestion>> {
    if words.is_empty() {
        return Ok(None);
    }
    let text = words.join(" ");
    let query = Query::parse(&text);
    let total = Search { query: &query, ..*search }.count_full()?;
    Ok((total > 0).then_some(Suggestion { query: text, total }))
}
