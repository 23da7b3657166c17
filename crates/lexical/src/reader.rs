//! The reading side. One reader serves all threads; each search works on the snapshot that it began with.

use std::hash::Hasher;
use std::path::Path;
#[cfg(any(test, feature = "gate"))]
use std::sync::MutexGuard;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tantivy::Index;

use crate::fnv::Fnv;
use crate::index::digest::{self, Digest};
use crate::index::rows;
use crate::index::schema::{self, Fields};
use crate::index::snapshot::Snapshot;
use crate::matching::Scope;
use crate::ordinal_set::OrdinalSet;
use crate::query::Query;
use crate::ranking::top_k::{Collected, RankedDocument};
use crate::search::cursor::{Cursor, CursorState};
use crate::search::relaxation::{Relaxation, relaxation};
use crate::search::{ResultPage, Search, slugs};
use crate::{Collects, MAX_PAGE_SIZE, Restriction, SearchError, SearchRequest};

/// Searches the index in a folder. Cheap to clone; all clones have the same snapshot.
#[derive(Clone)]
pub struct SearchReader {
    shared: Arc<Shared>,
}

struct Shared {
    index: Index,
    fields: Fields,
    current: ArcSwap<Snapshot>,
    /// Held during a refresh, so that only one runs at a time. Decoding a segment may take seconds.
    refreshing: Mutex<()>,
    /// Acquired by a refresh before it opens a snapshot.
    #[cfg(any(test, feature = "gate"))]
    gate: Mutex<()>,
}

impl SearchReader {
    /// Opens the index in `folder` at its last commit.
    ///
    /// # Errors
    ///
    /// Fails if there is no index, if it is of another version, or if its files cannot be read.
    pub fn open(folder: &Path) -> Result<SearchReader, SearchError> {
        let index = Index::open_in_dir(folder)?;
        let fields = schema::fields(&index)?;
        let snapshot = Snapshot::open(&index, fields, None)?
            .ok_or_else(|| SearchError::Corrupt("it has no commit".to_owned()))?;
        let current = ArcSwap::from_pointee(snapshot);
        let shared = Shared {
            index,
            fields,
            current,
            refreshing: Mutex::default(),
            #[cfg(any(test, feature = "gate"))]
            gate: Mutex::default(),
        };
        Ok(SearchReader { shared: Arc::new(shared) })
    }

    /// Opens the last commit if it is newer than the current snapshot, and returns whether it was. Searches are answered meanwhile.
    ///
    /// # Errors
    ///
    /// Fails if the files of the commit cannot be read; the current snapshot stays.
    pub fn refresh(&self) -> Result<bool, SearchError> {
        let _refreshing = self.shared.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.shared.current.load_full();
        #[cfg(any(test, feature = "gate"))]
        drop(self.shared.gate.lock());
        let newer = Snapshot::open(&self.shared.index, self.shared.fields, Some(&current))?;
        let Some(newer) = newer else { return Ok(false) };
        self.shared.current.store(Arc::new(newer));
        Ok(true)
    }

    /// Makes refreshes wait until the guard is dropped.
    #[cfg(any(test, feature = "gate"))]
    pub fn block_refresh(&self) -> MutexGuard<'_, ()> {
        self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a refresh is running.
    #[cfg(any(test, feature = "gate"))]
    pub fn is_refreshing(&self) -> bool {
        self.shared.refreshing.try_lock().is_err()
    }

    /// Returns the payload of the current commit.
    pub fn payload(&self) -> String {
        self.shared.current.load().payload.clone()
    }

    /// Returns the number of listed projects.
    pub fn documents(&self) -> u64 {
        self.shared.current.load().documents
    }

    /// Returns one page of results.
    ///
    /// A cursor is continued in the current snapshot, even if its page came from another: a project that did not change since the
    /// first page is on exactly one page.
    ///
    /// # Errors
    ///
    /// Fails on a cursor of another query; on one whose words would be corrected in another way by now; and if the index's files
    /// cannot be read.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchPage, SearchError> {
        SearchPage::of(self.shared.current.load_full(), request, None, false)
    }

    /// Returns up to `limit` slugs of listed projects that are similar to `slug`, the most similar first: those with few typos, then
    /// those of projects that its words find. `slug` itself is not among them.
    ///
    /// # Errors
    ///
    /// Fails if the index's files cannot be read.
    pub fn suggest_slugs(&self, slug: &str, limit: usize) -> Result<Vec<String>, SearchError> {
        slugs::suggest_slugs(&self.shared.current.load_full(), self.shared.fields, slug, limit)
    }

    /// Returns the digest of all live documents: equal for equal content, however the index was built.
    ///
    /// # Errors
    ///
    /// Fails if a stored document cannot be read.
    pub fn digest(&self) -> Result<Digest, SearchError> {
        digest::digest(&self.shared.current.load_full())
    }

    pub(crate) fn current(&self) -> (Arc<Snapshot>, Fields) {
        (self.shared.current.load_full(), self.shared.fields)
    }
}

/// One page of results. It keeps its snapshot, from which summaries are read in place.
pub struct SearchPage {
    snapshot: Arc<Snapshot>,
    documents: Vec<RankedDocument>,
    total: u64,
    cursor: CursorParts,
    relaxation: Option<Relaxation>,
    is_truncated: bool,
    collected: Collected,
}

