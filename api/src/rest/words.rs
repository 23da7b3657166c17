//! `GET /v1/terms`: the words that curators use in the taste dimensions; `GET /v1/suggest`: suggestions while a text is typed. Not
//! charged.

use answers::catalog::archive_parameters::invalid_cursor;
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::terms::{self, TermsFault, TermsRequest};
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route::TERMS;
use answers::state::ApiState;
use read::archive::{self, SuggestionKind};
use schemas::api::suggest::{DEFAULT_SUGGESTIONS, MAX_SUGGESTIONS, Suggestion};

pub(super) fn terms(state: &ApiState, query: &str) -> Result<JsonDocument, ApiError> {
    let names = ["dimension", "category", "kind", "starts_with", "near", "limit", "cursor", "key"];
    let mut sent = QueryParams::parse(query, names);
    let request = TermsRequest::of_query(&mut sent);
    let ignored = sent.finish()?;
    let found = terms::find(state, request).map_err(|fault| match fault {
        TermsFault::InvalidCursor(error) => invalid_cursor(error),
        TermsFault::Failed(error) => error,
    })?;
    let mut json = JsonWriter::object(state.site(), 4_096);
    found.write(&mut json)?;
    json.member("note", &found.note())?;
    json.ignored_parameters(&ignored)?;
    Ok(JsonDocument::page(json.finish(), state.site(), TERMS, query, found.next_cursor().as_deref()))
}

/// Repeats the query as it was sent.
pub(super) fn suggest(state: &ApiState, query: &str) -> Result<JsonDocument, ApiError> {
    let mut sent = QueryParams::parse(query, ["q", "limit", "key"]);
    let q = sent.text();
    let limit = sent.integer("limit", DEFAULT_SUGGESTIONS, 1..=MAX_SUGGESTIONS);
    let ignored = sent.finish()?;
    let found = state.listing()?.suggest(&q, limit);
    let mut json = JsonWriter::object(state.site(), 1_024);
    json.member("query", &q)?;
    json.member("suggestions", &found.iter().map(suggestion).collect::<Vec<_>>())?;
    json.ignored_parameters(&ignored)?;
    Ok(JsonDocument::of(json.finish()))
}

fn suggestion(found: &archive::Suggestion) -> Suggestion<'_> {
    let (kind, slug) = match &found.kind {
        SuggestionKind::Project { slug } => ("project", Some(slug.as_str())),
        SuggestionKind::Studio => ("studio", None),
        SuggestionKind::City => ("city", None),
        SuggestionKind::Term(_) => ("term", None),
    };
    Suggestion { text: &found.text, kind, slug }
}
