//! Why a list with filters is empty: values that no project has, with recorded ones that are near to them, and the filter that excludes
//! most. It is computed for empty lists alone.

mod missing;
pub mod there;

use std::sync::Arc;

use read::archive::{FilterPart, Filters, Listing};
use read::search::OrdinalSet;

use self::missing::named;
use super::quotation::quoted;

/// The most filters that are named in one sentence, and the most sentences about values that no project has.
const MAX_NAMED: usize = 5;
/// The most values of a filter that are named.
const MAX_VALUES: usize = 3;

/// Returns why no project matches, in sentences; none without filters. `found` is what the list has without any filter, `None` if that is
/// the whole catalog.
pub fn reasons(now: &Listing, filters: &Filters, found: Option<&OrdinalSet>) -> Vec<String> {
    if filters.is_empty() {
        return Vec::new();
    }
    let list = List { now, filters, found };
    let alone: Vec<(FilterPart, Arc<OrdinalSet>)> =
        filters.parts().into_iter().map(|part| (part, now.select(&filters.only(part)))).collect();
    let (unused, used): (Vec<_>, Vec<_>) = alone.into_iter().partition(|(_, set)| set.is_empty());
    let unused: Vec<FilterPart> = unused.into_iter().map(|(part, _)| part).collect();
    if unused.is_empty() {
        return list.excluding(&used);
    }
    let shown = unused.iter().take(MAX_NAMED);
    let mut sentences: Vec<String> = shown.map(|part| missing::sentence(now, filters, *part)).collect();
    if !used.is_empty() || found.is_some() {
        let rest = unused.iter().fold(filters.clone(), |rest, part| rest.without_part(*part));
        let names: Vec<&str> = unused.iter().map(|part| name(filters, *part)).collect();
        sentences.extend(remaining(&listed(&names, "and"), list.count(&rest)));
    }
    sentences
}

/// A list, and what it is filtered by.
struct List<'a> {
    now: &'a Listing,
    filters: &'a Filters,
    found: Option<&'a OrdinalSet>,
}

impl List<'_> {
    /// Counts what the list has with other filters.
    fn count(&self, filters: &Filters) -> u64 {
        self.shared(&self.now.select(filters))
    }

    /// Counts what the list has without filters that is in a set.
    fn shared(&self, set: &OrdinalSet) -> u64 {
        match self.found {
            None => set.len(),
            Some(found) => found.iter().filter(|ordinal| set.contains(*ordinal)).count() as u64,
        }
    }

    /// Returns what filters leave of which each matches some project of the catalog.
    fn excluding(&self, used: &[(FilterPart, Arc<OrdinalSet>)]) -> Vec<String> {
        let List { filters, .. } = *self;
        let whole = self.count(&Filters::default());
        if whole == 0 {
            return Vec::new();
        }
        let mut sentences = Vec::new();
        if let [_, _, ..] = used {
            let mut alone: Vec<(FilterPart, u64)> =
                used.iter().map(|(part, set)| (*part, self.shared(set))).collect();
            // The filters that leave least, in their usual order.
            let mut least: Vec<u64> = alone.iter().map(|(_, count)| *count).collect();
            least.sort_unstable();
            let most = least.get(MAX_NAMED - 1).copied().unwrap_or(u64::MAX);
            alone.retain(|(_, count)| *count <= most);
            alone.truncate(MAX_NAMED);
            sentences.push(self.together(&alone, whole));
        }
        let without = used.iter().map(|(part, _)| (*part, self.count(&filters.without_part(*part))));
        // The first of several that leave as many.
        let best = without.reduce(|best, other| if other.1 > best.1 { other } else { best });
        let said = best.and_then(|(part, count)| remaining(name(filters, part), count));
        sentences.push(said.unwrap_or_else(|| "Leave out more than one.".to_owned()));
        sentences
    }

    /// Returns what each filter leaves by itself.
    fn together(&self, alone: &[(FilterPart, u64)], whole: u64) -> String {
        let mut leaves = "leaves ";
        let parts = alone.iter().map(|(part, count)| {
            let verb = std::mem::take(&mut leaves);
            format!("{} alone {verb}{}", named(self.filters, *part), number(*count))
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        match self.found {
            None => format!("No project matches all of these filters: {parts}; together none."),
            Some(_) => format!("Of the {} without filters {parts}; together none.", projects(whole)),
        }
    }
}

/// Returns what is left without some filters; `None` if that is nothing.
fn remaining(names: &str, count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("Without {names} one project remains.")),
        _ => Some(format!("Without {names} {count} projects remain.")),
    }
}

fn number(count: u64) -> String {
    if count == 0 { "none".to_owned() } else { count.to_string() }
}

fn projects(count: u64) -> String {
    if count == 1 { "one project".to_owned() } else { format!("{count} projects") }
}

/// Returns the name of a filter in calls.
fn name(filters: &Filters, part: FilterPart) -> &'static str {
    match part {
        FilterPart::Category => "category",
        FilterPart::City => "city",
        FilterPart::Place => "place",
        FilterPart::Studio => "studio",
        FilterPart::Curator => "curator",
        FilterPart::Years => range_name(filters.year_from.is_some(), filters.year_to.is_some(), &YEARS),
        FilterPart::Selected => {
            range_name(filters.selected_from.is_some(), filters.selected_to.is_some(), &SELECTED)
        }
        FilterPart::Added => "added_since",
        FilterPart::Picture => "has_picture",
        FilterPart::Colour => "color",
        FilterPart::Taste(dimension) => dimension.as_str(),
    }
}

/// The names of a range: its begin, its end, and both.
const YEARS: [&str; 3] = ["year_from", "year_to", "year_from and year_to"];
const SELECTED: [&str; 3] = ["selected_from", "selected_to", "selected_from and selected_to"];

fn range_name(has_begin: bool, has_end: bool, [begin, end, both]: &[&'static str; 3]) -> &'static str {
    match (has_begin, has_end) {
        (true, true) => both,
        (true, false) => begin,
        (false, _) => end,
    }
}

/// Returns, for example, `a, b and c`.
fn listed<T: AsRef<str>>(texts: &[T], joined: &str) -> String {
    match texts {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} {joined} {}", rest.join(", "), last.as_ref())
        }
    }
}

/// Returns the first texts in quotation marks, as alternatives.
fn alternatives<T: AsRef<str>>(texts: &[T]) -> String {
    let mut shown: Vec<String> = texts.iter().take(MAX_VALUES).map(|text| quoted(text.as_ref())).collect();
    if let more @ 1.. = texts.len() - shown.len() {
        shown.push(format!("{more} more"));
    }
    listed(&shown, "or")
}
