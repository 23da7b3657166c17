//! Searches by taste: pages, the number of matches of each dimension, and advice about dimensions that match nothing.

use std::convert::Infallible;
use std::sync::Arc;

use read::archive::{
    Cursor, DimensionMatches, FacetCounts, InvalidCursor, Listing, MAX_QUERY_WORDS, Selection, TasteRequest,
};
use read::search::OrdinalSet;
use schemas::taste::{Dimension, DimensionSet, Taste};
use serde::{Serialize, Serializer};

use super::browse::ArchivePage;
use super::facets;
use super::list_options::{ListOptions, MAX_VALUES};

/// The maximum length of the text of a dimension, in characters.
pub const LONGEST: usize = 200;
/// The maximum number of alternatives in a dimension, that of the values of a filter.
pub const MOST_ALTERNATIVES: usize = MAX_VALUES;
/// The number of words in use that are suggested for an unknown one.
const NEAREST: usize = 4;

/// The requested texts of each dimension; several are alternatives.
#[derive(Debug, Default)]
pub struct TasteTexts([Vec<String>; Dimension::COUNT]);

impl TasteTexts {
    /// Returns the texts that `read` returns for each dimension, called in display order.
    pub fn from_fn(read: impl FnMut(Dimension) -> Vec<String>) -> TasteTexts {
        TasteTexts(Dimension::ALL.map(read))
    }

    /// Returns whether no dimension is requested.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Returns the number of texts of all dimensions.
    pub fn alternatives(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    fn get(&self, dimension: Dimension) -> &[String] {
        &self.0[dimension.index()]
    }

    fn request(&self) -> TasteRequest<'_> {
        let taste = self.0.each_ref().map(|texts| texts.iter().map(String::as_str).collect());
        TasteRequest { taste, ..TasteRequest::default() }
    }
}

impl From<&Taste> for TasteTexts {
    fn from(taste: &Taste) -> TasteTexts {
        TasteTexts::from_fn(|dimension| taste.get(dimension).map(str::to_owned).into_iter().collect())
    }
}

/// A page of projects, and the matches of each requested dimension.
#[derive(Debug)]
pub struct TastePage {
    /// The projects with their matching dimensions.
    pub page: ArchivePage<DimensionSet>,
    /// The number of matches of each requested dimension.
    pub matches: Matches,
}

/// The matches of the requested dimensions over all pages, as the member `matches` of an answer.
#[derive(Debug, Default)]
pub struct Matches(Vec<DimensionMatches>);

impl Matches {
    /// Returns the requested dimensions that no project matches.
    pub fn missing(&self) -> impl Iterator<Item = Dimension> {
        self.0.iter().filter(|one| one.projects == 0).map(|one| one.dimension)
    }
}

impl Serialize for Matches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|one| (one.dimension.as_str(), one.projects)))
    }
}

/// Returns what to write if no dimension is requested.
pub fn nothing_requested() -> String {
    format!("at least one of {} is needed", Dimension::ALL.map(Dimension::as_str).join(", "))
}

/// Returns a page of the projects that match a taste.
///
/// # Errors
///
/// If the cursor is one of another list.
pub fn search(
    now: &Listing,
    taste: &TasteTexts,
    options: &ListOptions,
    limit: usize,
    after: Option<Cursor>,
) -> Result<TastePage, InvalidCursor> {
    let request = TasteRequest { limit, after, ..taste.request() };
    let page = match options.only_category() {
        Some(category) => now.by_taste(&TasteRequest { category, ..request })?,
        None => {
            let set = now.select(&options.filters);
            let within = Some(Selection { set: &set, fingerprint: options.filters.fingerprint() });
            match &options.order {
                None => now.by_taste(&TasteRequest { within, ..request })?,
                Some(order) => now.by_taste_in_order(&TasteRequest { within, ..request }, order)?,
            }
        }
    };
    let projects = page.hits.into_iter().map(|hit| (hit.ordinal, hit.matched)).collect();
    let matches = Matches(page.dimensions);
    Ok(TastePage { page: ArchivePage { projects, total: page.total, next: page.next }, matches })
}

