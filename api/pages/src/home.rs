//! `GET /`: the catalog, by words, by taste, or the newest first; and the lists with an address of their own.

mod advice;
mod call;
mod filters;
mod first_steps;
mod headings;
mod in_results;
mod kinds;
mod landing;
mod naming;
mod query;
mod results;
mod suggest;
mod surprise;
mod terms;

use std::borrow::Cow;

use answers::auth::caller::Caller;
use answers::catalog::quotation::unquoted;
use answers::error::ApiError;
use answers::site::Site;
use answers::state::ApiState;
use askama::Template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use citation::script_json;
use http::HeaderMap;
use read::archive::{DimensionTerms, Facet, Filters};
use schemas::record::Category;
use schemas::taste::Dimension;
use serde_json::json;

use super::card::Card;
use super::colours::named_in;
use super::layout::{Layout, breadcrumb_list};
use super::page;
use super::words::{grouped, projects, sentence};
use advice::Advice;
use filters::{Applied, Choice, ColourForm, FacetGroup, PlaceForm, YearForm};
use first_steps::Step;
use headings::Section;
pub(super) use in_results::InResults;
pub(super) use landing::Landing;
use query::{HomeQuery, Pair, SHOWN};
use results::HomeResults;

pub(super) use suggest::suggest;
pub(super) use surprise::surprise;
pub(super) use terms::{path as terms_path, terms};

/// The number of words offered for a dimension.
const CHIPS: usize = 7;

/// What a page says that offers no further filters.
const TOO_LONG: &str =
    "This search is too long for more filters to be offered: shorten it, or remove a filter.";

#[derive(Template)]
#[template(path = "home.html")]
struct Home<'a> {
    layout: Layout,
    is_front: bool,
    /// The site and its search as JSON-LD, on the front page.
    json_ld: Option<String>,
    heading: String,
    results_heading: String,
    /// Which of the results are shown.
    range: Option<String>,
    /// How many projects there are, as a sentence.
    listed: String,
    about: Option<&'a str>,
    /// How the catalog is filled, on the front page as long as it is empty.
    first_steps: Vec<Step>,
    q: &'a str,
    placeholder: String,
    /// Taste and filters, which a search keeps.
    kept: Vec<Pair>,
    categories: Vec<Choice>,
    /// The path that leads to a random project, of the category if there is one.
    surprise: String,
    dimensions: Vec<Offered>,
    notes: Vec<String>,
    /// What to try where nothing is found.
    advice: Option<Advice>,
    did_you_mean: Option<Suggested>,
    /// The path to the results of the requested words alone, where others stand in their place, and the words.
    verbatim: Option<(String, String)>,
    applied: Vec<Applied>,
    without_filters: String,
    orders: Vec<Choice>,
    facets: Vec<FacetGroup>,
    pictures: Choice,
    years: YearForm,
    place: PlaceForm,
    colour: ColourForm,
    call: Option<String>,
    sections: Vec<CardSection>,
    /// Projects that are near in meaning, below the results.
    near: Vec<Card>,
    /// What the links to projects have, so that they know these results.
    from: String,
    pages: Pages,
}

/// Projects under a heading, or the first ones under that of all results.
struct CardSection {
    heading: Option<String>,
    /// Which of its projects these are.
    range: Option<String>,
    cards: Vec<Card>,
}

/// The other pages of the results, and where this one is among them.
struct Pages {
    /// The path of the first page, if no other link leads there.
    first: Option<String>,
    previous: Option<OtherPage>,
    /// Which of all results are on this page.
    range: Option<String>,
    next: Option<OtherPage>,
}

/// A link to another page of the results.
struct OtherPage {
    href: String,
    /// What it leads to, such as `Next 12`.
    name: String,
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
    choices: Vec<Chip>,
    /// The number of its words, and the path to all of them.
    all: (String, String),
}

/// A word of a dimension.
struct Chip {
    choice: Choice,
    /// The colour of a word for one.
    swatch: Option<String>,
    /// The number of projects with the word, if it is among the most used.
    projects: Option<String>,
}

pub(super) async fn home(
    State(state): State<ApiState>,
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let query = HomeQuery::read(query.as_deref().unwrap_or_default())?;
    let of_front = query.is_front().then_some(&headers);
    show((&state, &caller), query, None, of_front).await
}

/// Returns the page of a category.
pub(super) async fn category(
    category: Category,
    State(state): State<ApiState>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let mut query = HomeQuery::read(query.as_deref().unwrap_or_default())?;
    query.options.filters.categories.push(category);
    show((&state, &caller), query, Some(Landing::Category(category)), None).await
}

/// Returns the page of a studio or a curator, as `landing` says.
pub(super) async fn named(
    facet: Facet,
    landing: fn(String) -> Landing,
    (State(state), caller): (State<ApiState>, Caller),
    name: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let Path(name) = name.map_err(|_| ApiError::not_found())?;
    let mut query = HomeQuery::read(query.as_deref().unwrap_or_default())?;
    query::add(&mut query.options.filters, facet, &spelled(&state, facet, &name)?);
    show((&state, &caller), query, Some(landing(name)), None).await
}

