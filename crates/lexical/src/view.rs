//! Look-ups by slug and by ordinal, for answers whose order comes from another model.

use std::sync::Arc;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, TantivyError, Term};

use crate::index::schema::Fields;
use crate::index::snapshot::Snapshot;
use crate::matching::Scope;
use crate::query::Query;
use crate::reader::{SearchPage, SearchReader};
use crate::search::{Search, summaries_by_beginning};
use crate::{Collects, OrdinalSet, Restriction, SearchError, SearchRequest};

/// The listed projects of one commit. It never changes, so that several look-ups give one consistent answer.
#[derive(Clone)]
pub struct View {
    snapshot: Arc<Snapshot>,
    fields: Fields,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("payload", &self.payload()).finish_non_exhaustive()
    }
}

impl SearchReader {
    /// Returns a view of the current commit.
    pub fn view(&self) -> View {
        let (snapshot, fields) = self.current();
        View { snapshot, fields }
    }
}

impl View {
    /// Returns the payload of the commit.
    pub fn payload(&self) -> &str {
        &self.snapshot.payload
    }

    /// Returns the ordinal of the listed project with this slug; `None` for a former slug.
    ///
    /// # Errors
    ///
    /// Fails if the index's files cannot be read.
    pub fn ordinal_of(&self, slug: &str) -> Result<Option<u64>, SearchError> {
        let term = Term::from_field_text(self.fields.slug, slug);
        for segment in &self.snapshot.segments {
            let postings =
                segment.slugs.read_postings(&term, IndexRecordOption::Basic).map_err(TantivyError::from)?;
            let Some(mut postings) = postings else { continue };
            let mut document = postings.doc();
            while document != TERMINATED && !segment.is_live(document) {
                document = postings.advance();
            }
            if document != TERMINATED {
                return Ok(Some(segment.ordinal(document)));
            }
        }
        Ok(None)
    }

    /// Returns one page of results among the projects of a restriction, as [`SearchReader::search`] does among all.
    ///
    /// # Errors
    ///
    /// Fails as [`SearchReader::search`] does, and on a cursor of another restriction.
    pub fn search(
        &self,
        request: &SearchRequest<'_>,
        restriction: &Restriction<'_>,
    ) -> Result<SearchPage, SearchError> {
        SearchPage::of(Arc::clone(&self.snapshot), request, Some(restriction), false)
    }

    /// Returns one page of the results that have every word of the text in some form, in the order of [`View::search`], which has them
    /// before all others. No word is completed or corrected, and nothing is relaxed.
    ///
    /// # Errors
    ///
    /// Fails as [`View::search`] does.
    pub fn full_matches(
        &self,
        request: &SearchRequest<'_>,
        restriction: &Restriction<'_>,
    ) -> Result<SearchPage, SearchError> {
        SearchPage::of(Arc::clone(&self.snapshot), request, Some(restriction), true)
    }

    /// Counts the listed projects of a set that have every word of a text in some form. They are not ranked, and no word is completed or
    /// corrected: that takes a part of the time of a search.
    ///
    /// # Errors
    ///
    /// Fails if the index's files cannot be read.
    pub fn count_within(&self, text: &str, set: &OrdinalSet) -> Result<u64, SearchError> {
        let query = Query::parse(text);
        let scope = Scope { category: None, allowed: Some(set) };
        let collects = Collects::Nothing;
        let search = Search { snapshot: &self.snapshot, query: &query, scope, collects, is_strict: true };
        Ok(search.count_full()?)
    }

    /// Returns the summaries of at most `limit` listed projects whose name begins with `typed`, and then of those in whose name a later
    /// word does: of both, names that go on with another word before those that go on with the last one, then the shorter before the
    /// longer. `typed` is in the form in which names are compared ([`text::comparison_form`]). Of the others only eight bytes each are
    /// read. Projects whose ordinal is not shown are left out.
    pub fn summaries_by_beginning(
        &self,
        typed: &str,
        limit: usize,
        is_shown: impl Fn(u64) -> bool,
    ) -> Vec<&[u8]> {
        summaries_by_beginning(&self.snapshot, typed, limit, is_shown)
    }

    /// Returns whether a set contains every listed project.
    pub fn is_within(&self, set: &OrdinalSet) -> bool {
        self.snapshot.segments.iter().all(|segment| {
            let mut listed = segment.listed_documents().filter(|document| segment.is_live(*document));
            listed.all(|document| set.contains(segment.ordinal(document)))
        })
    }

    /// Returns the summary of the listed project with this ordinal: a JSON object without its closing brace.
    pub fn summary_of(&self, ordinal: u64) -> Option<&[u8]> {
        self.snapshot.segments.iter().find_map(|segment| {
            let document = segment.documents_of(ordinal).find(|document| segment.is_live(*document))?;
            Some(segment.rows.summary(document))
        })
    }
}
