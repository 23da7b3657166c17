//! `GET /v1/similar?text=…`: the projects nearest in meaning to a text.

use axum::extract::{RawQuery, State};
use schemas::api::problem::ParameterFault;

use answers::auth::caller::Caller;
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list_options::{self, ListOptions, WITHOUT_ORDER};
use answers::catalog::meaning::{Found, MeaningSearch};
use answers::catalog::mode::Mode;
use answers::catalog::search::{SearchCursor, SearchFault};
use answers::catalog::search_plan::Plan;
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::error::{ApiError, fault};
use answers::query::{self, QueryParams};
use answers::route::SIMILAR_TO_TEXT;
use answers::state::ApiState;

/// The parameters without the options of a list.
const OWN: [&str; 4] = ["text", "limit", "cursor", "key"];

/// The nearest come first, and there are no facets.
const NAMES: [&str; OWN.len() + WITHOUT_ORDER] = query::join_names(&OWN, &list_options::NAMES);

const NOT_UNDERSTOOD: &str =
    "The text model knows too few of these words (it knows English). Search by words: /v1/search?q=";

struct Parameters {
    /// The text as it was sent.
    text: String,
    options: ListOptions,
    limit: usize,
    /// The end of the previous page.
    cursor: Option<SearchCursor>,
    /// Parameters that are ignored.
    ignored: Vec<String>,
}

pub(crate) async fn similar_to_text(
    State(state): State<ApiState>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<JsonDocument, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let parameters = Parameters::read(query)?;
    let effort = Effort::of(&parameters.options).in_mode(Mode::Meaning);
    let list = |records: &mut TasteRecords| {
        let found = parameters.find(&state)?;
        if let Some(used_up) = caller.used_up(&state) {
            used_up.refuse_list(&state, found.as_ref().map_or(0, Found::total))?;
        }
        answer(&state, &parameters, found.as_ref(), query, records)
    };
    caller.read_list(&state, (effort, parameters.options.detail), list).await
}

impl Parameters {
    fn read(text: &str) -> Result<Parameters, ApiError> {
        let mut sent = QueryParams::parse(text, NAMES);
        let (text, limit) = (sent.text_of("text"), sent.limit());
        let cursor = sent.cursor(invalid_cursor);
        let options = ListOptions::of_query(&mut sent, OWN.len(), false, |_, _| true);
        Ok(Parameters { text, options, limit, cursor, ignored: sent.finish()? })
    }

    /// Returns a page of what is near; `None` if the text is not understood.
    fn find(&self, state: &ApiState) -> Result<Option<Found>, ApiError> {
        let (text, mode) = (self.text.trim(), Mode::Meaning);
        let Plan::Meaning(query) = Plan::of(mode, state, text)? else { return Ok(None) };
        let search = MeaningSearch { text, query: &query, mode };
        match search.find(state, &self.options, self.limit, self.cursor.clone()) {
            Ok(found) => Ok(Some(found)),
            Err(SearchFault::InvalidCursor(_)) => Err(ApiError::invalid_parameters(vec![invalid_cursor()])),
            Err(SearchFault::Failed(error)) => Err(error),
        }
    }
}

fn invalid_cursor() -> ParameterFault {
    fault(
        "cursor",
        "It was not given out with what is near to this text. Start again from the first page, without a cursor.",
        "next_cursor of the page before, with the same text and filters",
    )
}

fn answer(
    state: &ApiState,
    Parameters { text, options, ignored, .. }: &Parameters,
    found: Option<&Found>,
    query: &str,
    records: &mut TasteRecords,
) -> Result<Option<JsonDocument>, ApiError> {
    let mut results = found.map(Found::results).unwrap_or_default();
    if !records.fill(&mut results, |(hit, _)| &mut hit.summary) {
        return Ok(None);
    }
    let (site, total) = (state.site(), found.map_or(0, Found::total));
    let (next, note) = match found {
        Some(found) => (found.next_cursor(), found.note.as_deref()),
        None => (None, Some(NOT_UNDERSTOOD)),
    };
    let summaries = results.iter().map(|(hit, _)| hit.summary);
    let mut json = JsonWriter::object(site, 2 * text.len() + json_writer::capacity(summaries, site));
    json.member("text", text)?;
    json.member("count", &results.len())?;
    json.member("total", &total)?;
    let shown = results.iter().map(|(hit, _)| (options.detail.of(hit.summary), hit.score));
    json.projects("results", shown, |json, score| json.member("score", &score))?;
    json.member("next_cursor", &next)?;
    json.member("note", &note)?;
    json.ignored_parameters(ignored)?;
    let document = JsonDocument::page(json.finish(), site, SIMILAR_TO_TEXT, query, next.as_deref());
    Ok(Some(document.of_total(total)))
}
