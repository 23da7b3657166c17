//! What changed since a time: the parameters `changed_since` and `kinds`, and pages of the projects, each with its last change.

use std::convert::Infallible;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use read::archive::Listing;
use read::catalog::{ChangeKind, Changed, ChangedCursor, ChangedPage, ChangedProject, ChangedQuery};
use read::models::ModelKind;
use read::search::OrdinalSet;
use schemas::api::changed::LastChange;
use schemas::api::problem::ParameterFault;
use schemas::api::summary;
use schemas::ids::Position;

use super::detail::Detail;
use super::list_options::ListOptions;
use super::slug::api_error;
use super::{browse, compare, empty, revision, undated};
use crate::error::{ApiError, fault};
use crate::site::Site;
use crate::state::ApiState;

/// The texts that [`since`] accepts, for people.
pub const SINCE: &str = "a date such as 2026-11-20, whose beginning in UTC is meant, or an instant with its offset such as 2026-11-20T08:00:00Z";

/// Options of other lists that a list of what changed does not have, since its order is fixed and withdrawn projects have no values.
pub const EXCLUDED: [&str; 2] = ["sort", "facets"];

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSince {
    /// The time of the first change.
    pub since: Timestamp,
    /// The kinds of changes; all if there are none.
    pub kinds: Vec<ChangeKind>,
}

/// Why there is no page.
#[derive(Debug)]
pub enum ChangedError {
    /// The time is in the future.
    Future(ParameterFault),
    /// The cursor belongs to another list.
    OtherList,
    /// A model cannot be read.
    Api(ApiError),
}

impl From<ApiError> for ChangedError {
    fn from(error: ApiError) -> ChangedError {
        ChangedError::Api(error)
    }
}

impl From<ChangedError> for ApiError {
    fn from(error: ChangedError) -> ApiError {
        match error {
            ChangedError::Future(fault) => ApiError::invalid_parameters(vec![fault]),
            ChangedError::OtherList => ApiError::invalid_parameters(vec![browse::invalid_cursor()]),
            ChangedError::Api(error) => error,
        }
    }
}

/// A page of projects that changed.
#[derive(Debug)]
pub struct ChangedResults {
    /// The projects, rendered without the closing brace, each with the cursor after it.
    pub shown: Vec<(Vec<u8>, ChangedCursor)>,
    /// The cursor of the next page, if there is one.
    pub next: Option<ChangedCursor>,
    /// The number of projects on all pages.
    pub total: u64,
    /// What is said of the list, as sentences.
    pub notes: Vec<String>,
}

impl ChangedResults {
    /// Returns the cursor of the next page if only the first `count` projects are shown.
    pub fn next_after(&self, count: usize) -> Option<ChangedCursor> {
        let last_shown = || self.shown[..count].last().map(|(_, cursor)| *cursor);
        if count < self.shown.len() { last_shown() } else { self.next }
    }
}

/// Parses an instant, or a date, which means its beginning. In a URL an unencoded plus has become a blank.
pub fn since(text: &str) -> Option<Timestamp> {
    if text.len() == 10 {
        let day: Date = text.parse().ok()?;
        // The last representable day begins after the last representable instant.
        return Some(TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).unwrap_or(Timestamp::MAX));
    }
    revision::instant(text)
}

/// Parses kinds of changes; a text may have several, separated by commas.
///
/// # Errors
///
/// The first text that is no kind.
pub fn kinds<T: AsRef<str>>(texts: &[T]) -> Result<Vec<ChangeKind>, String> {
    let names = texts.iter().flat_map(|text| text.as_ref().split(','));
    names.map(|name| ChangeKind::parse(name).ok_or_else(|| name.trim().to_owned())).collect()
}

/// Returns the names of all kinds, for people.
pub fn kind_names() -> String {
    ChangeKind::ALL.map(ChangeKind::as_str).join(", ")
}

