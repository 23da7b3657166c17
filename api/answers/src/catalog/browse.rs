//! Pages of the archive: the newest projects, and one at random.

use std::convert::Infallible;

use rand::TryRng;
use rand::rngs::SysRng;
use read::archive::{Cursor, FacetCounts, InvalidCursor, Listing, Selection};
use schemas::api::problem::ParameterFault;
use schemas::record::Category;

use super::facets;
use super::json_writer::JsonWriter;
use super::list_options::ListOptions;
use crate::error::{ApiError, fault};

/// A page of the archive: projects by ordinal, each with further data of the list.
#[derive(Debug)]
pub struct ArchivePage<T> {
    /// The projects in order.
    pub projects: Vec<(u64, T)>,
    /// The number of projects on all pages.
    pub total: u64,
    /// The cursor of the next page, if there is one.
    pub next: Option<Cursor>,
}

impl<T: Copy> ArchivePage<T> {
    /// Returns the projects with their rendered summaries.
    pub fn summaries<'l>(&self, now: &'l Listing) -> Vec<(&'l [u8], T)> {
        let shown = self.projects.iter();
        shown.filter_map(|(ordinal, more)| Some((now.summary_of(*ordinal)?, *more))).collect()
    }
}

/// Returns a page of the projects that match all filters: the newest first, or in the order that is asked for.
///
/// # Errors
///
/// If the cursor is one of another list.
pub fn page(
    now: &Listing,
    options: &ListOptions,
    limit: usize,
    after: Option<Cursor>,
) -> Result<ArchivePage<()>, InvalidCursor> {
    let page = match options.only_category() {
        Some(category) => now.newest(category, limit, after)?,
        None => {
            let set = now.select(&options.filters);
            let selection = Selection { set: &set, fingerprint: options.filters.fingerprint() };
            now.in_order(selection, &options.order_of_all(), limit, after)?
        }
    };
    let projects = page.ordinals.into_iter().map(|ordinal| (ordinal, ())).collect();
    Ok(ArchivePage { projects, total: page.total, next: page.next })
}

/// Counts the projects that match all filters by each facet, without the filter by its own values.
pub fn facets(now: &Listing, options: &ListOptions) -> Vec<FacetCounts> {
    if options.filters.is_empty() {
        return options.facets.iter().map(|facet| now.facet_of_all(*facet).clone()).collect();
    }
    let matching = |but| Ok::<_, Infallible>(now.select(&options.filters_but(but)));
    let Ok(counts) = facets::count(now, options, matching);
    counts
}

/// Returns the summary of a project drawn at random; `None` if nothing is listed.
///
/// # Errors
///
/// If the system has no randomness.
pub fn draw(now: &Listing, category: Option<Category>) -> Result<Option<&[u8]>, ApiError> {
    let draw = SysRng.try_next_u64().map_err(ApiError::internal)?;
    Ok(now.random(category, draw).and_then(|ordinal| now.summary_of(ordinal)))
}

/// The note if there is no project to draw from.
pub const NOTHING_TO_DRAW: &str =
    "There is nothing to be drawn from yet. Leave category out, or try again later.";

/// Returns the description of a cursor of another list.
pub fn invalid_cursor() -> ParameterFault {
    fault(
        "cursor",
        "It is not a cursor of this list. Start again from the first page, without a cursor.",
        "next_cursor of the page before, with the same other parameters",
    )
}

/// Writes the members of a page; `more` writes the further members of a project.
///
/// # Errors
///
/// The error of `more`.
pub fn write<'a, S: AsRef<[u8]>, T>(
    json: &mut JsonWriter<'a>,
    shown: impl ExactSizeIterator<Item = (S, T)>,
    total: u64,
    next: Option<&str>,
    more: impl FnMut(&mut JsonWriter<'a>, T) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    json.member("count", &shown.len())?;
    json.member("total", &total)?;
    json.projects("results", shown, more)?;
    json.member("next_cursor", &next)
}
