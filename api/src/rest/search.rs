//! `GET /v1/search`: projects by words, by meaning, or both.

mod parameters;

use axum::extract::{RawQuery, State};
use read::archive::FacetCounts;
use read::search::{Highlighter, Hit, Relaxation};
use schemas::api::search::Matched;

use answers::auth::caller::Caller;
use answers::catalog::detail::Detail;
use answers::catalog::document::JsonDocument;
use answers::catalog::facets;
use answers::catalog::highlights;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list_notes;
use answers::catalog::meaning::{self, MeaningSearch};
use answers::catalog::relaxation;
use answers::catalog::search;
use answers::catalog::search_plan::Plan;
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::error::ApiError;
use answers::route::SEARCH;
use answers::site::Site;
use answers::state::ApiState;

use crate::rest::search::parameters::SearchParameters;

/// Answers a plain search, which takes microseconds: another thread, or a future, would cost more than the search. `None` for a dear one,
/// which [`search`] answers.
pub(crate) fn answer_plain(state: &ApiState, query: &str) -> Option<Result<JsonDocument, ApiError>> {
    match SearchParameters::parse(query) {
        Ok(parameters) if !parameters.effort().is_plain() => None,
        // Without an answer if records are to be read first.
        Ok(parameters) => {
            let mut records = TasteRecords::of(parameters.options.detail);
            answer(state, &parameters, query, &mut records).transpose()
        }
        Err(error) => Some(Err(error)),
    }
}

/// Answers searches that [`answer_plain`] does not: dear ones, and those of a key that is used up.
pub(crate) async fn search(
    State(state): State<ApiState>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<JsonDocument, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let parameters = SearchParameters::parse(query)?;
    if let Some(used_up) = caller.used_up(&state) {
        let options = parameters.options.of_total(parameters.cursor.is_some());
        let SearchParameters { q, mode, cursor, .. } = &parameters;
        let (mode, text) = (*mode, q.trim());
        let total = || match Plan::of(mode, &state, text)? {
            Plan::Meaning(query) => {
                let found =
                    MeaningSearch { text, query: &query, mode }.find(&state, &options, 1, cursor.clone())?;
                Ok(found.total())
            }
            Plan::Words | Plan::InsteadOfMeaning(_) => {
                Ok(search::find(&state, text, &options, 1, cursor.clone())?.page.total())
            }
        };
        let effort = Effort::of_search(&options).in_mode(mode);
        let total: Result<u64, ApiError> = caller.read(&state, effort, total).await;
        used_up.refuse_list(&state, total?)?;
    }
    let asked = (parameters.effort(), parameters.options.detail);
    caller.read_list(&state, asked, |records| answer(&state, &parameters, query, records)).await
}

fn answer(
    state: &ApiState,
    parameters: &SearchParameters,
    query: &str,
    records: &mut TasteRecords,
) -> Result<Option<JsonDocument>, ApiError> {
    let text = parameters.q.trim();
    match Plan::of(parameters.mode, state, text)? {
        Plan::Meaning(meaning) => {
            let search = MeaningSearch { text, query: &meaning, mode: parameters.mode };
            answer_by_meaning(state, search, parameters, query, records)
        }
        plan => answer_by_words(state, &plan, parameters, query, records),
    }
}

fn answer_by_words(
    state: &ApiState,
    plan: &Plan,
    parameters: &SearchParameters,
    query: &str,
    records: &mut TasteRecords,
) -> Result<Option<JsonDocument>, ApiError> {
    let SearchParameters { q, options, limit, cursor, highlights, .. } = parameters;
    let found = search::find(state, q.trim(), options, *limit, cursor.clone())?;
    let (page, mut hits) = (&found.page, found.hits());
    if !records.fill(&mut hits, |hit| &mut hit.summary) {
        return Ok(None);
    }
    let notes = list_notes::of_search(state, q.trim(), options, &found)?.sentences;
    let on_mode = plan.note(state, q.trim(), page).map(str::to_owned);
    let relaxed = relaxation::note_without_excluded(page);
    let notes: Vec<String> = relaxed.into_iter().chain(notes).chain(on_mode).collect();
    let (note, cursor) = (list_notes::joined(&notes), found.next_cursor());
    let (cursor, said) = (cursor.as_deref(), (page.relaxation(), note.as_deref()));
    let (total, counts, detail) = (page.total(), found.facets(), options.detail);
    let shown =
        Shown { hits: &hits, total, counts, detail, highlights: *highlights, matched: plan.matched() };
    let mut json = assemble(q, &shown, said, cursor, state.site())?;
    json.ignored_parameters(&parameters.ignored)?;
    Ok(Some(JsonDocument::page(json.finish(), state.site(), SEARCH, query, cursor).of_total(total)))
}

