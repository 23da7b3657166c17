//! `GET /v1/suggest`.

use schemars::JsonSchema;
use serde::Serialize;

/// The number of suggestions if the call does not say.
pub const DEFAULT_SUGGESTIONS: usize = 8;
/// The maximum number of suggestions.
pub const MAX_SUGGESTIONS: usize = 20;

/// Suggestions while a text is typed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuggestAnswer<'a> {
    /// The text as it was sent.
    pub query: &'a str,
    /// The suggestions: projects whose name, or a word in it, begins with the text, then studios, cities and words of the taste
    /// dimensions.
    pub suggestions: Vec<Suggestion<'a>>,
    /// Request parameters that this endpoint does not know. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored_parameters: Vec<String>,
}

/// A text that what was typed may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Suggestion<'a> {
    /// The text.
    pub text: &'a str,
    /// What it is; a term is a word of a taste dimension.
    #[schemars(extend("enum" = ["project", "studio", "city", "term"]))]
    pub kind: &'a str,
    /// The slug of a project; null for everything else.
    pub slug: Option<&'a str>,
}
