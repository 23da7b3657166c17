//! Suggestions for a slug that does not exist.

use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

use super::Search;
use crate::index::schema::Fields;
use crate::index::snapshot::Snapshot;
use crate::matching::Scope;
use crate::query::Query;
use crate::{Collects, MAX_PAGE_SIZE, SearchError};

/// The most typos in a slug of at least this many bytes.
const MAX_TYPOS: [(usize, u8); 3] = [(8, 2), (4, 1), (0, 0)];
/// Longer slugs are compared by their first bytes.
const MAX_SLUG_LENGTH: usize = 100;

/// Returns up to `limit` slugs of live projects: those a few typos away from `slug`, then those whose project is found by its words.
pub(crate) fn suggest_slugs(
    snapshot: &Snapshot,
    fields: Fields,
    slug: &str,
    limit: usize,
) -> Result<Vec<String>, SearchError> {
    let slug = slug.get(..slug.floor_char_boundary(MAX_SLUG_LENGTH)).unwrap_or_default().to_lowercase();
    let mut suggested: Vec<String> = Vec::new();
    let max_typos = MAX_TYPOS.iter().find(|(length, _)| slug.len() >= *length).map_or(0, |(_, typos)| *typos);
    for edits in 1..=max_typos {
        let mut similar = similar_slugs(snapshot, fields, &slug, edits)?;
        similar.sort_unstable();
        for candidate in similar {
            add_new(&mut suggested, &slug, candidate);
        }
        if suggested.len() >= limit {
            break;
        }
    }
    if suggested.len() < limit {
        let query = Query::parse(&slug);
        let (scope, collects) = (Scope::default(), Collects::Nothing);
        let search = Search { snapshot, query: &query, scope, collects, is_strict: false };
        for found in search.first_page(limit.min(MAX_PAGE_SIZE) + 1)?.documents {
            let stored = snapshot.segments[found.segment as usize].stored_document(found.document)?;
            add_new(&mut suggested, &slug, stored.slug);
        }
    }
    suggested.truncate(limit);
    Ok(suggested)
}

fn add_new(suggested: &mut Vec<String>, slug: &str, candidate: String) {
    if candidate != slug && !suggested.contains(&candidate) {
        suggested.push(candidate);
    }
}

/// Returns the slugs of live projects within `max_edits` of `slug`.
fn similar_slugs(
    snapshot: &Snapshot,
    fields: Fields,
    slug: &str,
    max_edits: u8,
) -> Result<Vec<String>, SearchError> {
    let query = FuzzyTermQuery::new(Term::from_field_text(fields.slug, slug), max_edits, true);
    let mut similar = Vec::new();
    for segment in &snapshot.segments {
        let mut slugs = segment
            .slugs
            .terms()
            .search(query.automaton()?)
            .into_stream()
            .map_err(tantivy::TantivyError::from)?;
        while let Some((candidate, info)) = slugs.next() {
            let mut postings = segment
                .slugs
                .read_block_postings_from_terminfo(info, tantivy::schema::IndexRecordOption::Basic)
                .map_err(tantivy::TantivyError::from)?;
            let mut is_live = false;
            while !postings.docs().is_empty() {
                is_live |= postings.docs().iter().any(|&document| segment.is_live(document));
                postings.advance();
            }
            if is_live && let Ok(candidate) = std::str::from_utf8(candidate) {
                similar.push(candidate.to_owned());
            }
        }
    }
    Ok(similar)
}
