//! The search read model: an index of the crate `lexical`, whose payload is the checkpoint of the projection, so that documents
//! and checkpoint become visible together or not at all.

pub use lexical::{
    Approximation, Cursor, Digest, Forgiven, Hit, LARGEST_PAGE, MOST_WORDS, Replaced, SearchDocument,
    SearchError, SearchPage, SearchReader, SearchRequest, Suggestion, View,
};
#[cfg(feature = "apply")]
pub use lexical::{SearchWriter, copy};
use schemas::ids::Position;

use crate::checkpoint::Checkpoint;

/// The layout of its files; incremented with every change that former generations do not have.
pub const LAYOUT: u32 = 2;

/// Returns the last event that the index had applied; 0 where its payload is no checkpoint.
pub(crate) fn position(view: &View) -> Position {
    serde_json::from_str(view.payload()).map_or(Position(0), |applied: Checkpoint| applied.position)
}