/// The parts of a cursor that do not depend on the last result shown.
struct CursorParts {
    query: u64,
    state: CursorState,
    /// Whether more results follow the page.
    has_more: bool,
}

/// One result.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    /// The summary as it was indexed: a JSON object without its closing brace.
    pub summary: &'a [u8],
    /// Finite and above 0. From 1 on the project contains what was typed: every word exactly, or all of them next to each other in its
    /// name, where the last may go on. Below 1 it is an approximate match.
    pub score: f32,
}

impl SearchPage {
    /// Searches a snapshot, within a restriction if there is one; for full matches alone if `is_strict`.
    pub(crate) fn of(
        snapshot: Arc<Snapshot>,
        request: &SearchRequest<'_>,
        restriction: Option<&Restriction<'_>>,
        is_strict: bool,
    ) -> Result<SearchPage, SearchError> {
        let query = Query::parse(request.text);
        let limit = request.limit.clamp(1, MAX_PAGE_SIZE);
        let fingerprint = match restriction {
            None => query.fingerprint(request.category),
            Some(restriction) => restricted(query.fingerprint(request.category), restriction),
        };
        let scope = Scope { category: request.category, allowed: restriction.and_then(|one| one.allowed) };
        let collects = restriction.map_or(Collects::Nothing, |one| one.collects);
        let search = Search { snapshot: &snapshot, query: &query, scope, collects, is_strict };
        let page = match request.after {
            None => search.first_page(limit)?,
            Some(cursor)
                if cursor.query != fingerprint || cursor.state.weights.idfs().len() < query.words.len() =>
            {
                return Err(SearchError::InvalidCursor("it was made for another text, category or filter"));
            }
            Some(cursor) => {
                let changed =
                    SearchError::InvalidCursor("the words that are near to the query's have changed since");
                search.next_page(limit, &cursor.state, cursor.last)?.ok_or(changed)?
            }
        };
        let relaxation = if is_strict { None } else { relaxation(&search, request.text, &page)? };
        let ResultPage { documents, total, has_more, collected, state, .. } = page;
        let cursor = CursorParts { query: fingerprint, state, has_more };
        let is_truncated = query.is_truncated;
        Ok(SearchPage { snapshot, documents, total, cursor, relaxation, is_truncated, collected })
    }

    /// Returns the results in order, at most as many as the request's limit.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = Hit<'_>> {
        let hits = self.documents.iter().map(|found| {
            let segment = &self.snapshot.segments[found.segment as usize];
            Hit { summary: segment.rows.summary(found.document), score: found.rank.score }
        });
        rows::prefetch(hits.clone().map(|hit| hit.summary));
        hits
    }

    /// Returns the ordinal and the score of the results of the page, in order.
    pub fn ranked(&self) -> impl ExactSizeIterator<Item = (u64, f32)> {
        self.documents.iter().map(|found| {
            let segment = &self.snapshot.segments[found.segment as usize];
            (segment.ordinal(found.document), found.rank.score)
        })
    }

    /// Returns the number of results on all pages.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the ordinal and the score of the results of all pages, in no order, if the search collects them; else none.
    pub fn matches(&self) -> &[(u64, f32)] {
        match &self.collected {
            Collected::Matches(matches) => matches,
            Collected::Nothing | Collected::Ordinals(_) => &[],
        }
    }

    /// Returns the ordinals of the results of all pages, if the search collects them or the matches; else none.
    pub fn ordinals(&self) -> Arc<OrdinalSet> {
        match &self.collected {
            Collected::Nothing => Arc::default(),
            Collected::Ordinals(set) => Arc::clone(set),
            Collected::Matches(matches) => Arc::new(matches.iter().map(|(ordinal, _)| *ordinal).collect()),
        }
    }

    /// Returns how the query was relaxed to find results, or why there are none; `None` if every result contains every word as it
    /// was typed.
    pub fn relaxation(&self) -> Option<&Relaxation> {
        self.relaxation.as_ref()
    }

    /// Returns whether the text has more than [`MAX_QUERY_WORDS`](crate::MAX_QUERY_WORDS) words, of which only the first were searched
    /// for.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns the cursor of the next page; `None` at the end.
    pub fn next_cursor(&self) -> Option<Cursor> {
        self.cursor_after(self.documents.len())
    }

    /// Returns the cursor after the first `shown` results of this page; `None` at the end, and for 0.
    pub fn cursor_after(&self, shown: usize) -> Option<Cursor> {
        let CursorParts { query, state, has_more } = &self.cursor;
        let last = self.documents.get(shown.checked_sub(1)?)?;
        let has_next = *has_more || shown < self.documents.len();
        has_next.then_some(Cursor { query: *query, state: *state, last: last.rank })
    }
}

/// Returns the fingerprint of a query within a restriction.
fn restricted(query: u64, restriction: &Restriction<'_>) -> u64 {
    let mut hash = Fnv::default();
    hash.write(&query.to_be_bytes());
    hash.write(&restriction.fingerprint.to_be_bytes());
    hash.finish()
}
