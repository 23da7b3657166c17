//! The listed projects of one commit, by slug and by ordinal: for answers whose order comes from another model.

use std::sync::Arc;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, TantivyError, Term};

use super::SearchError;
use super::reader::SearchReader;
use super::schema::Fields;
use super::snapshot::Snapshot;

/// The index at one commit; what it gives is of one moment.
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
    /// The commit in view now.
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

    /// The ordinal of the listed project that is found at this slug; nothing for a former slug.
    pub fn ordinal_of(&self, slug: &str) -> Result<Option<u64>, SearchError> {
        let term = Term::from_field_text(self.fields.slug, slug);
        for segment in &self.snapshot.segments {
            let found =
                segment.slugs.read_postings(&term, IndexRecordOption::Basic).map_err(TantivyError::from)?;
            let Some(mut found) = found else { continue };
            let mut document = found.doc();
            while document != TERMINATED && !segment.is_alive(document) {
                document = found.advance();
            }
            if document != TERMINATED {
                return Ok(Some(segment.ordinal(document)));
            }
        }
        Ok(None)
    }

    /// The summary of the listed project with this ordinal: a JSON object without its closing brace.
    pub fn summary_of(&self, ordinal: u64) -> Option<&[u8]> {
        self.snapshot.segments.iter().find_map(|segment| {
            let document = segment.listed_as(ordinal).find(|document| segment.is_alive(*document))?;
            Some(segment.rows.summary(document))
        })
    }
}
