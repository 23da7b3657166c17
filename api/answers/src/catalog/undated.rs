//! Projects without a year, or without a day of selection: which lists leave them out, and which have them last.

use read::archive::{Dated, FilterPart, Filters, Listing, Order};
use read::search::OrdinalSet;

use super::list_options::ListOptions;

/// Returns whether [`notes`] has to count anything.
pub fn is_asked(options: &ListOptions) -> bool {
    is_by_year(options) || ranges(&options.filters).next().is_some()
}

/// Returns how many projects come last in the order of years since they have none, and how many that match all else a range leaves out.
/// `count` returns how many projects of the list with some filters are in a set of those that match these filters.
///
/// # Errors
///
/// The error of `count`.
pub fn notes<E>(
    now: &Listing,
    options: &ListOptions,
    count: impl Fn(&OrdinalSet, &Filters) -> Result<u64, E>,
) -> Result<Vec<String>, E> {
    let undated = |filters: &Filters, dated| {
        let undated = now.undated(filters, dated);
        if undated.is_empty() { Ok(0) } else { count(&undated, filters) }
    };
    let mut notes = Vec::new();
    // In a range of years every project has one.
    if is_by_year(options) && !has_years(&options.filters) {
        notes.extend(last(undated(&options.filters, Dated::Year)?));
    }
    for (part, dated) in ranges(&options.filters) {
        notes.extend(left_out(undated(&options.filters.without_part(part), dated)?, dated));
    }
    Ok(notes)
}

fn is_by_year(options: &ListOptions) -> bool {
    options.order.as_ref().is_some_and(Order::is_by_year)
}

fn has_years(filters: &Filters) -> bool {
    filters.year_from.is_some() || filters.year_to.is_some()
}

/// Returns the ranges among the filters, each with what it is about.
fn ranges(filters: &Filters) -> impl Iterator<Item = (FilterPart, Dated)> {
    let has_days = filters.selected_from.is_some() || filters.selected_to.is_some();
    let years = has_years(filters).then_some((FilterPart::Years, Dated::Year));
    years.into_iter().chain(has_days.then_some((FilterPart::Selected, Dated::Selected)))
}

fn last(count: u64) -> Option<String> {
    match count {
        0 => None,
        1 => Some("One project has no year and comes last.".to_owned()),
        _ => Some(format!("{count} projects have no year and come last.")),
    }
}

fn left_out(count: u64, dated: Dated) -> Option<String> {
    let what = match dated {
        Dated::Year => "a year",
        Dated::Selected => "a day of selection",
    };
    match count {
        0 => None,
        1 => Some(format!("One project without {what} is left out.")),
        _ => Some(format!("{count} projects without {what} are left out.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_several_are_said_as_people_say_them() {
        let said = [last(0), last(1), last(12), left_out(842, Dated::Year), left_out(1, Dated::Selected)];
        assert_eq!(
            said.map(Option::unwrap_or_default),
            [
                "",
                "One project has no year and comes last.",
                "12 projects have no year and come last.",
                "842 projects without a year are left out.",
                "One project without a day of selection is left out.",
            ]
        );
    }

    #[test]
    fn only_ranges_and_the_order_of_years_are_counted() {
        let year = "1998".parse().ok();
        let mut options = ListOptions::default();
        assert!(!is_asked(&options));
        options.filters.year_to = year;
        assert!(is_asked(&options));
        let ordered = ListOptions { order: Some(Order::YearAscending), ..ListOptions::default() };
        assert!(is_asked(&ordered));
        let named = ListOptions { order: Some(Order::Name), ..ListOptions::default() };
        assert!(!is_asked(&named));
        let since = Filters { selected_from: "2021-01-01".parse().ok(), ..Filters::default() };
        assert_eq!(ranges(&since).collect::<Vec<_>>(), [(FilterPart::Selected, Dated::Selected)]);
    }
}
