//! A filter that no project of the catalog matches: which value it is that is not recorded, and which ones near to it are.

use std::fmt::Display;

use read::archive::{Facet, FacetValue, FilterPart, Filters, Listing, ValueKind, is_world_region};
use schemas::record::Category;
use schemas::taste::Dimension;

use super::{MAX_VALUES, alternatives, listed};
use crate::catalog::quotation::quoted;

/// The most recorded values that are named.
const MOST_NEAR: usize = 4;

/// Returns a filter with its values.
pub(super) fn named(filters: &Filters, part: FilterPart) -> String {
    match part {
        FilterPart::Category => format!("category {}", categories(filters)),
        FilterPart::City => format!("city {}", alternatives(&filters.cities)),
        FilterPart::Place => format!("place {}", alternatives(&filters.places)),
        FilterPart::Studio => format!("studio {}", alternatives(&filters.studios)),
        FilterPart::Curator => format!("curator {}", alternatives(&filters.curators)),
        FilterPart::Years => range("year", filters.year_from, filters.year_to),
        FilterPart::Selected => range("selected", filters.selected_from, filters.selected_to),
        FilterPart::Added => format!("added_since {}", shown(filters.added_since)),
        FilterPart::Picture => "has_picture".to_owned(),
        FilterPart::Colour => format!("color {}", colours(filters)),
        FilterPart::Taste(dimension) => format!("{dimension} {}", quoted(words(filters, dimension))),
    }
}

/// Returns that no project matches a filter, and what is recorded that is near to its values.
pub(super) fn sentence(now: &Listing, filters: &Filters, part: FilterPart) -> String {
    match part {
        FilterPart::City => of_cities(now, &filters.cities),
        FilterPart::Place => of_places(now, &filters.places),
        FilterPart::Studio => of_values(now, ("studio", ValueKind::Studio), &filters.studios),
        FilterPart::Curator => of_values(now, ("curator", ValueKind::Curator), &filters.curators),
        FilterPart::Category => of_category(now, filters),
        FilterPart::Years => {
            let near = now.years_beside(filters);
            let near = with("nearest", &near, "no project has a year");
            of_range(["from", "from"], filters.year_from, filters.year_to, &near)
        }
        FilterPart::Selected => {
            let near = now.selected_beside(filters);
            let near = with("nearest", &near, "no project has a day of selection");
            of_range(["selected from", "selected on"], filters.selected_from, filters.selected_to, &near)
        }
        FilterPart::Added => {
            let last = filters.added_since.and_then(|since| now.added_before(since));
            let last = last.map_or_else(String::new, |last| format!("; the last on {}", last.value));
            format!("No project was added since {}{last}.", shown(filters.added_since))
        }
        FilterPart::Picture => "No project has a picture.".to_owned(),
        FilterPart::Colour => {
            let near: Vec<FacetValue> = now.nearest_colour(&filters.colours).into_iter().collect();
            let near = with("nearest", &near, "no project has colors");
            format!("No project has a color like {}; {near}.", colours(filters))
        }
        FilterPart::Taste(dimension) => of_taste(now, filters, dimension),
    }
}

fn of_cities(now: &Listing, cities: &[String]) -> String {
    let said = of_values(now, ("city", ValueKind::City), cities);
    let places = Filters { places: cities.to_vec(), ..Filters::default() };
    // What is recorded as `Tokyo, Japan` is asked for as `Tokyo` in place.
    match now.select(&places).is_empty() {
        true => said,
        false => format!("{said} A part of a city goes in `place`."),
    }
}

fn of_places(now: &Listing, places: &[String]) -> String {
    let (regions, others): (Vec<&String>, Vec<&String>) =
        places.iter().partition(|place| is_world_region(place));
    match (regions.is_empty(), others.is_empty()) {
        (true, _) => of_values(now, ("place", ValueKind::Place), places),
        (false, true) => format!("No place is {}: place is a town or country.", alternatives(&regions)),
        (false, false) => format!(
            "{} Nor is {}: place is a town or country.",
            of_values(now, ("place", ValueKind::Place), &others),
            alternatives(&regions)
        ),
    }
}

fn of_values<T: AsRef<str>>(now: &Listing, (name, kind): (&str, ValueKind), asked: &[T]) -> String {
    let mut near: Vec<FacetValue> = Vec::new();
    for text in asked.iter().take(MAX_VALUES) {
        for value in now.nearest_values(kind, text.as_ref(), MOST_NEAR) {
            if near.len() < MOST_NEAR && !near.contains(&value) {
                near.push(value);
            }
        }
    }
    format!("No {name} is {}{}.", alternatives(asked), beside(&near))
}

fn of_category(now: &Listing, filters: &Filters) -> String {
    let recorded = now.facet_of_all(Facet::Category);
    match recorded.values.is_empty() {
        true => "The catalog has no project yet.".to_owned(),
        false => format!(
            "No project is in the category {}; there are {}.",
            categories(filters),
            counted(&recorded.values)
        ),
    }
}

fn of_taste(now: &Listing, filters: &Filters, dimension: Dimension) -> String {
    let text = words(filters, dimension);
    let near = now.nearest_terms(dimension, text, MOST_NEAR).into_iter();
    let near: Vec<FacetValue> =
        near.map(|term| FacetValue { value: term.term, count: term.projects }).collect();
    format!("No project has {} as its {dimension}{}.", quoted(text), beside(&near))
}

/// Says that no project is in a range; the verb stands before its begin, and before its only end.
fn of_range<T: Display + Copy>(
    [of_both, of_one]: [&str; 2],
    from: Option<T>,
    to: Option<T>,
    near: &str,
) -> String {
    let range = match (from, to) {
        (Some(from), Some(to)) => format!("{of_both} {from} to {to}"),
        (Some(from), None) => format!("{of_one} {from} or later"),
        (None, to) => format!("{of_one} {} or earlier", shown(to)),
    };
    format!("No project is {range}; {near}.")
}

fn range<T: Display + Copy>(name: &str, from: Option<T>, to: Option<T>) -> String {
    match (from, to) {
        (Some(from), Some(to)) => format!("{name}_from {from} and {name}_to {to}"),
        (Some(from), None) => format!("{name}_from {from}"),
        (None, to) => format!("{name}_to {}", shown(to)),
    }
}

fn shown<T: Display>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn categories(filters: &Filters) -> String {
    let names: Vec<&str> = filters.categories.iter().copied().map(Category::as_str).collect();
    listed(&names, "or")
}

fn colours(filters: &Filters) -> String {
    let names: Vec<String> = filters.colours.iter().take(MAX_VALUES).map(ToString::to_string).collect();
    listed(&names, "or")
}

fn words(filters: &Filters, dimension: Dimension) -> &str {
    filters.taste.get(dimension).unwrap_or_default()
}

/// Returns what is near, or nothing.
fn beside(near: &[FacetValue]) -> String {
    if near.is_empty() { String::new() } else { format!("; near: {}", counted(near)) }
}

fn with(name: &str, values: &[FacetValue], none: &str) -> String {
    if values.is_empty() { none.to_owned() } else { format!("{name}: {}", counted(values)) }
}

/// Returns values with their numbers of projects, for example `Tokyo, Japan (8)`.
fn counted(values: &[FacetValue]) -> String {
    let values: Vec<String> =
        values.iter().map(|FacetValue { value, count }| format!("{value} ({count})")).collect();
    values.join(", ")
}