/// Returns at most `limit` projects that changed and match all filters, after a cursor or from the first.
///
/// # Errors
///
/// If the time is in the future, the cursor is one of another list, or a model cannot be read.
pub async fn page(
    state: &ApiState,
    asked: &ChangedSince,
    options: &ListOptions,
    (limit, after): (usize, Option<ChangedCursor>),
) -> Result<ChangedResults, ChangedError> {
    let filters = &options.filters;
    let query = ChangedQuery::new(asked.since, &asked.kinds, filters.fingerprint());
    let filtered = if filters.is_empty() {
        None
    } else {
        let now = state.listing()?;
        let matching = now.select(filters);
        Some((now, matching))
    };
    let within: Option<&OrdinalSet> = filtered.as_ref().map(|(_, matching)| Arc::as_ref(matching));
    let found = state.catalog()?.reader.changed(&query, within, limit, after).await.map_err(api_error)?;
    let page = match found {
        Changed::Page(page) => page,
        Changed::OtherList => return Err(ChangedError::OtherList),
        Changed::NotReached => return Err(not_reached(state, after.map(|cursor| cursor.head()))),
    };
    let now = state.now();
    // Clocks differ: what is recorded is not in the future.
    if asked.since > now && page.latest.is_none_or(|latest| latest < asked.since) {
        return Err(ChangedError::Future(future(now)));
    }
    let notes = notes(asked, options, &page, filtered.as_ref().map(|(now, _)| now));
    let ChangedPage { projects, next, total, .. } = page;
    let site = state.site();
    let shown = projects
        .iter()
        .map(|(project, cursor)| Ok((rendered(project, options.detail, site)?, *cursor)))
        .collect::<Result<_, ApiError>>()?;
    Ok(ChangedResults { shown, next, total, notes })
}

fn future(now: Timestamp) -> ParameterFault {
    // Whole seconds are read more easily.
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let detail = format!("It is in the future: it is {now} now.");
    fault("changed_since", detail, format!("{SINCE}, up to now"))
}

/// Returns the error for a cursor whose list the catalog has not reached: this node lags, or the log never had it.
fn not_reached(state: &ApiState, head: Option<Position>) -> ChangedError {
    let projections = state.projections();
    let catalog = projections.iter().find(|one| one.name == ModelKind::Catalog.name());
    let end = catalog.map(|one| Position(one.position.0.saturating_add(one.lag)));
    match (end, head) {
        (Some(end), Some(head)) if head <= end => ApiError::behind_cursor().into(),
        _ => ChangedError::OtherList,
    }
}

/// Renders a project without its closing brace: a withdrawn one has its slug and its change alone.
fn rendered(project: &ChangedProject, detail: Detail, site: &Site) -> Result<Vec<u8>, ApiError> {
    let ChangedProject { slug, kind, from, at, revision, record, .. } = project;
    let mut json = match record {
        // A slug has no characters that JSON escapes.
        None => format!("{{\"slug\":\"{slug}\"").into_bytes(),
        Some(record) if detail.is_full() => {
            summary::listed(record).ok_or_else(|| ApiError::internal("a record has no summary"))?
        }
        Some(record) => detail.of(record.strip_suffix(b"}").unwrap_or(record)).into_owned(),
    };
    let change = LastChange {
        kind: kind.as_str(),
        from: from.as_deref(),
        at: *at,
        revision: *revision,
        fields: fields(project, site)?,
    };
    json.extend_from_slice(b",\"change\":");
    serde_json::to_writer(&mut json, &change).map_err(ApiError::internal)?;
    Ok(json)
}

/// Returns the names of the members that a change concerns.
fn fields(project: &ChangedProject, site: &Site) -> Result<Vec<String>, ApiError> {
    let mut fields = match &project.revised {
        Some(revisions) => compare::differing(revisions, site)?,
        None => Vec::new(),
    };
    for member in &project.pictured {
        if !fields.contains(member) {
            fields.push(member.clone());
        }
    }
    Ok(fields)
}

