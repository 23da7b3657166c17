//! `GET /suggest`: what the search box of the site shows while a visitor types.
//!
//! It is a path of the site, apart from `/v1/suggest`, since visitors have no key. Like the pages it is limited by address, and its
//! answers have the links to follow.

use answers::catalog::document::JsonDocument;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::state::ApiState;
use axum::extract::{RawQuery, State};
use read::archive::{Facet, Suggestion, SuggestionKind};
use schemas::api::suggest::DEFAULT_SUGGESTIONS;
use serde::Serialize;

use super::query::{self as home, HomeQuery};

#[derive(Serialize)]
struct Completions {
    suggestions: Vec<Completion>,
}

/// An option of the search box.
#[derive(Debug, PartialEq, Serialize)]
struct Completion {
    text: String,
    /// What it is, for people.
    kind: &'static str,
    /// The path that it leads to.
    href: String,
}

pub(crate) async fn suggest(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<JsonDocument, ApiError> {
    let mut sent = QueryParams::parse(query.as_deref().unwrap_or_default(), ["q"]);
    let text = sent.text();
    sent.finish()?;
    let found = state.listing()?.suggest(&text, DEFAULT_SUGGESTIONS);
    let base = state.site().path();
    let suggestions = found.into_iter().map(|one| completion(one, base)).collect();
    serde_json::to_vec(&Completions { suggestions }).map(JsonDocument::of).map_err(ApiError::internal)
}

fn completion(found: Suggestion, base: &str) -> Completion {
    let Suggestion { text, kind } = found;
    let filtered =
        |facet| HomeQuery::default().filtered(|filters| home::add(filters, facet, &text)).href(base);
    let (kind, href) = match kind {
        SuggestionKind::Project { slug } => ("Project", format!("{base}/projects/{slug}")),
        SuggestionKind::Studio => ("Studio", filtered(Facet::Studio)),
        SuggestionKind::City => ("City", filtered(Facet::City)),
        SuggestionKind::Term(dimension) => {
            (dimension.title(), HomeQuery::default().tasting(dimension, Some(text.clone())).href(base))
        }
    };
    Completion { text, kind, href }
}