/// Returns the most frequent spelling of a name in a path; not found if no listed project has it.
fn spelled(state: &ApiState, facet: Facet, name: &str) -> Result<String, ApiError> {
    let listing = state.listing()?;
    let mut filters = Filters::default();
    query::add(&mut filters, facet, name);
    let counts = listing.facet(&listing.select(&filters), facet);
    counts.values.into_iter().next().map(|value| value.value).ok_or_else(ApiError::not_found)
}

/// Returns the page of a query that was requested at the address of a list, or redirects to where it belongs. The front page takes
/// the headers of its request.
async fn show(
    (state, caller): (&ApiState, &Caller),
    query: HomeQuery,
    requested: Option<Landing>,
    headers: Option<&HeaderMap>,
) -> Result<Response, ApiError> {
    let base = state.site().path();
    let landing = query.landing();
    if landing != requested {
        return Ok(Redirect::permanent(&query.href(base)).into_response());
    }
    let listing = state.listing()?;
    // The links that add to a query repeat it, each of them.
    let is_long = query.is_long();
    let facets: &[Facet] = if is_long { &[] } else { &filters::FACETS };
    let read = || HomeResults::of(state, &query, facets);
    let mut results = caller.read_page(state, results::effort(&query, facets), read).await?;
    results.notes.extend(is_long.then(|| TOO_LONG.to_owned()));
    results.cards = Card::with_stored_pictures(results.cards, state).await;
    results.marks.mark(&mut results.cards, state).await;
    results.near = Card::with_stored_pictures(results.near, state).await;
    // The results may be those of other words than the requested ones.
    let shown = match &results.shown_words {
        Some(words) => Cow::Owned(query.searching(words.clone())),
        None => Cow::Borrowed(&query),
    };
    // Sections are those of the requested words.
    let linked = if results.sections.is_empty() { &*shown } else { &query };
    let pages = pages(&query, &results, linked, base);
    let layout = layout(state, &query, landing.as_ref(), &results);
    let json_ld = match &landing {
        Some(_) if !layout.is_private => Some(collection(&layout)),
        _ => query.is_front().then(|| website(state.site())),
    };
    let dimensions = listing.phrases(query.category(), CHIPS);
    page(&Home {
        layout,
        is_front: query.is_front(),
        json_ld,
        heading: query.heading(),
        results_heading: results.heading(&query),
        range: results.range(&query),
        listed: listed(listing.listed(None)),
        about: state.site().about(),
        first_steps: first_steps::of(state, headers, listing.listed(None)),
        q: &query.q,
        placeholder: placeholder(&dimensions, &results.cards),
        kept: query.narrowing(),
        categories: categories(&query, base),
        surprise: surprise::path(query.category(), base),
        dimensions: match is_long {
            true => Vec::new(),
            false => dimensions.into_iter().filter_map(|of| offered(&query, of, base)).collect(),
        },
        notes: results.notes,
        advice: if results.total == 0 { Advice::on(&query, base) } else { None },
        did_you_mean: results.did_you_mean.map(|(words, projects)| suggested(&query, words, projects, base)),
        verbatim: results.verbatim.map(|words| (query.searching(words).href(base), query.q.clone())),
        applied: filters::applied(&query, base),
        without_filters: filters::without_all(&query, base),
        orders: filters::orders(&query, base),
        facets: filters::groups(&query, &results.facets, base),
        pictures: filters::pictures(&query, base),
        years: filters::year_form(&query),
        place: filters::place_form(&query),
        colour: filters::colour_form(&query),
        call: call::of(&query, state.site()),
        from: if is_long || query.is_front() { String::new() } else { in_results::parameter(linked) },
        pages,
        sections: divided(results.cards, results.sections),
        near: results.near,
    })
}

/// Returns how many projects the catalog has, as a sentence.
fn listed(number: u64) -> String {
    match number {
        0 => "There are no projects yet.".to_owned(),
        _ => sentence(&cited(number)),
    }
}

/// Returns a number of projects and what each of them has.
fn cited(number: u64) -> String {
    let each = if number == 1 { "" } else { "each " };
    format!("{}, {each}with an address to cite", projects(number))
}

/// Returns the frame. Search engines index the front page and the first page of a list with an address of its own.
fn layout(state: &ApiState, query: &HomeQuery, landing: Option<&Landing>, results: &HomeResults) -> Layout {
    let pictured = |layout: Layout| match results.cards.iter().find_map(|card| card.jpeg(state.site())) {
        Some(picture) => layout.card(true).property("og:image", picture),
        None => layout.card(false),
    };
    let title = match (query.is_front(), query.pages_before) {
        (true, _) => state.site().name().to_owned(),
        (false, 0) => query.heading(),
        (false, before) => format!("{}, page {}", query.heading(), before + 1),
    };
    let layout = Layout::new(state, "/", title.clone());
    let layout = match landing {
        _ if query.is_front() => {
            let description = layout.description.clone();
            pictured(layout.describing(description, "/").shared_as("website", &title))
        }
        Some(landing) if query.is_first_page() => {
            let (name, projects) = (state.site().name(), cited(results.total));
            let description = format!("{title} in {name}: {projects}.");
            pictured(layout.describing(description, &landing.path()).shared_as("website", &title))
        }
        _ => layout.private(),
    };
    Layout { category: query.category(), ..layout }
}

