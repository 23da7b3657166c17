//! The recorded words of taste that are nearest in meaning to a text.

use read::archive::{Listing, Term, TermKind};
use schemas::record::Category;
use schemas::taste::Dimension;

use crate::state::ApiState;
use crate::turns::apart;

/// The number of words of a dimension that are compared: the most used.
const MOST_COMPARED: usize = 5_000;

/// Which words are compared.
#[derive(Debug, Clone, Copy)]
pub struct Compared {
    /// Words, or phrases.
    pub kind: TermKind,
    /// The dimension.
    pub dimension: Dimension,
    /// The category in whose projects they are used, or all.
    pub category: Option<Category>,
}

/// Returns the words in use that are near to a text, the nearest first; none if the node has no text model, or it does not understand
/// the text.
pub fn near_terms(state: &ApiState, now: &Listing, text: &str, compared: Compared) -> Vec<Term> {
    let Some((model, query)) = state.text_model().and_then(|model| Some((model, model.understood(text)?)))
    else {
        return Vec::new();
    };
    let Compared { kind, dimension, category } = compared;
    // Those that are compared for the first time are encoded first, which may take some tens of milliseconds.
    apart(|| {
        let found = now.terms(kind, Some(dimension), category, MOST_COMPARED);
        let terms = found.into_iter().flat_map(|of| of.terms);
        state.term_meanings().near(model, &query, terms)
    })
}
