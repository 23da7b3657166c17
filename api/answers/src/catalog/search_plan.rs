//! How a search is answered in its mode: by words, by meaning, or by words in place of a meaning that is not known.

use read::search::{RelaxationKind, SearchPage};
use schemas::api::search::{DEFAULT_LIMIT, Matched};

use super::mode::Mode;
use crate::error::ApiError;
use crate::state::ApiState;

/// How a search is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// By words, which the mode asks for.
    Words,
    /// By words in place of the meaning that was asked for: the sentence says why.
    InsteadOfMeaning(&'static str),
    /// With the meaning of the text.
    Meaning(embeddings::Query),
}

const NO_MODEL: &str = "This node has no text model, so these are results by words alone.";
const NOT_UNDERSTOOD: &str =
    "The text model knows too few of these words (it knows English), so these are results by words alone.";
/// Advice for a search that finds nothing with all words.
const OTHER_MODE: &str = "mode=both also finds what is near in meaning.";

impl Plan {
    /// Returns how a search for a text is answered in a mode. It takes some tens of microseconds.
    ///
    /// # Errors
    ///
    /// If only the meaning is asked for and the node has no text model.
    pub fn of(mode: Mode, state: &ApiState, text: &str) -> Result<Plan, ApiError> {
        match (mode, state.text_model()) {
            (Mode::Words, _) => Ok(Plan::Words),
            (Mode::Meaning, None) => Err(ApiError::no_text_model()),
            (Mode::Both, None) => Ok(Plan::InsteadOfMeaning(NO_MODEL)),
            (Mode::Meaning | Mode::Both, Some(model)) => Ok(match model.understood(text) {
                None => Plan::InsteadOfMeaning(NOT_UNDERSTOOD),
                Some(query) => Plan::Meaning(query),
            }),
        }
    }

    /// Returns what results by words say of why they are results; nothing if only words were asked for.
    pub fn matched(&self) -> Option<Matched> {
        (*self != Plan::Words).then_some(Matched::Words)
    }

    /// Returns what is said of the results by words of a text: why they are not by meaning, or, where they lack words and there are few,
    /// which mode may find more.
    pub fn note(&self, state: &ApiState, text: &str, page: &SearchPage) -> Option<&'static str> {
        let is_understood = || state.text_model().is_some_and(|model| model.understood(text).is_some());
        match self {
            Plan::InsteadOfMeaning(why) => Some(*why),
            Plan::Words if finds_little(page) && is_understood() => Some(OTHER_MODE),
            Plan::Words | Plan::Meaning(_) => None,
        }
    }
}

/// Returns whether no project has all words, and there are fewer others than a page usually has.
fn finds_little(page: &SearchPage) -> bool {
    let lacks_words = |kind| matches!(kind, RelaxationKind::Any | RelaxationKind::NoMatches);
    page.total() < DEFAULT_LIMIT as u64
        && page.relaxation().is_some_and(|relaxation| lacks_words(relaxation.kind))
}