fn answer_by_meaning(
    state: &ApiState,
    search: MeaningSearch<'_>,
    SearchParameters { q, options, limit, cursor, highlights, ignored, .. }: &SearchParameters,
    query: &str,
    records: &mut TasteRecords,
) -> Result<Option<JsonDocument>, ApiError> {
    let found = search.find(state, options, *limit, cursor.clone())?;
    let mut results = found.results();
    if !records.fill(&mut results, |(hit, _)| &mut hit.summary) {
        return Ok(None);
    }
    let (site, next) = (state.site(), found.next_cursor());
    let summaries = results.iter().map(|(hit, _)| hit.summary);
    let mut json = JsonWriter::object(site, 2 * q.len() + json_writer::capacity(summaries, site));
    json.member("query", q)?;
    json.member("count", &results.len())?;
    json.member("total", &found.total())?;
    meaning::write_approximation(&mut json, found.has_meaning(), found.note.as_deref())?;
    facets::write(&mut json, found.facets())?;
    let highlighter = highlights.then(|| Highlighter::new(q, None));
    meaning::write(&mut json, &results, highlighter.as_ref(), (options.detail, site))?;
    json.member("next_cursor", &next)?;
    json.ignored_parameters(ignored)?;
    let document = JsonDocument::page(json.finish(), site, SEARCH, query, next.as_deref());
    Ok(Some(document.of_total(found.total())))
}

/// What an answer shows.
struct Shown<'a> {
    hits: &'a [Hit<'a>],
    /// The number of results on all pages.
    total: u64,
    counts: &'a [FacetCounts],
    detail: Detail,
    /// Whether results have the texts in which words match.
    highlights: bool,
    /// What all results say of why they are results.
    matched: Option<Matched>,
}

/// Writes the answer from the rendered summaries. `query` is repeated as it was sent.
fn assemble<'a>(
    query: &str,
    shown: &Shown<'_>,
    (said, note): (Option<&Relaxation>, Option<&str>),
    next: Option<&str>,
    site: &'a Site,
) -> Result<JsonWriter<'a>, ApiError> {
    let Shown { hits, total, counts, detail, highlights, matched } = shown;
    let summaries = hits.iter().map(|hit| hit.summary);
    let mut json = JsonWriter::object(site, 2 * query.len() + json_writer::capacity(summaries, site));
    json.member("query", query)?;
    json.member("count", &hits.len())?;
    json.member("total", total)?;
    relaxation::write(&mut json, said, note)?;
    facets::write(&mut json, counts)?;
    match (matched, highlights) {
        (None, true) => highlights::write(&mut json, hits, (query, said), (*detail, site))?,
        (None, false) => search::write(&mut json, hits, *detail)?,
        (Some(matched), _) => {
            let results: Vec<_> = hits.iter().map(|hit| (*hit, *matched)).collect();
            let highlighter = highlights.then(|| Highlighter::new(query, said));
            meaning::write(&mut json, &results, highlighter.as_ref(), (*detail, site))?;
        }
    }
    json.member("next_cursor", &next)?;
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_buffer_is_enough() {
        let hits = [Hit { summary: b"{\"slug\":\"a\",\"url\":\"\x01/projects/a\"", score: 1.0 / 3.0 }; 50];
        let site: Site = "https://catalog.example.org/with/a/long/path".parse().unwrap();
        let (long, cursor) = ("\"".repeat(200), "c".repeat(144));
        let (detail, highlights, matched) = (Detail::Full, false, None);
        let shown = Shown { hits: &hits, total: 50, counts: &[], detail, highlights, matched };
        let body = assemble(&long, &shown, (None, None), Some(&cursor), &site).unwrap().finish();
        let room = json_writer::capacity(hits.iter().map(|hit| hit.summary), &site);
        assert_eq!(body.capacity(), room + 2 * 200, "the buffer did not grow");
    }
}
