//! Which revision of a project is requested: by its number, or by a date.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use read::catalog::{History, RecordedRevision};
use schemas::api::problem::ParameterFault;
use schemas::ids::Revision;

use crate::error::fault;
use crate::query::QueryParams;

/// The texts that [`instant`] accepts, for people.
pub const INSTANT: &str =
    "a date such as 2026-11-20, whose end in UTC is meant, or an instant such as 2026-11-20T08:00:00Z";

/// The requested revision of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevisionQuery {
    /// The revision with this number.
    Revision(u32),
    /// The revision that was the newest at this instant.
    AsOf(Timestamp),
}

impl RevisionQuery {
    /// Returns the requested revision; `None` is the present record.
    pub fn of<const N: usize>(sent: &mut QueryParams<'_, N>) -> Option<RevisionQuery> {
        let (revision, as_of) = (sent.single("revision"), sent.single("as_of"));
        match (revision, as_of) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                for name in ["revision", "as_of"] {
                    let detail = "It stands beside the other, and each of them names one revision.";
                    sent.refuse(name, detail, "either revision or as_of");
                }
                None
            }
            (Some(revision), None) => match revision.parse() {
                Ok(number) if number > 0 => Some(RevisionQuery::Revision(number)),
                _ => {
                    sent.refuse("revision", "It is not an integer from 1.", "an integer from 1");
                    None
                }
            },
            (None, Some(as_of)) => match instant(&as_of) {
                Some(instant) => Some(RevisionQuery::AsOf(instant)),
                None => {
                    sent.refuse("as_of", format!("It is not {INSTANT}."), INSTANT);
                    None
                }
            },
        }
    }

    /// Returns the requested revision of a project.
    ///
    /// # Errors
    ///
    /// If the project has no such revision, or was recorded later.
    pub fn find(self, history: &History) -> Result<&RecordedRevision, ParameterFault> {
        match self {
            RevisionQuery::Revision(number) => history.find(Revision(number)).ok_or_else(|| {
                let allowed = format!("an integer from 1 to {}", history.newest().revision);
                fault("revision", format!("The project has no such revision; it is not {allowed}."), allowed)
            }),
            RevisionQuery::AsOf(instant) => history.as_of(instant).ok_or_else(|| {
                let first = history.first().at;
                let detail = format!("It is before the first revision, which was recorded at {first}.");
                fault("as_of", detail, format!("{} or later", TimeZone::UTC.to_datetime(first).date()))
            }),
        }
    }
}

/// Parses an instant, or a date, which means its end. In a URL an unencoded plus has become a blank.
pub fn instant(text: &str) -> Option<Timestamp> {
    if text.len() == 10 {
        let day: Date = text.parse().ok()?;
        let end = day.at(23, 59, 59, 999_999_999);
        // The last representable days end after the last representable instant.
        return Some(TimeZone::UTC.to_timestamp(end).unwrap_or(Timestamp::MAX));
    }
    let text = match text.rsplit_once(' ') {
        Some((before, offset)) if before.len() > 10 => format!("{before}+{offset}"),
        _ => text.to_owned(),
    };
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_end_and_an_instant_itself() {
        for (text, at) in [
            ("2026-11-20", Some("2026-11-20T23:59:59.999999999Z")),
            ("9999-12-31", Some("9999-12-30T22:00:00.999999999Z")),
            ("2026-11-20T08:00:00Z", Some("2026-11-20T08:00:00Z")),
            ("2026-11-20T08:00:00.5+02:00", Some("2026-11-20T06:00:00.5Z")),
            ("2026-11-20T08:00:00 02:00", Some("2026-11-20T06:00:00Z")),
            ("2026-11-20 08:00:00Z", Some("2026-11-20T08:00:00Z")),
            ("2026-02-30", None),
            ("2026-11-2", None),
            ("2026-11-20T08:00:00", None),
            ("20.11.2026", None),
            ("yesterday ", None),
            ("ä", None),
            ("", None),
        ] {
            assert_eq!(instant(text), at.map(|at| at.parse().unwrap()), "{text}");
        }
    }
}
