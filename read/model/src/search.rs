//! The search read model: an index of the crate `lexical`. The checkpoint is the payload of a commit, so that documents and checkpoint
//! are committed together.

use std::path::Path;

#[cfg(feature = "apply")]
pub use lexical::SearchWriter;
pub use lexical::{
    Collects, Cursor, Digest, Fnv, Highlighter, Hit, MAX_PAGE_SIZE, MAX_QUERY_WORDS, OrdinalSet, Relaxation,
    RelaxationKind, Replacement, Restriction, SearchDocument, SearchError, SearchPage, SearchReader,
    SearchRequest, Suggestion, View, is_quote,
};
use schemas::ids::Position;

use crate::checkpoint::Checkpoint;
use crate::error::ModelError;
use crate::{Model, ModelContext};

/// The layout of its files; incremented with every change that former generations do not have.
pub const LAYOUT: u32 = 6;

/// Returns the position of the last event in the index; 0 if its payload is not a checkpoint.
pub fn position(view: &View) -> Position {
    checkpoint(view.payload()).map_or(Position::START, |applied| applied.position)
}

impl Model for SearchReader {
    const NAME: &'static str = "search";
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = "meta.json";
    const SCHEMA: Option<&'static str> = None;

    async fn open(folder: &Path, _: &ModelContext) -> Result<Self, ModelError> {
        Ok(SearchReader::open(folder)?)
    }

    async fn refresh(&self, _: &ModelContext) -> Result<(), ModelError> {
        SearchReader::refresh(self)?;
        Ok(())
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        checkpoint(&self.payload())
    }

    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        let reader = SearchReader::open(folder)?;
        // Without a refresh the reader stays at the commit at which it was opened.
        Ok((checkpoint(&reader.payload())?, *reader.digest()?.as_bytes()))
    }

    #[cfg(feature = "apply")]
    async fn copy(from: &Path, to: &Path) -> Result<Checkpoint, ModelError> {
        checkpoint(&lexical::copy(from, to)?)
    }
}

/// Reads the payload of a commit; the index of a new folder has none.
///
/// # Errors
///
/// Returns an error if the payload is not a checkpoint.
pub fn checkpoint(payload: &str) -> Result<Checkpoint, ModelError> {
    if payload.is_empty() {
        return Ok(Checkpoint::default());
    }
    serde_json::from_str(payload).map_err(|error| ModelError::corrupt(SearchReader::NAME, error))
}
