//! Asks the index. One reader serves all threads; each search works on the snapshot it began with.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use tantivy::Index;

use super::cascade::{Outcome, Search};
use super::cursor::Cursor;
use super::query::Query;
use super::ranking::Place;
use super::rows;
use super::schema::{Fields, fields_of};
use super::snapshot::Snapshot;
use super::{LARGEST_PAGE, SearchError, SearchRequest};

/// A snapshot that cursors lead back to is held for so long, and at most so many of them are.
const HELD_FOR: Duration = Duration::from_secs(300);
const MOST_HELD: usize = 32;

/// The reading side of the index. Cheap to clone; all clones see the same.
#[derive(Clone)]
pub struct SearchReader {
    shared: Arc<Shared>,
}

struct Shared {
    index: Index,
    fields: Fields,
    current: ArcSwap<Snapshot>,
    /// Earlier snapshots that cursors lead back to, the newest last. Searches wait for this lock, so it is held for
    /// moments only.
    held: Mutex<VecDeque<(Instant, Arc<Snapshot>)>>,
    /// Lets only one refresh run at a time. It is held while a segment is decoded, which may take seconds.
    refreshing: Mutex<()>,
    /// A refresh waits for this lock before it opens a snapshot.
    #[cfg(test)]
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
            held: Mutex::default(),
            refreshing: Mutex::default(),
            #[cfg(test)]
            gate: Mutex::default(),
        };
        Ok(SearchReader { shared: Arc::new(shared) })
    }

    /// Takes up a newer commit, if there is one, and says whether there was. Searches go on meanwhile.
    pub fn refresh(&self) -> Result<bool, SearchError> {
        let _refreshing = self.shared.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.shared.current.load_full();
        #[cfg(test)]
        drop(self.shared.gate.lock());
        let newer = Snapshot::open(&self.shared.index, self.shared.fields, Some(&current))?;
        let now = Instant::now();
        let mut held = self.held();
        while held.front().is_some_and(|(since, _)| now.duration_since(*since) > HELD_FOR) {
            held.pop_front();
        }
        let Some(newer) = newer else { return Ok(false) };
        // Held before another is current, so that a cursor finds its snapshot at every moment.
        if current.is_continued() {
            held.push_back((now, current));
        }
        if held.len() > MOST_HELD {
            held.pop_front();
        }
        self.shared.current.store(Arc::new(newer));
        Ok(true)
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<(Instant, Arc<Snapshot>)>> {
        self.shared.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes refreshes wait until the guard is dropped.
    #[cfg(test)]
    pub(crate) fn close_gate(&self) -> MutexGuard<'_, ()> {
        self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a refresh runs at this moment.
    #[cfg(test)]
    pub(crate) fn is_refreshing(&self) -> bool {
        self.shared.refreshing.try_lock().is_err()
    }

    /// The payload of the commit in view: the checkpoint of the projection.
    pub fn payload(&self) -> String {
        self.shared.current.load().payload.clone()
    }

    /// The number of live documents in view.
    pub fn documents(&self) -> u64 {
        self.shared.current.load().documents
    }

    /// Searches. Fails on a cursor of another query, and where the index's files fail.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchPage, SearchError> {
        let query = Query::parse(request.text);
        let limit = request.limit.clamp(1, LARGEST_PAGE);
        let identity = query.identity(request.category);
        let snapshot = match request.after {
            Some(cursor) if cursor.query != identity => {
                return Err(SearchError::InvalidCursor("it was made for another text or category"));
            }
            Some(cursor) => self.snapshot_of(cursor.snapshot),
            None => self.shared.current.load_full(),
        };
        let search = Search { snapshot: &snapshot, query: &query, category: request.category };
        let Outcome { places, total, more, reach } = match request.after {
            None => search.first(limit)?,
            Some(cursor) => {
                let same = cursor.snapshot == snapshot.identity;
                let last = if same { cursor.last } else { search.relocate(cursor.reach, cursor.last)? };
                search.next(limit, cursor.reach, last)?
            }
        };
        let next = places.last().filter(|_| more).map(|last| {
            snapshot.expect_return();
            Cursor { query: identity, reach, last: last.rank, snapshot: snapshot.identity }
        });
        Ok(SearchPage { snapshot, places, total, next })
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

    /// The snapshot of that identity if it is still held, else the current one.
    fn snapshot_of(&self, identity: u64) -> Arc<Snapshot> {
        let current = self.shared.current.load_full();
        if current.identity == identity {
            return current;
        }
        self.held()
            .iter()
            .find(|(_, snapshot)| snapshot.identity == identity)
            .map_or(current, |(_, held)| Arc::clone(held))
    }
}

/// A page of results. It keeps the snapshot it came from, so that summaries are read in place.
pub struct SearchPage {
    snapshot: Arc<Snapshot>,
    places: Vec<Place>,
    total: u64,
    next: Option<Cursor>,
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

    /// Where the next page begins; nothing at the end.
    pub fn next(&self) -> Option<Cursor> {
        self.next
    }
}
