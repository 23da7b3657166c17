//! A lexical search engine on tantivy's files: an index in one folder, written by [`SearchWriter`] (feature `writer`) and searched
//! with [`SearchReader`].
//!
//! The read model `search` uses it. It keeps queries, ranking and the forms of words to itself, and knows of a document only its
//! texts, a filter's value, a rendered summary and an opaque state. tantivy's own queries are not used, because they have no scores
//! for typos by distance (tantivy issue 563) and count deleted documents in their statistics, so that two indexes of the same
//! content would rank differently.
//!
//! A tantivy index holds words, positions and, beside each segment, a file of ready-rendered summaries. The checkpoint of the
//! projection is the payload of tantivy's commit, so that documents and checkpoint become visible together or not at all.
//!
//! A query runs in stages (see `cascade`): all words exactly; then the last word as a beginning; then typos forgiven; then most of
//! the words. A score of 1 or more says that every word stands there exactly; below 1 the match is an approximation, and
//! [`Forgiven`] says what was forgiven. Scores depend on the live documents alone: two indexes with the same content rank
//! alike, however they were built.

mod cascade;
#[cfg(feature = "writer")]
mod copying;
mod cursor;
mod digest;
mod fnv;
mod forgiven;
mod forgiving;
mod lexicon;
mod matching;
mod postings;
mod query;
mod ranking;
mod reader;
mod rephrasing;
mod rows;
mod schema;
mod segment;
mod snapshot;
mod suggestions;
mod view;
mod weights;
#[cfg(feature = "writer")]
mod writer;

#[cfg(all(test, feature = "writer"))]
mod tests;

#[cfg(feature = "writer")]
pub use copying::copy;
pub use cursor::Cursor;
pub use digest::Digest;
pub use fnv::Fnv;
pub use forgiven::{Approximation, Forgiven, Replaced};
pub use lexicon::EditDistance;
pub use query::MOST_WORDS;
pub use reader::{Hit, SearchPage, SearchReader};
pub use rephrasing::Suggestion;
pub use view::View;
#[cfg(feature = "writer")]
pub use writer::SearchWriter;

/// The most results that one page can hold.
pub const LARGEST_PAGE: usize = 50;

/// A project as the index takes it up.
#[derive(Clone, Copy, Debug)]
pub struct SearchDocument<'a> {
    /// The project's ULID in text: the unique key. A second document with it replaces the first.
    pub project: &'a str,
    /// A number that grows with the creation of projects and never changes for one; the last tie-breaker. Below 2^40.
    pub ordinal: u64,
    /// The slug; not searched, but offered by [`SearchReader::near_slugs`].
    pub slug: &'a str,
    /// The project's name.
    pub name: &'a str,
    /// Who made it.
    pub studio: Option<&'a str>,
    /// Where it stands.
    pub city: Option<&'a str>,
    /// The category in lower case; both a searched word and the filter's value.
    pub category: &'a str,
    /// The short introduction.
    pub intro: Option<&'a str>,
    /// The day of publication, in days since 1970-01-01.
    pub published: Option<i32>,
    /// The rendered JSON object of the summary without its closing brace; returned as it is, never read.
    pub summary: &'a [u8],
    /// What [`SearchWriter::state`] tells again about the project.
    pub state: &'a [u8],
    /// Whether the project is in the catalog. One that is not is remembered, and never found.
    pub listed: bool,
}

/// A question to the index.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// What the user typed. Any text is legal; one without words finds nothing.
    pub text: &'a str,
    /// Only projects of this category, in lower case.
    pub category: Option<&'a str>,
    /// The size of the page, from 1 to [`LARGEST_PAGE`]; beyond that it is clamped.
    pub limit: usize,
    /// Where the page before this one ended.
    pub after: Option<Cursor>,
}

/// Why the index could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The cursor is not one of this query's, or its list cannot be continued: start again without it.
    #[error("The cursor cannot be used: {0}. Start again from the first page, without a cursor.")]
    InvalidCursor(&'static str),
    /// The index engine failed, most often on the disk: trying again later may help.
    #[error(
        "The search index cannot be used now: {0}. Check that its folder exists, that it may be read, and the free space."
    )]
    Unavailable(tantivy::TantivyError),
    /// Another writer holds the folder.
    #[error(
        "Another process writes the search index in this folder. Only one can: stop the other one first."
    )]
    Busy,
    /// What the folder holds is damaged or was written by another version: it must be rebuilt.
    #[error("The search index is damaged: {0}. It must be rebuilt.")]
    Corrupt(String),
    /// The document breaks a bound of the index.
    #[error("The document cannot be indexed: {0}")]
    Rejected(String),
}

#[cfg(feature = "writer")]
impl SearchError {
    /// Whether the index is damaged and must be made again: trying again cannot help.
    pub fn is_corrupt(&self) -> bool {
        use tantivy::TantivyError;
        use tantivy::directory::error::OpenReadError;
        match self {
            SearchError::Corrupt(_) => true,
            SearchError::Unavailable(error) => match error {
                TantivyError::OpenReadError(
                    OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_),
                )
                | TantivyError::DeserializeError(_) => true,
                TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) => {
                    !is_of_the_system(io_error)
                }
                TantivyError::IoError(error) => !is_of_the_system(error),
                _ => false,
            },
            SearchError::InvalidCursor(_) | SearchError::Busy | SearchError::Rejected(_) => false,
        }
    }
}

/// Whether the system made an error, as where a disk is full or a file may not be read. Others are what tantivy says of
/// bytes that it cannot read.
#[cfg(feature = "writer")]
fn is_of_the_system(error: &std::io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<std::io::Error>());
    error.raw_os_error().is_some() || inner.is_some_and(is_of_the_system)
}

impl From<tantivy::TantivyError> for SearchError {
    fn from(error: tantivy::TantivyError) -> SearchError {
        match error {
            tantivy::TantivyError::LockFailure(tantivy::directory::error::LockError::LockBusy, _) => {
                SearchError::Busy
            }
            tantivy::TantivyError::DataCorruption(_)
            | tantivy::TantivyError::IncompatibleIndex(_)
            | tantivy::TantivyError::SchemaError(_)
            | tantivy::TantivyError::MissingPlugin(_) => SearchError::Corrupt(error.to_string()),
            _ => SearchError::Unavailable(error),
        }
    }
}
