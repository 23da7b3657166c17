//! A query that finds more exactly than the one that was asked.

use super::cascade::Search;
use super::forgiving;
use super::query::Query;
use text::function_words;

/// From this length on a word is no short one.
const LONG: usize = 5;

/// Another query, and how many projects match it exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Its text.
    pub query: String,
    /// How many projects match it as it stands; at least one.
    pub total: u64,
}

/// A query's text by the words that it folds to.
pub(super) struct Typed<'t> {
    pieces: Vec<(String, &'t str)>,
}

impl<'t> Typed<'t> {
    pub(super) fn new(text: &'t str) -> Typed<'t> {
        Typed { pieces: text::pieces(text).map(|piece| (text::fold(piece), piece)).collect() }
    }

    /// The word as it was typed; a character of a run is shown with its run.
    pub(super) fn show<'w>(&self, word: &'w str) -> &'w str
    where
        't: 'w,
    {
        let of = |(folded, _): &&(String, &'t str)| folded.split(' ').any(|one| one == word);
        self.pieces.iter().find(of).map_or(word, |(_, piece)| piece)
    }
}

/// The query with its unknown words mended, towards frequent words too; else without its unknown and its small words; else
/// without the word that says the least; else the rarest words that stand in one project together. None where no word of it is
/// known that says something.
pub(super) fn did_you_mean(search: &Search<'_>, typed: &Typed<'_>) -> tantivy::Result<Option<Suggestion>> {
    if let Some(mended) = mended(search, typed)
        && let Some(found) = counted(search, &mended)?
    {
        return Ok(Some(found));
    }
    let known = known(search, typed);
    if let Some(found) = counted(search, &known)? {
        return Ok(Some(found));
    }
    // What says the most comes first: words before numbers, and the rarest.
    let mut order: Vec<usize> = (0..known.len()).collect();
    let lexicon = &search.snapshot.lexicon;
    order.sort_by_key(|place| {
        let folded = text::fold(known[*place]);
        (forgiving::is_exact(&folded), lexicon.count(&folded))
    });
    for left_out in order.iter().rev() {
        let rest = known.iter().enumerate().filter(|(place, _)| place != left_out);
        let rest: Vec<&str> = rest.map(|(_, word)| *word).collect();
        if let Some(found) = counted(search, &rest)? {
            return Ok(Some(found));
        }
    }
    let (mut together, mut best) = (Vec::new(), None);
    for place in order {
        together.push(known[place]);
        match counted(search, &together)? {
            Some(found) => best = Some(found),
            None => drop(together.pop()),
        }
    }
    Ok(best)
}

/// All words, the unknown ones as what they are nearest to; none where one of them is near to nothing.
fn mended<'s>(search: &'s Search<'_>, typed: &Typed<'s>) -> Option<Vec<&'s str>> {
    let (query, lexicon) = (search.query, &search.snapshot.lexicon);
    // Two short words that are both near to something are more likely names.
    let may_be_short = query.words.len() == 1 || query.words.iter().any(|word| word.chars().count() >= LONG);
    let mut words = Vec::with_capacity(query.words.len());
    for word in &query.words {
        let shown = if lexicon.count(word) > 0 {
            typed.show(word)
        } else {
            let alike = forgiving::alike(lexicon, word).into_iter();
            alike
                .filter(|_| may_be_short || word.chars().count() >= LONG)
                .find(|found| !forgiving::is_small(found.word))?
                .word
        };
        if !words.contains(&shown) {
            words.push(shown);
        }
    }
    Some(words)
}

/// The known words that say something: no function words, and of the short ones those that few projects have.
fn known<'s>(search: &'s Search<'_>, typed: &Typed<'s>) -> Vec<&'s str> {
    let mut words = Vec::with_capacity(search.query.words.len());
    for word in &search.query.words {
        let count = search.snapshot.lexicon.count(word);
        let is_little = word.chars().count() < 3 || count > search.snapshot.most_holders();
        let is_said = forgiving::is_exact(word)
            || (!forgiving::is_small(word) || !is_little) && !function_words::contains(word);
        let shown = typed.show(word);
        if count > 0 && is_said && !words.contains(&shown) {
            words.push(shown);
        }
    }
    let is_small = |word: &&str| forgiving::is_small(word) && !forgiving::is_exact(word);
    if words.iter().all(is_small) { Vec::new() } else { words }
}

/// A query of these words, if projects match it as it stands.
fn counted(search: &Search<'_>, words: &[&str]) -> tantivy::Result<Option<Suggestion>> {
    if words.is_empty() {
        return Ok(None);
    }
    let text = words.join(" ");
    let query = Query::parse(&text);
    let total = Search { query: &query, ..*search }.count()?;
    Ok((total > 0).then_some(Suggestion { query: text, total }))
}
