//! Asks the index. One reader serves all threads; each search works on the snapshot it began with.

use std::path::Path;
#[cfg(any(test, feature = "gate"))]
use std::sync::MutexGuard;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tantivy::Index;

use super::cascade::{Outcome, Search};
use super::cursor::{Cursor, Mark};
use super::forgiven::{self, Forgiven};
use super::query::Query;
use super::ranking::Place;
use super::rows;
use super::schema::{Fields, fields_of};
use super::snapshot::Snapshot;
use super::{LARGEST_PAGE, SearchError, SearchRequest};

/// The reading side of the index. Cheap to clone; all clones see the same.
#[derive(Clone)]
pub struct SearchReader {
    shared: Arc<Shared>,
}

struct Shared {
    index: Index,
    fields: Fields,
    current: ArcSwap<Snapshot>,
    /// Lets only one refresh run at a time. It is held while a segment is decoded, which may take seconds.
    refreshing: Mutex<()>,
    /// A refresh waits for this lock before it opens a snapshot.
    #[cfg(any(test, feature = "gate"))]
    gate: Mutex<()>,
}

impl SearchReader {
    /// Opens the index in `folder` at its last commit.
    pub fn open(folder: &Path) -> Result<SearchReader, SearchError> {
        let index = Index::open_in_dir(folder)?;
        let fields = fields_of(&index)?;
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

    /// Takes up a newer commit, if there is one, and says whether there was. Searches go on meanwhile.
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
    pub fn close_gate(&self) -> MutexGuard<'_, ()> {
        self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a refresh runs at this moment.
    #[cfg(any(test, feature = "gate"))]
    pub fn is_refreshing(&self) -> bool {
        self.shared.refreshing.try_lock().is_err()
    }

    /// The payload of the commit in view: the checkpoint of the projection.
    pub fn payload(&self) -> String {
        self.shared.current.load().payload.clone()
    }

    /// The number of listed projects in view.
    pub fn documents(&self) -> u64 {
        self.shared.current.load().documents
    }

    /// Searches.
    ///
    /// A cursor is continued in the commit that is in view, whichever that is: a project that did not change since the
    /// first page stands on exactly one page.
    ///
    /// # Errors
    ///
    /// Fails on a cursor of another query, or of one whose words are mended otherwise by now, and where the index's files fail.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchPage, SearchError> {
        let query = Query::parse(request.text);
        let limit = request.limit.clamp(1, LARGEST_PAGE);
        let identity = query.identity(request.category);
        let snapshot = self.shared.current.load_full();
        let search = Search { snapshot: &snapshot, query: &query, category: request.category };
        let outcome = match request.after {
            None => search.first(limit)?,
            Some(cursor)
                if cursor.query != identity || cursor.mark.weights.rarities().len() < query.words.len() =>
            {
                return Err(SearchError::InvalidCursor("it was made for another text or category"));
            }
            Some(cursor) => {
                let changed =
                    SearchError::InvalidCursor("the words that are near to the query's have changed since");
                search.next(limit, &cursor.mark, cursor.last)?.ok_or(changed)?
            }
        };
        let forgiven = forgiven::of(&search, request.text, &outcome)?;
        let Outcome { places, total, more, mark, .. } = outcome;
        let ending = Ending { query: identity, mark, more };
        Ok(SearchPage { snapshot, places, total, ending, forgiven, is_cut: query.is_cut })
    }

    /// Up to `limit` slugs that look or read like `slug`, the likeliest first; `slug` itself is not among them.
    pub fn near_slugs(&self, slug: &str, limit: usize) -> Result<Vec<String>, SearchError> {
        super::suggestions::near_slugs(&self.shared.current.load_full(), self.shared.fields, slug, limit)
    }

    /// The digest of all live documents in view: equal for equal content, however the index came to it.
    pub fn digest(&self) -> Result<super::Digest, SearchError> {
        super::digest::digest(&self.shared.current.load_full())
    }

    pub(super) fn current(&self) -> (Arc<Snapshot>, Fields) {
        (self.shared.current.load_full(), self.shared.fields)
    }
}

/// A page of results. It keeps the snapshot it came from, so that summaries are read in place.
pub struct SearchPage {
    snapshot: Arc<Snapshot>,
    places: Vec<Place>,
    total: u64,
    ending: Ending,
    forgiven: Option<Forgiven>,
    is_cut: bool,
}

/// What a cursor behind a result of a page needs beside its rank.
struct Ending {
    query: u64,
    mark: Mark,
    /// Whether more results follow the page.
    more: bool,
}

/// One result.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    /// The summary as it was indexed: a JSON object without its closing brace.
    pub summary: &'a [u8],
    /// From 1 on every word stands in the project exactly; below 1 the match is an approximation. Finite, above 0.
    pub score: f32,
}

impl SearchPage {
    /// The results in order, at most as many as were asked for.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = Hit<'_>> {
        let hits = self.places.iter().map(|place| {
            let segment = &self.snapshot.segments[place.segment as usize];
            Hit { summary: segment.rows.summary(place.document), score: place.rank.score }
        });
        rows::fetch(hits.clone().map(|hit| hit.summary));
        hits
    }

    /// The number of all projects that match, on whatever page they stand.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What was forgiven, or why nothing is found; nothing where every result holds every word as it was typed.
    pub fn forgiven(&self) -> Option<&Forgiven> {
        self.forgiven.as_ref()
    }

    /// Whether the text has more words than [`super::MOST_WORDS`], of which only the first were looked for.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Where the next page begins; nothing at the end.
    pub fn next(&self) -> Option<Cursor> {
        self.next_after(self.places.len())
    }

    /// Where the next page begins if only so many results of this one are shown; nothing at the end.
    pub fn next_after(&self, shown: usize) -> Option<Cursor> {
        let Ending { query, mark, more } = &self.ending;
        let last = self.places.get(shown.checked_sub(1)?)?;
        let follows = *more || shown < self.places.len();
        follows.then_some(Cursor { query: *query, mark: *mark, last: last.rank })
    }
}
