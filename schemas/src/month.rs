//! UTC calendar months, the periods of quotas.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use serde::{Deserialize, Serialize};

use crate::ids::InvalidId;
use crate::text_form::{string_conversions, string_schema};

/// A UTC calendar month, written `yyyy-mm`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Month {
    /// From 1 to 9999.
    year: i16,
    month: i8,
}

impl Month {
    /// Returns the month of a time.
    pub fn of(time: Timestamp) -> Month {
        Month::containing(time.to_zoned(TimeZone::UTC).date())
    }

    /// Returns the month of a date.
    pub fn containing(date: Date) -> Month {
        Month { year: date.year().clamp(1, 9999), month: date.month() }
    }

    /// Returns the first instant of the month.
    pub fn start(self) -> Timestamp {
        midnight(self.first())
    }

    /// Returns the first instant of the next month, which is the exclusive end of this one.
    pub fn end(self) -> Timestamp {
        midnight(self.next().first())
    }

    /// Returns the next month; the last representable month returns itself.
    pub fn next(self) -> Month {
        match (self.year, self.month) {
            (9999, 12) => self,
            (year, 12) => Month { year: year + 1, month: 1 },
            (year, month) => Month { year, month: month + 1 },
        }
    }

    /// Returns the previous month; the first representable month returns itself.
    pub fn previous(self) -> Month {
        match (self.year, self.month) {
            (1, 1) => self,
            (year, 1) => Month { year: year - 1, month: 12 },
            (year, month) => Month { year, month: month - 1 },
        }
    }

    /// Returns the number of the month, for compact storage.
    pub fn number(self) -> i32 {
        i32::from(self.year) * 12 + i32::from(self.month) - 1
    }

    /// Returns the month of a number that [`Month::number`] returned; `None` if it is out of range.
    pub fn from_number(number: i32) -> Option<Month> {
        let year = i16::try_from(number.div_euclid(12)).ok().filter(|year| (1..=9999).contains(year))?;
        Some(Month { year, month: i8::try_from(number.rem_euclid(12)).ok()? + 1 })
    }

    fn first(self) -> Date {
        civil::date(self.year, self.month, 1)
    }
}

fn midnight(date: Date) -> Timestamp {
    TimeZone::UTC.to_timestamp(date.into()).unwrap_or(Timestamp::MAX)
}

impl FromStr for Month {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId { text: text.to_owned(), expected: "a month such as 2026-11" };
        let bytes = text.as_bytes();
        let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        if bytes.len() != 7 || bytes[4] != b'-' || !digits(&bytes[..4]) || !digits(&bytes[5..]) {
            return Err(invalid());
        }
        let (year, month) =
            (text[..4].parse().map_err(|_| invalid())?, text[5..].parse().map_err(|_| invalid())?);
        if year < 1 || !(1..=12).contains(&month) { Err(invalid()) } else { Ok(Month { year, month }) }
    }
}

string_conversions!(Month);
string_schema!(Month, inline: true, "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$");

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl fmt::Debug for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Month({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_month_ends_where_the_next_begins() {
        for (time, month, start, end) in [
            ("2026-11-20T12:00:00Z", "2026-11", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            ("2026-12-31T23:59:59.999999999Z", "2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2028-02-29T12:00:00Z", "2028-02", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
            ("2027-01-01T00:00:00Z", "2027-01", "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"),
        ] {
            let found = Month::of(at(time));
            assert_eq!((found.to_string().as_str(), found.start(), found.end()), (month, at(start), at(end)));
            assert_eq!(month.parse(), Ok(found));
            assert_eq!(Month::from_number(found.number()), Some(found));
            assert_eq!(found.next().previous(), found);
        }
    }

    #[test]
    fn invalid_months_are_rejected() {
        for text in [
            "",
            "2026",
            "2026-13",
            "2026-00",
            "0000-01",
            "26-11",
            "2026-1",
            "2026-11-01",
            "2026/11",
            "+026-11",
        ] {
            assert!(text.parse::<Month>().is_err(), "{text:?}");
        }
    }
}
