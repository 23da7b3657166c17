//! Lists of projects: their maximum size, and the preview for callers without a key.

mod intro;

use std::borrow::Cow;

use answers::auth::principal::Principal;
use answers::catalog::browse::{self, ArchivePage};
use answers::catalog::detail::Detail;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::taste_records::TasteRecords;
use answers::error::ApiError;
use answers::site::Site;
use read::archive::{Cursor, InvalidCursor, Listing};
use serde::Serialize;

use super::CallContext;
use crate::tools::answer::{Answer, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::Value;

/// The maximum number of results of a call without a key.
const PREVIEW: usize = 5;

/// The maximum average size in bytes of a result, if the caller states the number of results.
const BYTES_A_RESULT: usize = 880;
/// The maximum size in bytes of the results of a usual answer. An answer has its content twice, as text and as structure, and stays below
/// 20 KB.
const BYTES_USUALLY: usize = 8_800;

/// The bytes of the members that a list adds to a summary.
const AROUND_A_SUMMARY: usize = 40;

/// The schema of a list. For brevity, only the schema of get_project has members of a project.
macro_rules! listed {
    ($before:literal, $after:literal) => {
        concat!(
            r#"{"type":"object","properties":{"#,
            $before,
            r#""count":{"type":"integer"},"total":{"type":"integer"},"results":{"type":"array"}"#,
            $after,
            r#","note":{"type":"string"}},"required":["count","results"]}"#
        )
    };
}
pub(super) use listed;

/// The answer of a list, or nothing if records are to be read first.
pub(super) type Written<'a> = Result<Option<Answer<'a>>, Refusal>;

#[derive(Serialize)]
struct Preview {
    shown: usize,
    total: u64,
    /// The tool that leads to more. The instructions and its description say the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<&'static str>,
}

/// Writes a page of the archive and returns the number of projects on all pages; `None` if records are to be read first. `page` returns
/// the page with a number of projects, `more` writes the further members of a project.
pub(super) fn write_page<'a, T: Copy>(
    context: CallContext<'a>,
    now: &Listing,
    (limit, detail): (Limit, Detail),
    mut page: impl FnMut(usize) -> Result<ArchivePage<T>, InvalidCursor>,
    more: impl FnMut(&mut JsonWriter<'a>, T) -> Result<(), ApiError>,
    records: &mut TasteRecords,
) -> Result<Option<(Answer<'a>, u64)>, Refusal> {
    let site = context.state.site();
    let mut page = |limit| page(limit).map_err(|error| Refusal::guided(error.to_string()));
    let mut shown_page = page(most(context, limit))?;
    let mut found = shown_page.summaries(now);
    if !records.fill(&mut found, |(summary, _)| summary) {
        return Ok(None);
    }
    let length = found.len();
    let Fitted { shown, note } = fitted(context, (limit, detail), found);
    if shown.len() < length {
        // The next page begins after the projects that are shown.
        shown_page = page(shown.len())?;
    }
    let ArchivePage { total, next, .. } = shown_page;
    let (mut json, count) = (JsonWriter::object(site, room_for(&shown, site)), shown.len());
    let next = next.map(|cursor| cursor.to_string());
    let results = shown.iter().map(|(summary, known)| (&**summary, *known));
    browse::write(&mut json, results, total, next.as_deref(), more)?;
    preview(&mut json, (context, detail), count, total)?;
    let mut answer = Answer::new(json);
    answer.notes.extend(note.map(Into::into));
    Ok(Some((answer, total)))
}

/// Completes the sentence that says what a cursor must be.
pub(super) const CURSOR: &str = "next_cursor of the page before; leave it out to start again";

/// The description of an argument `cursor` for agents.
pub(super) const CURSOR_DESCRIPTION: &str = "a page's next_cursor";

impl Value for Cursor {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Cursor> {
        arguments.parsed(name, |text| text.parse().ok(), CURSOR)
    }
}

/// Returns the maximum number of results for the caller.
pub(super) fn most(context: CallContext<'_>, limit: Limit) -> usize {
    match context.principal {
        Principal::Anonymous => limit.results.min(PREVIEW),
        Principal::Unmetered | Principal::ApiKey(_) => limit.results,
    }
}

/// Results that fit into an answer.
pub(super) struct Fitted<'s, T> {
    /// The results, each with its summary, whose introduction may be shortened.
    pub(super) shown: Vec<(Cow<'s, [u8]>, T)>,
    /// A note if something was shortened or omitted.
    pub(super) note: Option<String>,
}

/// Makes results of this detail fit into an answer: introductions are shortened first; if that is not enough there are fewer results, but at least
/// one.
pub(super) fn fitted<'s, T: Copy>(
    context: CallContext<'_>,
    (limit, detail): (Limit, Detail),
    found: Vec<(&'s [u8], T)>,
) -> Fitted<'s, T> {
    let around = 4 * context.state.site().as_str().len() + AROUND_A_SUMMARY;
    let found = found.into_iter().map(|(summary, known)| (detail.of(summary), known)).collect();
    fit(room(limit), around, found)
}

