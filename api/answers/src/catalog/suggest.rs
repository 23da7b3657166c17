//! Suggestions while a text is typed.

use read::archive::{self, Listing, SuggestionKind};
use schemas::api::suggest::Suggestion;

use super::json_writer::JsonWriter;
use crate::error::ApiError;

/// Writes the members `query` and `suggestions`. `query` is repeated as it was sent.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write(json: &mut JsonWriter<'_>, now: &Listing, query: &str, limit: usize) -> Result<(), ApiError> {
    json.member("query", query)?;
    let found = now.suggest(query, limit);
    json.member("suggestions", &found.iter().map(suggestion).collect::<Vec<_>>())
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