/// Returns what is said of a page; `now` is what it is filtered by.
fn notes(
    asked: &ChangedSince,
    options: &ListOptions,
    page: &ChangedPage,
    now: Option<&Listing>,
) -> Vec<String> {
    let ChangedPage { list, projects, .. } = page;
    if list.is_empty() {
        return vec![nothing(asked, page.last)];
    }
    let Some(now) = now else {
        let withdrawn = projects.iter().filter(|(project, _)| project.record.is_none()).count();
        return withdrawn_shown(withdrawn).into_iter().collect();
    };
    let changed = list.ordinals();
    let mut notes = Vec::new();
    if page.total == 0 {
        notes = empty::reasons(now, &options.filters, Some(&changed));
    }
    let undated = |undated: &OrdinalSet| changed.iter().filter(|ordinal| undated.contains(*ordinal)).count();
    let Ok(left_out) = undated::notes(now, options, |set, _| Ok::<_, Infallible>(undated(set) as u64));
    notes.extend(left_out);
    notes.push("Withdrawn projects match no filter and are left out.".to_owned());
    notes
}

fn withdrawn_shown(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("One of these is withdrawn: it has its slug and change alone.".to_owned()),
        _ => Some(format!("{count} of these are withdrawn: they have their slug and change alone.")),
    }
}

/// Returns that nothing changed, and when the last change of the kinds was.
fn nothing(asked: &ChangedSince, last: Option<Timestamp>) -> String {
    let ChangedSince { since, kinds } = asked;
    let names: Vec<&str> = ChangeKind::ALL
        .into_iter()
        .filter(|kind| kinds.is_empty() || kinds.contains(kind))
        .map(ChangeKind::as_str)
        .collect();
    let what = match names.as_slice() {
        [] => "changed".to_owned(),
        all if all.len() == ChangeKind::ALL.len() => "changed".to_owned(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    };
    match last {
        Some(last) => format!("No project was {what} since {since}; the last time was {last}."),
        None => format!("No project was {what} since {since}, nor ever before."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_beginning_and_an_instant_itself() {
        for (text, at) in [
            ("2026-11-20", Some("2026-11-20T00:00:00Z")),
            ("0001-01-01", Some("0001-01-01T00:00:00Z")),
            ("9999-12-31", Some("9999-12-30T22:00:00.999999999Z")),
            ("2026-11-20T08:00:00Z", Some("2026-11-20T08:00:00Z")),
            ("2026-11-20T08:00:00.5+02:00", Some("2026-11-20T06:00:00.5Z")),
            ("2026-11-20T08:00:00 02:00", Some("2026-11-20T06:00:00Z")),
            ("2026-02-30", None),
            ("2026-11-20T08:00:00", None),
            ("20.11.2026", None),
            ("1732089600", None),
            ("last week", None),
            ("ä", None),
            ("", None),
        ] {
            assert_eq!(since(text), at.map(|at| at.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn kinds_are_read_in_any_case_and_from_lists() {
        use ChangeKind::{Revised, Selected, Withdrawn};
        assert_eq!(kinds(&["revised, WITHDRAWN", "selected"]), Ok(vec![Revised, Withdrawn, Selected]));
        assert_eq!(kinds::<&str>(&[]), Ok(vec![]));
        for (text, wrong) in [("revised,deleted", "deleted"), ("", ""), ("revised,", ""), (" new ", "new")] {
            assert_eq!(kinds(&[text]), Err(wrong.to_owned()), "{text}");
        }
        assert_eq!(kind_names(), "selected, revised, renamed, withdrawn, restored");
    }

    #[test]
    fn what_did_not_happen_is_said_in_words() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let said = |kinds: &[ChangeKind], last: Option<&str>| {
            let asked = ChangedSince { since: at("2026-11-20T00:00:00Z"), kinds: kinds.to_vec() };
            nothing(&asked, last.map(at))
        };
        assert_eq!(
            said(&[], Some("2026-11-19T08:00:00.5Z")),
            "No project was changed since 2026-11-20T00:00:00Z; the last time was 2026-11-19T08:00:00.5Z."
        );
        assert_eq!(
            said(&[ChangeKind::Restored], None),
            "No project was restored since 2026-11-20T00:00:00Z, nor ever before."
        );
        assert_eq!(
            said(&[ChangeKind::Restored, ChangeKind::Selected, ChangeKind::Revised], None),
            "No project was selected, revised or restored since 2026-11-20T00:00:00Z, nor ever before."
        );
    }
}
