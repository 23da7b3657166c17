//! A full-text search engine on the files of tantivy: BM25 ranking, prefix and fuzzy matches, cursors that survive commits.
//!
//! The read model `search` uses it for the projects of a catalog. Of a project it reads only the texts, the category and
//! the day of publication; the rendered summary and the state are opaque.
//!
//! # Promises
//!
//! - Documents and the payload of their commit (the caller's checkpoint) become visible together or not at all.
//! - Scores depend on the live documents alone: two indexes with the same content rank alike, bit for bit, however they were built.
//! - A score of 1 or more says that the project contains what was typed: every word exactly, or in its name all words next to each
//!   other, of which the last may go on. Below 1 the match is approximate. [`Relaxation`] tells how results differ from the query.
//! - A name that begins with what was typed ranks first, a shorter one before a longer one; then names with all words next to each
//!   other; then the others.
//! - The pages of a search neither repeat nor skip a project that does not change meanwhile, across commits and nodes.
//!
//! tantivy's own queries are not used: they cannot score typos by distance (tantivy issue 563), and they count deleted documents in
//! their statistics, so that two indexes with the same content would rank differently.
//!
//! # Modules, in reading order
//!
//! - `query`: parses what the user typed into words and phrases.
//! - `search`: the match tiers (exact, prefix, fuzzy, any), and with them expansion, cursors and suggestions.
//! - `matching`: finds the documents that match words or clauses, by posting lists.
//! - `ranking`: bands of scores, BM25, tie-breakers, and the top k of a page.
//! - `index`: what is on disk and in memory: schema, row files, posting lists, lexicon, segments, snapshots.
//! - `highlight`: marks the words of a query in texts.
//! - `reader`, `view`, `writer`: the public types. `ordinal_set`: a set of projects. `fnv`: the hash in cursors.

mod fnv;
mod highlight;
mod index;
mod matching;
mod ordinal_set;
mod query;
mod ranking;
mod reader;
mod search;
mod view;
#[cfg(feature = "writer")]
mod writer;

#[cfg(all(test, feature = "writer"))]
mod tests;

pub use fnv::Fnv;
pub use highlight::Highlighter;
#[cfg(feature = "writer")]
pub use index::copy::copy;
pub use index::digest::Digest;
pub use index::lexicon::EditDistance;
pub use ordinal_set::OrdinalSet;
pub use query::{MAX_QUERY_WORDS, is_quote};
pub use reader::{Hit, SearchPage, SearchReader};
pub use search::cursor::Cursor;
pub use search::relaxation::{Relaxation, RelaxationKind, Replacement};
pub use search::suggestion::Suggestion;
pub use view::View;
#[cfg(feature = "writer")]
pub use writer::SearchWriter;

/// The most results on one page.
pub const MAX_PAGE_SIZE: usize = 50;

/// A project to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct SearchDocument<'a> {
    /// The project's ULID in text: the unique key. A second document with it replaces the first.
    pub project: &'a str,
    /// The number of the project in the order of creation, which never changes: the last tie-breaker. Below 2^40.
    pub ordinal: u64,
    /// The slug; not searched, but offered by [`SearchReader::suggest_slugs`].
    pub slug: &'a str,
    /// The project's name.
    pub name: &'a str,
    /// Who made it.
    pub studio: Option<&'a str>,
    /// Its city.
    pub city: Option<&'a str>,
    /// The category in lower case: searched as a word, and what results are filtered by.
    pub category: &'a str,
    /// The short introduction.
    pub intro: Option<&'a str>,
    /// The day of publication, in days since 1970-01-01.
    pub published: Option<i32>,
    /// The rendered JSON object of the summary without its closing brace; returned as it is, never parsed.
    pub summary: &'a [u8],
    /// What `SearchWriter::state` returns for the project; never parsed.
    pub state: &'a [u8],
    /// Whether the project is in the catalog. Of one that is not only the state is stored, and it is never found.
    pub listed: bool,
}

/// A request for one page of results.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// What the user typed. Every text is legal; one without words finds nothing.
    pub text: &'a str,
    /// Only projects of this category, in lower case.
    pub category: Option<&'a str>,
    /// The size of the page, clamped to 1 to [`MAX_PAGE_SIZE`].
    pub limit: usize,
    /// Where the previous page ended; `None` for the first page.
    pub after: Option<Cursor>,
}

/// What a search is restricted to beside its words and category, and what it collects.
#[derive(Clone, Copy, Debug)]
pub struct Restriction<'a> {
    /// Only projects with these ordinals are results; `None` for all projects of the index, which need not be looked up in a set.
    pub allowed: Option<&'a OrdinalSet>,
    /// A hash of what the set was made from. It becomes part of cursors, so that they belong to this restriction alone.
    pub fingerprint: u64,
    /// What is collected of the results of all pages.
    pub collects: Collects,
}

/// What a search collects of the results of all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collects {
    /// Nothing.
    Nothing,
    /// Their ordinals, for [`SearchPage::ordinals`]. Results that have no place on the page are found without scores.
    Ordinals,
    /// Their ordinals and scores, for [`SearchPage::matches`].
    Matches,
}

/// A search or a change of the index failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The cursor belongs to another query, or its list cannot be continued: start again without it.
    #[error("The cursor cannot be used: {0}. Start again from the first page, without a cursor.")]
    InvalidCursor(&'static str),
    /// The index's files cannot be read or written, most often because of the disk: a later try may succeed.
    #[error(
        "The search index cannot be used now: {0}. Check that its folder exists, that it may be read, and the free space."
    )]
    Unavailable(tantivy::TantivyError),
    /// Another writer has the folder open.
    #[error(
        "Another process writes the search index in this folder. Only one can: stop the other one first."
    )]
    Busy,
    /// The index is damaged or of another version: it must be rebuilt.
    #[error("The search index is damaged: {0}. It must be rebuilt.")]
    Corrupt(String),
    /// The document exceeds a bound of the index.
    #[error("The document cannot be indexed: {0}")]
    Rejected(String),
}

#[cfg(feature = "writer")]
impl SearchError {
    /// Returns whether the index is damaged and must be rebuilt: trying again cannot help.
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

/// Returns whether the operating system reported the error, as for a full disk or a lack of permission. Other errors are tantivy's, of
/// bytes that it cannot decode.
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