/// Counts the projects that match a taste and all filters by each facet, without the filter by its own values.
pub fn facets(now: &Listing, taste: &TasteTexts, options: &ListOptions) -> Vec<FacetCounts> {
    let matching = |but| {
        let set = now.select(&options.filters_but(but));
        let within = Some(Selection { set: &set, fingerprint: 0 });
        Ok::<_, Infallible>(Arc::new(now.matching_taste(&TasteRequest { within, ..taste.request() })))
    };
    let Ok(counts) = facets::count(now, options, matching);
    counts
}

/// Returns how many of the projects that match a taste and all filters match in one dimension only, in two, and so on up to the number
/// of requested dimensions.
pub fn counts_by_matches(now: &Listing, taste: &TasteTexts, options: &ListOptions) -> Vec<u64> {
    let selected = now.select(&options.filters);
    let within = Some(Selection { set: &selected, fingerprint: 0 });
    let request = TasteRequest { within, ..taste.request() };
    let dimensions = Dimension::ALL.into_iter().filter(|dimension| !taste.get(*dimension).is_empty());
    let matching: Vec<OrdinalSet> = dimensions
        .map(|dimension| {
            let one = TasteTexts::from_fn(|other| {
                if other == dimension { taste.get(dimension).to_vec() } else { Vec::new() }
            });
            now.matching_taste(&TasteRequest { within, ..one.request() })
        })
        .collect();
    let mut counts = vec![0; matching.len()];
    for ordinal in now.matching_taste(&request).iter() {
        let matches = matching.iter().filter(|set| set.contains(ordinal)).count();
        if let Some(count) = matches.checked_sub(1).and_then(|index| counts.get_mut(index)) {
            *count += 1;
        }
    }
    counts
}

/// Returns advice about dimensions that match nothing, or whose words were not all used. `terms` is the list of the words in use.
pub fn notes(
    now: &Listing,
    taste: &TasteTexts,
    options: &ListOptions,
    (matches, total): (&Matches, u64),
    terms: &str,
) -> Vec<String> {
    let mut notes: Vec<String> =
        matches.0.iter().filter_map(|one| dimension_note(now, one, taste, terms)).collect();
    match options.filters.only_category() {
        _ if total > 0 => {}
        Some(None) => {}
        Some(Some(_)) => notes.push("Leave category out to look in all of them.".to_owned()),
        None => notes.push("Leave some filters out to look in all projects.".to_owned()),
    }
    notes
}

fn dimension_note(
    now: &Listing,
    asked: &DimensionMatches,
    taste: &TasteTexts,
    terms: &str,
) -> Option<String> {
    let dimension = asked.dimension;
    let texts = taste.get(dimension);
    if asked.is_truncated {
        return Some(format!("Of {dimension} only the first {MAX_QUERY_WORDS} words are looked for."));
    }
    if asked.projects > 0 {
        return None;
    }
    let text = texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" or ");
    let near = now.nearest_terms(dimension, &texts.join(" "), NEAREST);
    let near: Vec<String> = near.iter().map(|term| format!("{} ({})", term.term, term.projects)).collect();
    Some(match (asked.words, near.is_empty()) {
        (0, _) => format!("{dimension} {text} holds no word."),
        (_, false) => format!(
            "No project matches {dimension} {text}; words in use that are near, with their projects: {}.",
            near.join(", ")
        ),
        (1, true) => {
            format!("No project matches {dimension} {text}; {terms} shows the words in use.")
        }
        (_, true) => format!("No project has all words of {dimension} {text}; try one of them alone."),
    })
}

/// Returns the text in quotation marks, shortened to 60 characters.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("“{}…”", &text[..end]),
        None => format!("“{text}”"),
    }
}