/// Returns the page of a list as JSON-LD.
fn collection(layout: &Layout) -> String {
    let front = format!("{}/", layout.site);
    let url = layout.canonical.as_deref().unwrap_or(&front);
    script_json(&json!({
        "@context": "https://schema.org",
        "@type": "CollectionPage",
        "name": layout.title,
        "description": layout.description,
        "url": url,
        "isPartOf": {"@type": "WebSite", "name": layout.name, "url": front},
        "breadcrumb": breadcrumb_list(&[("All projects", &front), (&layout.title, url)]),
    }))
}

/// Returns the other pages of the results of a query; those of `linked` follow.
fn pages(query: &HomeQuery, results: &HomeResults, linked: &HomeQuery, base: &str) -> Pages {
    // On the second page the previous one is the first.
    let is_far = query.pages_before > 1 || query.before().is_none();
    let following = results.following(query);
    let next = |next: HomeQuery| OtherPage {
        href: next.href(base),
        // How many are left is not known behind a cursor alone.
        name: following.map_or_else(|| "Next page".to_owned(), |number| format!("Next {number}")),
    };
    let previous = |page: HomeQuery| OtherPage { href: page.href(base), name: format!("Previous {SHOWN}") };
    Pages {
        first: is_far.then(|| query.first_page().href(base)),
        previous: query.previous_page().map(previous),
        // Projects that lack a word are counted in their own section only.
        range: results.sections.is_empty().then(|| results.range_of_all(query)).flatten(),
        next: results.next_page(linked).map(next),
    }
}

/// Divides the cards of a page into its sections; a page without sections is a single one.
fn divided(mut cards: Vec<Card>, sections: Vec<Section>) -> Vec<CardSection> {
    let mut divided: Vec<CardSection> = sections
        .into_iter()
        .map(|section| {
            let rest = cards.split_off(section.shown.min(cards.len()));
            CardSection {
                heading: section.heading,
                range: section.range,
                cards: std::mem::replace(&mut cards, rest),
            }
        })
        .collect();
    if !cards.is_empty() || divided.is_empty() {
        divided.push(CardSection { heading: None, range: None, cards });
    }
    divided
}

fn website(site: &Site) -> String {
    script_json(&json!({
        "@context": "https://schema.org",
        "@type": "WebSite",
        "name": site.name(),
        "description": site.about().unwrap_or(site.tagline()),
        "url": format!("{site}/"),
        "potentialAction": {
            "@type": "SearchAction",
            "target": {"@type": "EntryPoint", "urlTemplate": format!("{site}/?q={{search_term_string}}")},
            "query-input": "required name=search_term_string",
        },
    }))
}

/// Returns example queries with results in this catalog: a material, a place and a studio, as far as recorded.
fn placeholder(dimensions: &[DimensionTerms], cards: &[Card]) -> String {
    let material = dimensions.iter().find(|of| of.dimension == Dimension::Material);
    let material = material.and_then(|of| Some(of.terms.first()?.term.as_str()));
    let examples = [material, cards.iter().find_map(Card::place), cards.iter().find_map(Card::studio)];
    let examples: Vec<&str> = examples.into_iter().flatten().collect();
    if examples.is_empty() { String::new() } else { format!("{}…", examples.join(", ")) }
}

fn suggested(query: &HomeQuery, words: String, total: u64, base: &str) -> Suggested {
    Suggested { href: query.searching(words.clone()).href(base), query: words, projects: projects(total) }
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
/// removes them. `None` if no project has words there.
fn offered(query: &HomeQuery, of: DimensionTerms, base: &str) -> Option<Offered> {
    let DimensionTerms { dimension, mut terms, distinct } = of;
    // In quotes, several words are found as they were recorded.
    for term in terms.iter_mut().filter(|term| term.term.contains(' ')) {
        term.term = format!("\"{}\"", term.term);
    }
    let chosen = query.taste.get(dimension);
    let (known, others): (Vec<_>, Vec<_>) =
        terms.into_iter().partition(|term| Some(term.term.as_str()) == chosen);
    let first = chosen.map(|words| (words.to_owned(), known.first().map(|term| term.projects)));
    let others = others.into_iter().map(|term| (term.term, Some(term.projects)));
    let choices = first.into_iter().chain(others).take(CHIPS).map(|(name, projects)| {
        let is_chosen = Some(name.as_str()) == chosen;
        let wanted = (!is_chosen).then(|| name.clone());
        let href = query.tasting(dimension, wanted).href(base);
        let choice = Choice { href, name: unquoted(&name).to_owned(), is_chosen };
        let swatch = if dimension == Dimension::Color { named_in(&choice.name) } else { None };
        Chip { choice, swatch, projects: projects.map(grouped) }
    });
    let choices: Vec<Chip> = choices.collect();
    let all = (grouped(distinct), terms::path(dimension, query.category(), base));
    (!choices.is_empty()).then(|| Offered { name: dimension.title(), choices, all })
}
