//! The recorded years, days and colours that are nearest to a range which no project is in, and the projects that no range contains
//! because they have no such value: for the notes of lists.

use std::sync::Arc;

use jiff::civil::Date;
use lexical::OrdinalSet;
use schemas::picture::Colour;
use schemas::record::Year;

use super::columns::Columns;
use super::columns::chunk::{Chunk, LAST_YEAR};
use super::columns::oklab::Oklab;
use super::facets::FacetValue;
use super::filter_parts::Dated;
use super::filters::Filters;
use super::listing::Listing;
use model::day;

impl Listing {
    /// Returns the listed projects that match all filters and have no year, or no day of selection: a range leaves them out. What was
    /// last asked for is kept until the archive changes, since it is the same on every page of a list.
    pub fn undated(&self, filters: &Filters, dated: Dated) -> Arc<OrdinalSet> {
        if let Some(known) = self.computed.undated.get(|(of, what)| of == filters && *what == dated) {
            return known;
        }
        let (set, mut undated) = (self.select(filters), OrdinalSet::default());
        for chunk in self.snapshot.columns.chunks() {
            chunk.for_each_in(&set, |row| {
                if value(chunk, row, dated).is_none() {
                    undated.insert(chunk.ordinal(row));
                }
            });
        }
        let undated = Arc::new(undated);
        self.computed.undated.insert((filters.clone(), dated), Arc::clone(&undated));
        undated
    }

    /// Returns the last recorded year before those that are asked for and the first after them, with the number of projects of each.
    pub fn years_beside(&self, filters: &Filters) -> Vec<FacetValue> {
        let year = |year: &Year| i32::from(year.number());
        let range = (filters.year_from.as_ref().map(year), filters.year_to.as_ref().map(year));
        let columns = &self.snapshot.columns;
        beside(columns, |chunk, row| value(chunk, row, Dated::Year), range, |year| Some(format!("{year:04}")))
    }

    /// Returns the last recorded day of selection before those that are asked for and the first after them, likewise.
    pub fn selected_beside(&self, filters: &Filters) -> Vec<FacetValue> {
        let range = (filters.selected_from.map(day::since_1970), filters.selected_to.map(day::since_1970));
        let columns = &self.snapshot.columns;
        beside(columns, |chunk, row| value(chunk, row, Dated::Selected), range, date)
    }

    /// Returns the last day on which a project was added before a day that nothing was added since, with the number of these projects.
    pub fn added_before(&self, since: Date) -> Option<FacetValue> {
        let range = (Some(day::since_1970(since)), None);
        beside(&self.snapshot.columns, |chunk, row| Some(chunk.added[row]), range, date).pop()
    }

    /// Returns the recorded colour that is nearest to one of those which are asked for, with the number of projects that have it; `None`
    /// if no project has colours.
    pub fn nearest_colour(&self, asked: &[Colour]) -> Option<FacetValue> {
        let asked: Vec<Oklab> = asked.iter().map(|Colour(rgb)| Oklab::of(*rgb)).collect();
        let columns = &self.snapshot.columns;
        let rows = || columns.chunks().flat_map(|chunk| (0..chunk.len()).map(|row| chunk.palette(row)));
        let distance = |own: &Oklab| asked.iter().map(|asked| own.squared_distance(*asked)).min();
        let found = *rows().flatten().min_by_key(|own| distance(own))?;
        let count = rows().filter(|palette| palette.contains(&found)).count() as u64;
        Some(FacetValue { value: Colour(found.rgb()).to_string(), count })
    }
}

/// Returns the year of a row, or the day of its selection as a number.
fn value(chunk: &Chunk, row: usize, dated: Dated) -> Option<i32> {
    match dated {
        Dated::Year => Some(chunk.years[row]).filter(|year| *year <= LAST_YEAR).map(i32::from),
        Dated::Selected => chunk.selected(row),
    }
}

/// Returns the text of a day by its number.
fn date(number: i32) -> Option<String> {
    let days = jiff::Span::new().try_days(number).ok()?;
    Some(jiff::civil::date(1970, 1, 1).checked_add(days).ok()?.to_string())
}

/// Returns the greatest value below a range and the least above it, each with the number of projects that have it.
fn beside(
    columns: &Columns,
    value: impl Fn(&Chunk, usize) -> Option<i32>,
    (from, to): (Option<i32>, Option<i32>),
    shown: impl Fn(i32) -> Option<String>,
) -> Vec<FacetValue> {
    let (mut before, mut after) = (None::<(i32, u64)>, None::<(i32, u64)>);
    let count = |known: &mut Option<(i32, u64)>, value: i32, is_nearer: fn(i32, i32) -> bool| match known {
        Some((nearest, count)) if *nearest == value => *count += 1,
        Some((nearest, _)) if !is_nearer(value, *nearest) => {}
        _ => *known = Some((value, 1)),
    };
    for chunk in columns.chunks() {
        for value in (0..chunk.len()).filter_map(|row| value(chunk, row)) {
            if from.is_some_and(|from| value < from) {
                count(&mut before, value, |value, nearest| value > nearest);
            } else if to.is_some_and(|to| value > to) {
                count(&mut after, value, |value, nearest| value < nearest);
            }
        }
    }
    let found = before.into_iter().chain(after);
    found.filter_map(|(value, count)| Some(FacetValue { value: shown(value)?, count })).collect()
}
