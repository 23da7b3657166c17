//! Slugs for someone who asked for one that does not exist.

use tantivy::Term;
use tantivy::query::FuzzyTermQuery;

use super::cascade::Search;
use super::query::Query;
use super::schema::Fields;
use super::snapshot::Snapshot;
use super::{LARGEST_PAGE, SearchError};

/// Typos that a slug may hold, from the length on from which that is not too many.
const TYPOS: [(usize, u8); 3] = [(8, 2), (4, 1), (0, 0)];
/// Slugs longer than this are compared by their beginning.
const LONGEST_SLUG: usize = 100;

/// Slugs with few typos between, then those whose project is found by the slug's words.
pub(super) fn near_slugs(
    snapshot: &Snapshot,
    fields: Fields,
    slug: &str,
    limit: usize,
) -> Result<Vec<String>, SearchError> {
    let slug = slug.get(..slug.floor_char_boundary(LONGEST_SLUG)).unwrap_or_default().to_lowercase();
    let mut found: Vec<String> = Vec::new();
    let typos = TYPOS.iter().find(|(length, _)| slug.len() >= *length).map_or(0, |(_, typos)| *typos);
    for edits in 1..=typos {
        let mut alike = spelt_like(snapshot, fields, &slug, edits)?;
        alike.sort_unstable();
        for candidate in alike {
            take(&mut found, &slug, candidate);
        }
        if found.len() >= limit {
            break;
        }
    }
    if found.len() < limit {
        let query = Query::parse(&slug);
        let outcome =
            Search { snapshot, query: &query, category: None }.first(limit.min(LARGEST_PAGE) + 1)?;
        for place in outcome.places {
            let stored = snapshot.segments[place.segment as usize].stored(place.document)?;
            take(&mut found, &slug, stored.slug);
        }
    }
    found.truncate(limit);
    Ok(found)
}

fn take(found: &mut Vec<String>, slug: &str, candidate: String) {
    if candidate != slug && !found.contains(&candidate) {
        found.push(candidate);
    }
}

/// The slugs of live projects within `edits` of `slug`.
fn spelt_like(
    snapshot: &Snapshot,
    fields: Fields,
    slug: &str,
    edits: u8,
) -> Result<Vec<String>, SearchError> {
    let query = FuzzyTermQuery::new(Term::from_field_text(fields.slug, slug), edits, true);
    let mut alike = Vec::new();
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
            let mut alive = false;
            while !postings.docs().is_empty() {
                alive |= postings.docs().iter().any(|&document| segment.is_alive(document));
                postings.advance();
            }
            if alive && let Ok(candidate) = std::str::from_utf8(candidate) {
                alike.push(candidate.to_owned());
            }
        }
    }
    Ok(alike)
}
