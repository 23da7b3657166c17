//! `search_projects`: projects by words.

use read::search::{Hit, SearchPage, SearchRequest};
use schemas::api::search::MAX_QUERY_CHARACTERS;
use schemas::record::Category;

use super::listing::{self, listed};
use super::{Asked, Tool};
use crate::fault::Fault;
use crate::json_writer::{self, JsonWriter};
use crate::mcp::answer::{Answer, Answered};
use crate::mcp::arguments::Arguments;
use crate::routes;

pub(super) static TOOL: Tool = Tool {
    name: "search_projects",
    title: "Search projects",
    description: "Use this when you know words to look for: a name, studio, city, building type or theme. Ranked by relevance over name, studio, city, category and intro; accents, word endings being typed and typos are forgiven; \"quotes\" make a phrase. For looks and moods use search_by_taste.",
    input: r#"{"type":"object","properties":{"query":{"type":"string","description":"Words, e.g. brick library Melbourne; at most 200 characters"},"limit":{"type":"integer","minimum":1,"maximum":20,"default":10},"category":{"type":"string","enum":["architecture","interiors","design","photography","art"]}},"required":["query"]}"#,
    output: listed!(r#""query":{"type":"string"},"#, r#","score":{"type":"number"}"#, ""),
    arguments: &["query", "limit", "category"],
    example: r#"{"query":"brick library","limit":5,"category":"architecture"}"#,
    is_counted: true,
    writes: false,
};

pub(super) fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let query = arguments.required("query", MAX_QUERY_CHARACTERS);
    let (limit, category) = (arguments.limit(), arguments.category());
    let query = arguments.complete(query)?;
    let page = find(asked, &query, category, listing::most(asked, limit))?;
    let hits: Vec<Hit<'_>> = page.hits().collect();
    let fitting = listing::fitting(asked, limit, hits.iter().map(|hit| hit.summary));
    let shown = &hits[..fitting.min(hits.len())];
    let site = asked.state.site();
    let summaries = shown.iter().map(|hit| hit.summary);
    let mut json = JsonWriter::object(site, 2 * query.len() + json_writer::room(summaries, site));
    json.member("query", &query)?;
    json.member("count", &shown.len())?;
    json.member("total", &page.total())?;
    routes::search::write(&mut json, shown)?;
    listing::preview(&mut json, asked, shown.len(), page.total())?;
    let mut answer = Answer::new(json);
    if let Some(note) = listing::cut(shown.len(), hits.len()) {
        answer = answer.note(note);
    }
    if hits.is_empty() {
        answer = answer.note(relax(asked, &query, category)?);
    }
    Ok(answer)
}

/// A page of a search.
pub(super) fn find(
    asked: Asked<'_>,
    query: &str,
    category: Option<Category>,
    limit: usize,
) -> Result<SearchPage, Fault> {
    let model = asked.state.search()?;
    let request = SearchRequest { text: query, category: category.map(Category::as_str), limit, after: None };
    model.reader.search(&request).map_err(routes::search::fault)
}

/// What to do where nothing was found.
pub(super) fn relax(asked: Asked<'_>, query: &str, category: Option<Category>) -> Result<String, Fault> {
    let words = "Nothing is found for any of these words. Try other or more general ones in English, or the place or the studio \
                 alone; list_taste_terms shows the words of looks and moods, browse the newest projects.";
    let Some(category) = category else { return Ok(words.to_owned()) };
    let (category, elsewhere) = (category.as_str(), find(asked, query, None, 1)?.total());
    Ok(match elsewhere {
        0 => words.to_owned(),
        1 => format!(
            "Nothing is found in the category {category}, but one project in another. Leave category out."
        ),
        many => {
            format!(
                "Nothing is found in the category {category}, but {many} projects in others. Leave category out."
            )
        }
    })
}
