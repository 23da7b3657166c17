//! Checks the years and dates of a record: none is the year 0 or far in the future, which are the placeholders and typing
//! errors of other programs.

use jiff::civil::Date;
use schemas::event::Event;
use schemas::import::Fault;
use schemas::record::Record;

use super::{Project, Rejection};

/// The number of years after the next one that a record may name: works are planned, and their completion is announced.
const YEARS_AHEAD: i16 = 20;

/// Returns the last year that records may name.
pub fn last_year(today: Date) -> i16 {
    today.year().saturating_add(1 + YEARS_AHEAD)
}

/// Rejects events that give a project years outside of 1 to `last`, except those that its record had before: earlier versions
/// accepted them, and such records stay editable.
///
/// # Errors
///
/// Returns a fault for each such year.
pub fn reject_years(before: &Project, events: &[Event], last: i16) -> Result<(), Rejection> {
    let known = before.listing().map(|listing| years(&listing.record));
    let records = events.iter().filter_map(|event| match event {
        Event::ProjectSelected(selected) => Some(&selected.record),
        Event::ProjectRevised(revised) => Some(&revised.record),
        _ => None,
    });
    let new = records.flat_map(years).filter(|new| known.as_ref().is_none_or(|known| !known.contains(new)));
    let faults: Vec<Fault> = new.filter_map(|new| new.fault(last)).collect();
    if faults.is_empty() { Ok(()) } else { Err(Rejection::Invalid(faults)) }
}

/// A year or a date, and the member that has it.
#[derive(PartialEq, Eq)]
struct Named {
    field: &'static str,
    year: i16,
    date: Option<Date>,
}

impl Named {
    fn fault(&self, last: i16) -> Option<Fault> {
        if (1..=last).contains(&self.year) {
            return None;
        }
        let reason = match self.date {
            None => format!("is “{:04}”; expected a year from 0001 to {last}", self.year),
            Some(date) => format!("is “{date}”; expected a date in the years from 0001 to {last}"),
        };
        Some(Fault { field: self.field.to_owned(), reason })
    }
}

fn years(record: &Record) -> Vec<Named> {
    let Record { year, published, provenance, .. } = record;
    let year = year.and_then(|year| i16::try_from(year.number()).ok());
    let years = [("year", year), ("provenance.in_archive_since", provenance.in_archive_since)];
    let dates = [("published", *published), ("provenance.selected", provenance.selected)];
    let years = years.into_iter().filter_map(|(field, year)| Some(Named { field, year: year?, date: None }));
    let dates = dates.into_iter().filter_map(|(field, date)| Some(Named { field, year: date?.year(), date }));
    years.chain(dates).collect()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::scenario::*;
    use super::*;

    fn with(members: &str) -> Event {
        revised_so(&format!(r#"{{"name":"A","category":"art"{members}}}"#))
    }

    fn faults(before: &[Event], after: &str) -> Vec<(String, String)> {
        match reject_years(&Project::replay(before), &[with(after)], last_year(date(2026, 11, 20))) {
            Ok(()) => Vec::new(),
            Err(rejection) => rejection.into_faults().into_iter().map(|f| (f.field, f.reason)).collect(),
        }
    }

    #[test]
    fn the_year_0_and_those_far_in_the_future_are_rejected() {
        for year in ["0000", "2048", "9999"] {
            let reason = format!("is “{year}”; expected a year from 0001 to 2047");
            assert_eq!(faults(&[], &format!(r#","year":"{year}""#)), [("year".to_owned(), reason)]);
        }
        for year in ["0001", "0800", "1999", "2047"] {
            assert_eq!(faults(&[], &format!(r#","year":"{year}""#)), [], "{year}");
        }
    }

    #[test]
    fn every_year_and_date_of_a_record_is_checked() {
        let all =
            r#","published":"0000-01-01","provenance":{"selected":"2048-01-01","in_archive_since":2048}"#;
        let reasons = [
            ("provenance.in_archive_since", "is “2048”; expected a year from 0001 to 2047"),
            ("published", "is “0000-01-01”; expected a date in the years from 0001 to 2047"),
            ("provenance.selected", "is “2048-01-01”; expected a date in the years from 0001 to 2047"),
        ];
        assert_eq!(faults(&[], all), reasons.map(|(field, reason)| (field.to_owned(), reason.to_owned())));
        let last =
            r#","published":"2047-12-31","provenance":{"selected":"0001-01-01","in_archive_since":2047}"#;
        assert_eq!(faults(&[], last), []);
    }

    #[test]
    fn a_year_that_the_record_had_before_stays() {
        let before = [selected(), with(r#","year":"0000""#)];
        assert_eq!(faults(&before, r#","year":"0000","intro":"Now.""#), []);
        assert_eq!(faults(&before, r#","year":"2048""#).len(), 1);
        assert_eq!(reject_years(&Project::Absent, &before[..1], 2047), Ok(()));
    }
}
