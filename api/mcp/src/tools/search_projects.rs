//! `search_projects`: projects by words.

use answers::catalog::facets;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list_notes;
use answers::catalog::list_options::ListOptions;
use answers::catalog::relaxation;
use answers::catalog::search::{self, Found, SearchCursor, SearchFault};
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::query::join_names;
use schemas::api::search::MAX_QUERY_CHARACTERS;
use serde_json::Value as Json;

use super::listing::{self, Fitted, Written, listed};
use super::{CallContext, Run, Tool, options, quota};
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::{Text, Value, input};

pub(super) static TOOL: Tool = Tool {
    name: "search_projects",
    title: "Search projects",
    description: "Use this when you know words: a name, studio, city, building type or theme. Ranked by relevance; accents and typos are forgiven, and note says so; \"quotes\" make a phrase. For looks and moods use search_by_taste.",
    input: schema,
    output: listed!(
        r#""query":{"type":"string"},"#,
        r#","next_cursor":{"type":["string","null"]},"facets":{"type":"object"},"facet_totals":{"type":"object"}"#
    ),
    arguments: &ARGUMENTS,
    example: r#"{"query":"brick library","limit":5,"category":"architecture"}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let (options, input) = (options::read(arguments, true), Input::read(arguments));
        Box::pin(async move { run(context, &options, input?).await })
    }),
};

input! {
    query: Text<MAX_QUERY_CHARACTERS> = "Words, e.g. brick library; at most 200 characters",
    limit: Limit,
    cursor: Option<SearchCursor> = listing::CURSOR_DESCRIPTION,
}

/// The names of all arguments: its own, then the options.
const ARGUMENTS: [&str; Input::NAMES.len() + options::NAMES.len()] =
    join_names(Input::NAMES, &options::NAMES);

fn schema() -> Json {
    options::add_to(Input::schema(), true, true)
}

async fn run<'a>(context: CallContext<'a>, options: &ListOptions, input: Input) -> Answered<'a> {
    if let Some(used_up) = quota::used_up(context) {
        let (options, after) = (options.of_total(input.cursor.is_some()), input.cursor.clone());
        let total = || Ok::<_, Refusal>(find(context, &input.query.0, &options, (1, after))?.page.total());
        let total = quota::read(context, Effort::of_search(&options), total).await?;
        quota::refuse_list(context, used_up, total)?;
    }
    let asked = (Effort::of_search(options), options.detail);
    quota::read_list(context, asked, |records| list(context, options, &input, records)).await
}

fn list<'a>(
    context: CallContext<'a>,
    options: &ListOptions,
    Input { query: Text(query), limit, cursor }: &Input,
    records: &mut TasteRecords,
) -> Written<'a> {
    let sized = (*limit, options.detail);
    let found = find(context, query, options, (listing::most(context, *limit), cursor.clone()))?;
    let mut results = results(&found);
    if !records.fill(&mut results, |(summary, _)| summary) {
        return Ok(None);
    }
    let Fitted { shown, note } = listing::fitted(context, sized, results);
    let (site, total) = (context.state.site(), found.page.total());
    let mut json = JsonWriter::object(site, 2 * query.len() + listing::room_for(&shown, site));
    json.member("query", query)?;
    json.member("count", &shown.len())?;
    json.member("total", &total)?;
    let results = shown.iter().map(|(summary, score)| (&**summary, *score));
    json.projects("results", results, |json, score| json.member("score", &score))?;
    json.member("next_cursor", &found.cursor_after(shown.len()))?;
    facets::write(&mut json, found.facets())?;
    listing::preview(&mut json, (context, options.detail), shown.len(), total)?;
    let said = list_notes::of_search(context.state, query, options, &found).map_err(refusal)?;
    let advice = (total == 0 && !said.is_elsewhere).then(|| OTHER_WORDS.to_owned());
    let relaxed = relaxation::note_without_excluded(&found.page).into_iter();
    let notes = relaxed.chain(said.sentences).chain(advice).chain(note).map(Into::into);
    let mut answer = Answer::new(json).of_total(total);
    answer.notes.extend(notes);
    Ok(Some(answer))
}

fn results(found: &Found) -> Vec<(&[u8], f32)> {
    found.hits().into_iter().map(|hit| (hit.summary, hit.score)).collect()
}

impl Value for SearchCursor {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<SearchCursor> {
        arguments.parsed(name, |text| text.parse().ok(), listing::CURSOR)
    }
}

/// Searches for a page of results, from the first or after a cursor.
pub(super) fn find(
    context: CallContext<'_>,
    query: &str,
    options: &ListOptions,
    (limit, after): (usize, Option<SearchCursor>),
) -> Result<Found, Refusal> {
    search::find(context.state, query, options, limit, after).map_err(refusal)
}

fn refusal(fault: SearchFault) -> Refusal {
    match fault {
        SearchFault::InvalidCursor(what) => Refusal::guided(what),
        SearchFault::Failed(error) => error.into(),
    }
}

/// Advice if the words find nothing in the whole catalog.
pub(super) const OTHER_WORDS: &str = "Try other or more general words in English, or the place or the studio alone; list_taste_terms \
                                      shows the words of looks and moods, browse the newest projects.";
