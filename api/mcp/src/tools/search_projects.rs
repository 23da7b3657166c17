//! `search_projects`: projects by words.

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::relaxation;
use answers::catalog::search;
use read::search::{Cursor, SearchError, SearchPage, SearchRequest};
use schemas::api::search::MAX_QUERY_CHARACTERS;
use schemas::record::Category;

use super::listing::{self, Fitted, listed};
use super::{CallContext, Run, Tool};
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::{Text, Value, input};

pub(super) static TOOL: Tool = Tool {
    name: "search_projects",
    title: "Search projects",
    description: "Use this when you know words to look for: a name, studio, city, building type or theme. Ranked by relevance over name, studio, city, category and intro; accents and typos are forgiven, and note says so; \"quotes\" make a phrase. For looks and moods use search_by_taste.",
    input: Input::schema,
    output: listed!(
        r#""query":{"type":"string"},"#,
        r#","score":{"type":"number"}"#,
        r#","next_cursor":{"type":["string","null"]}"#
    ),
    arguments: Input::NAMES,
    example: r#"{"query":"brick library","limit":5,"category":"architecture"}"#,
    is_counted: true,
    writes: false,
    run: Run::Ready(|context, arguments| run(context, Input::read(arguments)?)),
};

input! {
    query: Text<MAX_QUERY_CHARACTERS> = "Words, e.g. brick library Melbourne; at most 200 characters",
    limit: Limit,
    category: Option<Category>,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { query: Text(query), limit, category, cursor } = input;
    let page = find(context, &query, category, (listing::most(context, limit), cursor))?;
    let found = page.hits().map(|hit| (hit.summary, hit.score)).collect();
    let Fitted { shown, note } = listing::fitted(context, limit, found);
    let site = context.state.site();
    let mut json = JsonWriter::object(site, 2 * query.len() + listing::room_for(&shown, site));
    json.member("query", &query)?;
    json.member("count", &shown.len())?;
    json.member("total", &page.total())?;
    let results = shown.iter().map(|(summary, score)| (&**summary, *score));
    json.projects("results", results, |json, score| json.member("score", &score))?;
    json.member("next_cursor", &page.cursor_after(shown.len()).map(|cursor| cursor.to_string()))?;
    listing::preview(&mut json, context, shown.len(), page.total())?;
    let mut answer = Answer::new(json);
    let relax = if page.total() == 0 { Some(relax(context, &query, category)?) } else { None };
    answer.notes.extend(relaxation::note(&page).into_iter().chain(relax).chain(note).map(Into::into));
    Ok(answer)
}

impl Value for Cursor {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Cursor> {
        arguments.parsed(name, |text| text.parse().ok(), listing::CURSOR)
    }
}

/// Searches for a page of results, from the first or after a cursor.
pub(super) fn find(
    context: CallContext<'_>,
    query: &str,
    category: Option<Category>,
    (limit, after): (usize, Option<Cursor>),
) -> Result<SearchPage, Refusal> {
    let model = context.state.search()?;
    let request = SearchRequest { text: query, category: category.map(Category::as_str), limit, after };
    model.reader.search(&request).map_err(|error| match error {
        SearchError::InvalidCursor(_) => Refusal::guided(error.to_string()),
        error => search::api_error(error).into(),
    })
}

/// Returns advice if nothing was found.
pub(super) fn relax(
    context: CallContext<'_>,
    query: &str,
    category: Option<Category>,
) -> Result<String, Refusal> {
    let words = "Try other or more general words in English, or the place or the studio alone; list_taste_terms shows the \
                 words of looks and moods, browse the newest projects.";
    let Some(category) = category else { return Ok(words.to_owned()) };
    let (category, elsewhere) = (category.as_str(), find(context, query, None, (1, None))?.total());
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
