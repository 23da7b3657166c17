//! The record of the days: what is added to which day, and which days are kept.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// The number of days that are kept and shown.
const KEPT_DAYS: usize = 90;

/// The seconds of a day.
const DAY: i64 = 86_400;

/// The figures of the days, by date in UTC.
///
/// The newest 90 days are kept, by their dates and not by their age: a clock that was wrong for a while costs a day of the record and
/// not all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Since when there is a record: the time before it is not missing.
    began: Timestamp,
    days: BTreeMap<Date, Figures>,
}

/// The figures of a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// The seconds for which the node was up, at most those of a day.
    pub seconds_up: u64,
    /// The number of answers.
    pub answers: u64,
    /// The number of answers with a status of 500 or more.
    pub errors: u64,
}

/// Numbers of answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) answers: u64,
    /// Of these, answers with a status of 500 or more.
    pub(super) errors: u64,
}

impl Counts {
    /// Returns what was counted since these former counts.
    pub(super) fn since(self, former: Counts) -> Counts {
        Counts {
            answers: self.answers.saturating_sub(former.answers),
            errors: self.errors.saturating_sub(former.errors),
        }
    }
}

/// A day as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Its date in UTC.
    pub date: Date,
    /// Its figures; `None` if there are none on record.
    pub figures: Option<Figures>,
    /// The seconds that have passed of it since the record began; never less than those for which the node was up.
    pub seconds: u64,
}

impl Record {
    /// Returns a record that begins at this time, without days.
    pub(super) fn new(began: Timestamp) -> Record {
        Record { began, days: BTreeMap::new() }
    }

    /// Reads a record. Fails if the text is not one.
    pub(super) fn from_json(text: &[u8]) -> serde_json::Result<Record> {
        let mut record: Record = serde_json::from_slice(text)?;
        for figures in record.days.values_mut() {
            figures.seconds_up = figures.seconds_up.min(DAY.unsigned_abs());
        }
        record.drop_oldest();
        Ok(record)
    }

    /// Returns the record as text.
    pub(super) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// Adds the last seconds before `now`, in which the node was up, to their days, and what was counted in them to the day of `now`.
    pub(super) fn add(&mut self, now: Timestamp, seconds: u64, counted: Counts) {
        let end = now.as_second();
        let mut from = end.saturating_sub_unsigned(seconds);
        // Later only if the clock was set back.
        self.began = self.began.min(time(from));
        while from < end {
            let midnight = (from.div_euclid(DAY) + 1) * DAY;
            let until = midnight.min(end);
            let day = self.day(from);
            day.seconds_up = day.seconds_up.saturating_add(until.abs_diff(from)).min(DAY.unsigned_abs());
            from = until;
        }
        let today = self.day(end);
        today.answers = today.answers.saturating_add(counted.answers);
        today.errors = today.errors.saturating_add(counted.errors);
        self.drop_oldest();
    }

    /// Returns today and the days before it, the newest first: as many as are kept, and back to the first one on record.
    pub fn days(&self, now: Timestamp) -> Vec<Day> {
        let today = date(now.as_second());
        let back = std::iter::successors(Some(today), |day| day.yesterday().ok());
        let mut days: Vec<Day> = back.take(KEPT_DAYS).map(|date| self.shown(date, now)).collect();
        let on_record = days.iter().rposition(|day| day.figures.is_some()).map_or(0, |first| first + 1);
        days.truncate(on_record);
        days
    }

    fn shown(&self, date: Date, now: Timestamp) -> Day {
        let figures = self.days.get(&date).copied();
        let midnight = TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).unwrap_or(now).as_second();
        let from = midnight.max(self.began.as_second());
        let until = now.as_second().min(midnight + DAY);
        let passed = u64::try_from(until - from).unwrap_or(0);
        Day { date, figures, seconds: passed.max(figures.map_or(0, |figures| figures.seconds_up)) }
    }

    /// Returns the figures of the day with this second.
    fn day(&mut self, second: i64) -> &mut Figures {
        self.days.entry(date(second)).or_default()
    }

    fn drop_oldest(&mut self) {
        while self.days.len() > KEPT_DAYS {
            self.days.pop_first();
        }
    }
}

/// Returns the time of a second since 1970.
fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MIN)
}

