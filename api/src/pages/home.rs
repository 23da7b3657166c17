//! `GET /`: the catalog, by words, by taste, or the newest first.

mod call;
mod filters;
mod query;
mod results;
mod suggest;

use answers::error::ApiError;
use answers::state::ApiState;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use read::archive::DimensionTerms;
use schemas::record::Category;
use schemas::taste::Dimension;

use super::card::Card;
use super::layout::Layout;
use super::page;
use super::words::grouped;
use filters::{Applied, Choice, ColourForm, FacetGroup, YearForm};
use query::{HomeQuery, Pair};
use results::HomeResults;

pub(super) use suggest::suggest;

/// The number of words offered for a dimension.
const CHIPS: usize = 7;

#[derive(Template)]
#[template(path = "home.html")]
struct Home<'a> {
    layout: Layout,
    is_front: bool,
    is_taste: bool,
    heading: String,
    results_heading: String,
    listed: String,
    about: Option<&'a str>,
    q: &'a str,
    placeholder: String,
    /// The filters, which a search keeps.
    kept: Vec<Pair>,
    categories: Vec<Choice>,
    dimensions: Vec<Offered>,
    notes: Vec<String>,
    did_you_mean: Option<Suggested>,
    applied: Vec<Applied>,
    without_filters: String,
    orders: Vec<Choice>,
    facets: Vec<FacetGroup>,
    pictures: Choice,
    years: YearForm,
    colour: ColourForm,
    call: String,
    cards: Vec<Card>,
    first: Option<String>,
    next: Option<String>,
}

/// Suggested words with exact matches.
struct Suggested {
    query: String,
    href: String,
    projects: String,
}

/// A dimension with words to choose from.
struct Offered {
    name: &'static str,
    choices: Vec<Choice>,
}

pub(super) async fn home(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = HomeQuery::read(query.as_deref().unwrap_or_default())?;
    let listing = state.listing()?;
    let results = HomeResults::of(&state, &query)?;
    let base = state.site().path();
    let title = if query.is_front() { state.site().name().to_owned() } else { query.heading() };
    let layout = Layout::new(&state, "/", title);
    let layout = if query.is_front() {
        let description = layout.description.clone();
        layout.describing(description, "/")
    } else {
        layout.private()
    };
    let dimensions = listing.terms(None, query.category(), CHIPS);
    page(&Home {
        layout,
        is_front: query.is_front(),
        is_taste: query.is_taste(),
        heading: query.heading(),
        results_heading: results.heading(&query),
        listed: grouped(listing.listed(None)),
        about: state.site().about(),
        q: &query.q,
        placeholder: placeholder(&dimensions, &results.cards),
        kept: query.filter_pairs(),
        categories: categories(&query, base),
        dimensions: dimensions
            .into_iter()
            .map(|of| offered(&query, of.dimension, of.terms.into_iter().map(|term| term.term), base))
            .collect(),
        notes: results.notes,
        did_you_mean: results.did_you_mean.map(|(words, projects)| suggested(&query, words, projects, base)),
        applied: filters::applied(&query, base),
        without_filters: filters::without_all(&query, base),
        orders: filters::orders(&query, base),
        facets: filters::groups(&query, &results.facets, base),
        pictures: filters::pictures(&query, base),
        years: filters::year_form(&query),
        colour: filters::colour_form(&query),
        call: call::of(&query, state.site()),
        cards: Card::with_kept_pictures(results.cards, &state).await,
        first: query.cursor.is_some().then(|| query.at(None).href(base)),
        next: results.next.map(|next| query.at(Some(next)).href(base)),
    })
}

/// Returns example queries with results in this catalog: a material, a place and a studio, as far as recorded.
fn placeholder(dimensions: &[DimensionTerms], cards: &[Card]) -> String {
    let material = dimensions.iter().find(|of| of.dimension == Dimension::Material);
    let material = material.and_then(|of| Some(of.terms.first()?.term.as_str()));
    let examples = [material, cards.iter().find_map(Card::place), cards.iter().find_map(Card::studio)];
    let examples: Vec<&str> = examples.into_iter().flatten().collect();
    if examples.is_empty() { String::new() } else { format!("{}…", examples.join(", ")) }
}

fn suggested(query: &HomeQuery, words: String, projects: u64, base: &str) -> Suggested {
    let projects =
        if projects == 1 { "one project".to_owned() } else { format!("{} projects", grouped(projects)) };
    Suggested { href: query.searching(words.clone()).href(base), query: words, projects }
}

fn categories(query: &HomeQuery, base: &str) -> Vec<Choice> {
    let choice = |name: &str, category| Choice {
        name: name.to_owned(),
        href: query.in_category(category).href(base),
        is_chosen: query.category() == category && query.options.filters.categories.len() < 2,
    };
    let all = Category::ALL.into_iter().map(|category| choice(category.title(), Some(category)));
    std::iter::once(choice("Everything", None)).chain(all).collect()
}

/// Returns the options of a dimension. The requested words come first, even if they are not frequent; choosing them again
/// removes them.
fn offered(
    query: &HomeQuery,
    dimension: Dimension,
    terms: impl Iterator<Item = String>,
    base: &str,
) -> Offered {
    let chosen = query.taste.get(dimension);
    let others = terms.filter(|term| Some(term.as_str()) != chosen);
    let choices = chosen.map(str::to_owned).into_iter().chain(others).take(CHIPS).map(|term| {
        let is_chosen = Some(term.as_str()) == chosen;
        let wanted = (!is_chosen).then(|| term.clone());
        Choice { href: query.tasting(dimension, wanted).href(base), name: term, is_chosen }
    });
    Offered { name: dimension.title(), choices: choices.collect() }
}
