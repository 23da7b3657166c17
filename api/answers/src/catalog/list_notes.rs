//! What lists say of themselves beside their results: why they are empty, what the projects of a place have in place of a missing word,
//! and which projects have no year. What is not asked for is not computed.

use std::convert::Infallible;

use read::archive::{Filters, Listing};
use read::search::{OrdinalSet, Relaxation, RelaxationKind, SearchPage};

use super::empty;
use super::empty::there::There;
use super::list_options::ListOptions;
use super::search::{self, Found, SearchFault};
use super::taste::{self, TasteTexts};
use super::undated;
use crate::state::ApiState;

/// The most words of a query that are looked for alone.
const MOST_LOOKED_FOR: usize = 4;
/// The most words that are said to be missing.
const MOST_MISSING: usize = 2;

/// What is said of a search.
#[derive(Debug, Default)]
pub struct SearchNotes {
    /// The sentences.
    pub sentences: Vec<String>,
    /// Whether the words find something without the filters.
    pub is_elsewhere: bool,
}

/// Returns sentences as a note; `None` without any.
pub fn joined(sentences: &[String]) -> Option<String> {
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Returns what is said of a list without a query.
pub fn of_list(now: &Listing, options: &ListOptions, total: u64) -> Vec<String> {
    let mut sentences = Vec::new();
    if total == 0 {
        sentences = empty::reasons(now, &options.filters, None);
    }
    sentences.extend(undated_of(now, options, |undated| undated.len()));
    sentences
}

/// Returns what is said of a list by taste beside its dimensions.
pub fn of_taste(now: &Listing, taste: &TasteTexts, options: &ListOptions, total: u64) -> Vec<String> {
    let mut sentences = Vec::new();
    if total == 0 && !options.filters.is_empty() {
        let elsewhere = taste::matching(now, taste, &now.select(&Filters::default()));
        sentences = empty::reasons(now, &options.filters, Some(&elsewhere));
    }
    sentences.extend(undated_of(now, options, |undated| taste::matching(now, taste, undated).len()));
    sentences
}

/// Returns what is said of the neighbours of a project, all of which are in `neighbours`.
pub fn of_neighbours(
    now: &Listing,
    options: &ListOptions,
    neighbours: &OrdinalSet,
    total: usize,
) -> Vec<String> {
    let mut sentences = Vec::new();
    if total == 0 && !options.filters.is_empty() {
        sentences = empty::reasons(now, &options.filters, Some(neighbours));
    }
    sentences.extend(undated_of(now, options, |undated| shared(neighbours, undated)));
    sentences
}

fn undated_of(now: &Listing, options: &ListOptions, count: impl Fn(&OrdinalSet) -> u64) -> Vec<String> {
    let Ok(notes) = undated::notes(now, options, |undated, _| Ok::<_, Infallible>(count(undated)));
    notes
}

/// Returns how many projects are in both sets.
fn shared(one: &OrdinalSet, other: &OrdinalSet) -> u64 {
    one.iter().filter(|ordinal| other.contains(*ordinal)).count() as u64
}

/// Returns what is said of a search by words beside how it was relaxed.
///
/// # Errors
///
/// If a model is not open or cannot be read.
pub fn of_search(
    state: &ApiState,
    text: &str,
    options: &ListOptions,
    found: &Found,
) -> Result<SearchNotes, SearchFault> {
    let (page, filters) = (&found.page, &options.filters);
    let is_filtered = !filters.is_empty();
    let is_relaxed = page.relaxation().is_some();
    if !(is_filtered && is_relaxed || undated::is_asked(options)) {
        return Ok(SearchNotes::default());
    }
    let now = state.listing()?;
    let mut notes = SearchNotes::default();
    if let Some(there) = There::of(&now, filters).filter(|_| is_relaxed) {
        notes.sentences = missing_there(&now, &there, text, page)?;
    }
    if page.total() == 0 && is_filtered {
        let elsewhere = search::matching(&now, text, &Filters::default())?;
        notes.is_elsewhere = !elsewhere.is_empty();
        notes.sentences.extend(empty::reasons(&now, filters, Some(&elsewhere)));
    }
    notes.sentences.extend(undated::notes(&now, options, |undated, others| {
        if others == filters {
            // Results in another order than by relevance are all collected.
            Ok(shared(undated, &page.ordinals()))
        } else if is_relaxed {
            let matching = search::matching(&now, text, others)?;
            Ok(shared(undated, &matching))
        } else {
            now.count_matches(text, undated).map_err(SearchFault::from)
        }
    })?);
    Ok(notes)
}

/// Returns which words none of the projects of some places and categories has, and what they have instead.
fn missing_there(
    now: &Listing,
    there: &There,
    text: &str,
    page: &SearchPage,
) -> Result<Vec<String>, SearchFault> {
    let mut said = Vec::new();
    for word in page.relaxation().map(|relaxation| suspected(relaxation, text)).unwrap_or_default() {
        if said.len() == MOST_MISSING {
            break;
        }
        // What is there in place of it is found with less work than whether it is there in a name or an introduction.
        let Some(sentence) = there.lacks_word(now, &word) else { continue };
        if !search::has_full_match(now, &word, there.filters())? {
            said.push(sentence);
        }
    }
    Ok(said)
}

/// Returns the words of a query that may be missing.
fn suspected(relaxation: &Relaxation, text: &str) -> Vec<String> {
    let Relaxation { kind, unmatched_words, replacements, .. } = relaxation;
    let mut words: Vec<String> = match kind {
        RelaxationKind::NoMatches => {
            let trimmed =
                text.split_whitespace().map(|word| word.trim_matches(|of: char| !of.is_alphanumeric()));
            trimmed.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }
        RelaxationKind::Any | RelaxationKind::Fuzzy | RelaxationKind::Corrected => {
            let replaced = replacements.iter().map(|one| one.from.clone());
            unmatched_words.iter().cloned().chain(replaced).collect()
        }
        RelaxationKind::Prefix | RelaxationKind::NoWords => Vec::new(),
    };
    let mut known: Vec<String> = Vec::new();
    words.retain(|word| {
        let is_new = !known.contains(word);
        known.push(word.clone());
        is_new
    });
    words.truncate(MOST_LOOKED_FOR);
    words
}

#[cfg(test)]
mod tests {
    use read::search::Replacement;

    use super::*;

    #[test]
    fn words_that_may_be_missing_are_looked_for_once() {
        let mut relaxation = Relaxation {
            kind: RelaxationKind::NoMatches,
            exact: 0,
            excluded: 0,
            ends_with_letter: false,
            unknown_words: Vec::new(),
            replacements: Vec::new(),
            matched_words: Vec::new(),
            unmatched_words: Vec::new(),
            did_you_mean: None,
        };
        assert_eq!(
            suspected(&relaxation, " \"timber house\" of timber … a b c"),
            ["timber", "house", "of", "a"]
        );
        relaxation.kind = RelaxationKind::Any;
        relaxation.unmatched_words = vec!["timber".into()];
        relaxation.replacements =
            vec![Replacement { from: "timber".into(), to: "timbre".into(), is_completion: false }];
        assert_eq!(suspected(&relaxation, "timber school"), ["timber"]);
        relaxation.kind = RelaxationKind::Prefix;
        assert_eq!(suspected(&relaxation, "timber"), Vec::<String>::new(), "a beginning is no missing word");
    }
}
