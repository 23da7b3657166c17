//! `GET /taste/{dimension}`: the phrases that curators recorded in a dimension, the most used first.

use answers::catalog::browse;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use read::archive::{Cursor, TermKind, TermsRequest};
use schemas::record::Category;
use schemas::taste::Dimension;

use super::filters::Choice;
use super::query::{Pair, encoded, href};
use crate::layout::Layout;
use crate::page;
use crate::words::grouped;

/// The number of phrases on a page.
const PHRASES: usize = 200;

#[derive(Template)]
#[template(path = "terms.html")]
struct Terms {
    layout: Layout,
    dimension: Dimension,
    /// The path of this page without parameters.
    path: String,
    category: Option<Category>,
    starts_with: String,
    distinct: String,
    /// Each phrase with the number of its projects and the path to them.
    phrases: Vec<(String, String, String)>,
    next: Option<String>,
    dimensions: Vec<Choice>,
}

/// Returns the path of the phrases of a dimension, in a category or in all.
pub(crate) fn path(dimension: Dimension, category: Option<Category>, base: &str) -> String {
    let query = category.map(|category| format!("?category={}", category.as_str())).unwrap_or_default();
    format!("{base}{}{}{query}", route::prefix(route::TERMS_PAGE), dimension.as_str())
}

/// Answers with the phrases of a dimension, of a category or of all.
pub(crate) async fn terms(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let dimension = Dimension::parse(&name).filter(|dimension| dimension.as_str() == name);
    let dimension = dimension.ok_or_else(ApiError::not_found)?;
    let mut sent =
        QueryParams::parse(query.as_deref().unwrap_or_default(), ["category", "starts_with", "cursor"]);
    let category = sent.category();
    let starts_with = sent.single("starts_with").unwrap_or_default().trim().to_owned();
    let after: Option<Cursor> = sent.cursor(browse::invalid_cursor);
    let is_first = after.is_none();
    sent.finish()?;
    let request = TermsRequest {
        dimension,
        kind: TermKind::Phrase,
        category,
        starts_with: &starts_with,
        limit: PHRASES,
        after,
    };
    let found = state.listing()?.terms_page(request);
    let found = found.map_err(|_| ApiError::invalid_parameters(vec![browse::invalid_cursor()]))?;
    let (base, path_of_all) = (state.site().path(), path(dimension, None, state.site().path()));
    let of_category = category.map(|category| -> Pair { ("category", category.as_str().to_owned()) });
    let phrases = found.terms.terms.into_iter().map(|term| {
        let pairs =
            of_category.clone().into_iter().chain([(dimension.as_str(), format!("\"{}\"", term.term))]);
        (href(base, pairs), term.term, grouped(term.projects))
    });
    let next = found.next.map(|cursor| {
        let begun = (!starts_with.is_empty()).then(|| ("starts_with", starts_with.clone()));
        let pairs = of_category.clone().into_iter().chain(begun).chain([("cursor", cursor.to_string())]);
        format!("{path_of_all}?{}", encoded(pairs))
    });
    let layout = Layout::new(&state, route::HOME, format!("{}: all phrases", dimension.title())).describing(
        format!("The phrases for the {} of projects.", dimension.as_str()),
        path_of_all.trim_start_matches(base),
    );
    let is_whole = is_first && starts_with.is_empty() && category.is_none();
    let dimensions = Dimension::ALL.into_iter().map(|one| Choice {
        name: one.title().to_owned(),
        href: path(one, category, base),
        is_chosen: one == dimension,
    });
    page(&Terms {
        layout: if is_whole { layout } else { layout.private() },
        dimension,
        path: path_of_all,
        category,
        distinct: grouped(found.terms.distinct),
        phrases: phrases.collect(),
        next,
        dimensions: dimensions.collect(),
        starts_with,
    })
}