fn fit<'s, T: Copy>(room: usize, around: usize, found: Vec<(Cow<'s, [u8]>, T)>) -> Fitted<'s, T> {
    let length: usize = found.iter().map(|(summary, _)| summary.len() + around).sum();
    let mut is_shortened = false;
    let most = (room / found.len().max(1)).saturating_sub(around);
    let count = found.len();
    let shorten = |(summary, known): (Cow<'s, [u8]>, T)| -> (Cow<'s, [u8]>, T) {
        let shortened = if length > room { intro::shortened(&summary, most) } else { None };
        is_shortened |= shortened.is_some();
        (shortened.map_or(summary, Cow::Owned), known)
    };
    let mut shown: Vec<_> = found.into_iter().map(shorten).collect();
    let fitting = within(room, shown.iter().map(|(summary, _)| summary.len() + around));
    shown.truncate(fitting);
    let cut = (shown.len() < count).then(|| {
        format!(
            "Only the first {} results of this page are shown, since their texts are long; next_cursor leads on behind them.",
            shown.len()
        )
    });
    let shortened =
        is_shortened.then(|| "Long introductions are shortened; get_project has them whole.".to_owned());
    let notes: Vec<String> = shortened.into_iter().chain(cut).collect();
    Fitted { shown, note: (!notes.is_empty()).then(|| notes.join(" ")) }
}

/// Returns the approximate size in bytes of an answer with these results.
pub(super) fn room_for<T>(shown: &[(Cow<'_, [u8]>, T)], site: &Site) -> usize {
    json_writer::capacity(shown.iter().map(|(summary, _)| &**summary), site)
}

fn room(limit: Limit) -> usize {
    if limit.is_asked { BYTES_USUALLY.max(limit.results * BYTES_A_RESULT) } else { BYTES_USUALLY }
}

fn within(room: usize, lengths: impl Iterator<Item = usize>) -> usize {
    let mut used = 0;
    let fit = lengths.take_while(|length| {
        used += length;
        used <= room
    });
    fit.count().max(1)
}

/// Writes the member `preview` for a caller without a key. It names the tool that shows more only where there is more to see, and not in
/// short answers.
pub(super) fn preview(
    json: &mut JsonWriter<'_>,
    (context, detail): (CallContext<'_>, Detail),
    shown: usize,
    total: u64,
) -> Result<(), ApiError> {
    let has_more = total > shown as u64;
    let how = (detail.is_full() && has_more).then_some(super::get_api_key::TOOL.name);
    match context.principal {
        Principal::Anonymous => json.member("preview", &Preview { shown, total, how }),
        Principal::Unmetered | Principal::ApiKey(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_answer_is_short_even_with_long_texts() {
        let usual = Limit { results: 10, is_asked: false };
        assert_eq!(within(room(usual), [700; 10].into_iter()), 10);
        assert_eq!(within(room(usual), [2_000; 10].into_iter()), 4);
        assert_eq!(within(room(usual), [50_000; 10].into_iter()), 1, "one is always shown");
        // Twice the content, an eighth more for its quotes, and what stands around.
        let most = room(usual) * 17 / 8 + 1_000;
        assert!(most < 20_000, "{most}");
        let asked = |results| room(Limit { results, is_asked: true });
        assert_eq!((asked(1), asked(10), asked(20)), (8_800, 8_800, 17_600));
    }

    fn summary(name: usize, intro: usize) -> String {
        format!(r#"{{"name":"{}","intro":"{}","url":"u""#, "n".repeat(name), "word ".repeat(intro / 5))
    }

    #[test]
    fn introductions_are_shortened_before_results_are_omitted() {
        let long = summary(100, 2_000);
        let found = vec![(long.as_bytes().into(), ()); 10];
        let Fitted { shown, note } = fit(8_800, 60, found);
        let length: usize = shown.iter().map(|(summary, ())| summary.len() + 60).sum();
        assert!(shown.len() == 10 && length <= 8_800, "{} {length}", shown.len());
        assert_eq!(note.as_deref(), Some("Long introductions are shortened; get_project has them whole."));
        for (summary, ()) in shown {
            let whole: serde_json::Value = serde_json::from_slice(&[&summary[..], b"}"].concat()).unwrap();
            let intro = whole["intro"].as_str().unwrap();
            assert!(intro.ends_with("word …") && intro.len() > 500 && whole["url"] == "u", "{whole}");
        }
    }

    #[test]
    fn results_that_do_not_fit_are_on_the_next_page() {
        let short = summary(300, 100);
        let Fitted { shown, note } = fit(8_800, 60, vec![(short.as_bytes().into(), ()); 10]);
        assert_eq!((shown.len(), note), (10, None));
        let long = summary(3_000, 100);
        let Fitted { shown, note } = fit(8_800, 60, vec![(long.as_bytes().into(), ()); 10]);
        assert_eq!(shown.len(), 2);
        assert!(note.is_some_and(|note| note.contains("Only the first 2 results of this page")));
    }
}