/// Returns the date in UTC of a second since 1970.
fn date(second: i64) -> Date {
    TimeZone::UTC.to_datetime(time(second)).date()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().unwrap()
    }

    fn counts(answers: u64, errors: u64) -> Counts {
        Counts { answers, errors }
    }

    /// Returns the days as date, seconds up, answers, errors and seconds that have passed; `None` for a day without a record.
    fn shown(record: &Record, now: &str) -> Vec<(String, Option<[u64; 3]>, u64)> {
        let days = record.days(at(now)).into_iter();
        days.map(|day| {
            let figures = day.figures.map(|of| [of.seconds_up, of.answers, of.errors]);
            (day.date.to_string(), figures, day.seconds)
        })
        .collect()
    }

    fn day(date: &str, figures: [u64; 3], seconds: u64) -> (String, Option<[u64; 3]>, u64) {
        (date.to_owned(), Some(figures), seconds)
    }

    #[test]
    fn a_day_ends_at_midnight_in_utc() {
        let mut record = Record::new(at("2026-11-27T22:00:00Z"));
        record.add(at("2026-11-27T23:59:30Z"), 7_170, counts(4, 1));
        record.add(at("2026-11-28T00:00:30Z"), 60, counts(3, 0));
        record.add(at("2026-11-28T00:01:00Z"), 20, counts(2, 2));
        let expected = [day("2026-11-28", [50, 5, 2], 90), day("2026-11-27", [7_200, 4, 1], 7_200)];
        assert_eq!(shown(&record, "2026-11-28T00:01:30Z"), expected);
    }

    #[test]
    fn the_time_of_a_long_interval_goes_to_each_of_its_days() {
        let mut record = Record::new(at("2026-11-26T23:00:00Z"));
        record.add(at("2026-11-28T01:00:00Z"), 26 * 3_600, counts(1, 0));
        let expected = [
            day("2026-11-28", [3_600, 1, 0], 3_600),
            day("2026-11-27", [86_400, 0, 0], 86_400),
            day("2026-11-26", [3_600, 0, 0], 3_600),
        ];
        assert_eq!(shown(&record, "2026-11-28T01:00:00Z"), expected);
    }

    #[test]
    fn days_without_a_record_are_shown_between_those_that_have_one() {
        let mut record = Record::new(at("2026-11-25T00:00:00Z"));
        record.add(at("2026-11-25T00:00:10Z"), 10, counts(1, 0));
        record.add(at("2026-11-27T12:00:00Z"), 20, counts(2, 0));
        let expected = [
            ("2026-11-28".to_owned(), None, 3_600),
            day("2026-11-27", [20, 2, 0], 86_400),
            ("2026-11-26".to_owned(), None, 86_400),
            day("2026-11-25", [10, 1, 0], 86_400),
        ];
        assert_eq!(shown(&record, "2026-11-28T01:00:00Z"), expected);
        assert!(Record::new(at("2026-11-25T00:00:00Z")).days(at("2026-11-28T01:00:00Z")).is_empty());
    }

    #[test]
    fn the_newest_90_days_are_kept_and_shown() {
        let first = at("2026-01-01T12:00:00Z");
        let noon = |day: i64| Timestamp::from_second(first.as_second() + day * DAY).unwrap();
        let mut record = Record::new(first);
        for day in 0..100 {
            record.add(noon(day), 60, counts(1, 0));
        }
        let days = record.days(noon(99));
        assert_eq!((days.len(), record.days.len()), (90, 90));
        assert_eq!([days[0].date, days[89].date].map(|date| date.to_string()), ["2026-04-10", "2026-01-11"]);
        assert!(days.iter().all(|day| day.figures.is_some()));
        let later = record.days(noon(120));
        assert_eq!((later.len(), later[0].figures, later[20].figures), (90, None, None));
        assert!(
            later[21..].iter().all(|day| day.figures.is_some()),
            "what is older than 90 days is not shown"
        );
    }

    #[test]
    fn a_clock_that_is_set_back_or_was_wrong_costs_at_most_a_day() {
        let mut record = Record::new(at("2026-11-27T00:00:00Z"));
        record.add(at("2026-11-28T00:00:00Z"), 86_400, counts(5, 0));
        // The day that has passed is passed once more, and then the clock is a year ahead, and in 1970.
        record.add(at("2026-11-27T12:00:00Z"), 60, counts(1, 0));
        record.add(at("2027-11-27T12:00:00Z"), 60, counts(1, 0));
        record.add(at("1970-01-01T00:01:00Z"), 60, counts(1, 0));
        record.add(at("2026-11-28T00:01:00Z"), 60, counts(1, 0));
        let expected = [day("2026-11-28", [60, 6, 0], 60), day("2026-11-27", [86_400, 1, 0], 86_400)];
        assert_eq!(shown(&record, "2026-11-28T00:01:00Z"), expected);
    }

    #[test]
    fn a_record_that_begins_while_the_clock_is_ahead_is_never_up_for_longer_than_possible() {
        let mut record = Record::new(at("2027-01-01T00:00:00Z"));
        record.add(at("2026-11-28T00:10:00Z"), 300, counts(1, 0));
        record.add(at("2026-11-28T00:20:00Z"), 300, counts(1, 0));
        assert_eq!(
            shown(&record, "2026-11-28T00:20:00Z"),
            [day("2026-11-28", [600, 2, 0], 900)],
            "since the first seconds on record"
        );
        assert_eq!(shown(&record, "2026-11-28T00:01:00Z"), [day("2026-11-28", [600, 2, 0], 600)]);
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_nothing_else_is_read() {
        let mut record = Record::new(at("2026-11-27T22:00:00Z"));
        record.add(at("2026-11-27T23:00:00Z"), 3_600, counts(4, 1));
        let text = record.to_json().unwrap();
        let expected = r#"{"began":"2026-11-27T22:00:00Z","days":{"2026-11-27":{"seconds_up":3600,"answers":4,"errors":1}}}"#;
        assert_eq!(String::from_utf8(text.clone()).unwrap(), expected);
        assert_eq!(Record::from_json(&text).unwrap(), record);
        let twice = text.repeat(2);
        let others: [&[u8]; 5] = [&text[..text.len() - 1], b"", b"{}", b"[]", &twice];
        for damaged in others {
            assert!(Record::from_json(damaged).is_err(), "{}", String::from_utf8_lossy(damaged));
        }
        let impossible = expected.replace("3600", "18446744073709551615");
        let days = Record::from_json(impossible.as_bytes()).unwrap().days(at("2026-11-28T00:00:00Z"));
        assert_eq!(days[1].figures, Some(Figures { seconds_up: 86_400, answers: 4, errors: 1 }));
    }
}
