//! `search_projects`: projects by words, by meaning, or both.

use answers::catalog::facets;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list_notes;
use answers::catalog::list_options::ListOptions;
use answers::catalog::meaning::{self, MeaningSearch};
use answers::catalog::mode::Mode;
use answers::catalog::relaxation;
use answers::catalog::search::{self, SearchCursor, SearchFault};
use answers::catalog::search_plan::Plan;
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::query::join_names;
use read::archive::FacetCounts;
use schemas::api::search::{MAX_QUERY_CHARACTERS, Matched};
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
    mode: Option<Mode> = "both: words, then what is near in meaning",
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
    let mode = input.mode.unwrap_or_default();
    if let Some(used_up) = quota::used_up(context) {
        let (options, after) = (options.of_total(input.cursor.is_some()), input.cursor.clone());
        let total =
            || Ok::<_, Refusal>(Found::find(context, (&input.query.0, mode), &options, (1, after))?.total());
        let total = quota::read(context, Effort::of_search(&options).in_mode(mode), total).await?;
        quota::refuse_list(context, used_up, total)?;
    }
    let asked = (Effort::of_search(options).in_mode(mode), options.detail);
    quota::read_list(context, asked, |records| list(context, options, &input, records)).await
}

fn list<'a>(
    context: CallContext<'a>,
    options: &ListOptions,
    Input { query: Text(query), mode, limit, cursor }: &Input,
    records: &mut TasteRecords,
) -> Written<'a> {
    let (sized, mode) = ((*limit, options.detail), mode.unwrap_or_default());
    let page = (listing::most(context, *limit), cursor.clone());
    let found = Found::find(context, (query, mode), options, page)?;
    let mut results = found.results();
    if !records.fill(&mut results, |(summary, _)| summary) {
        return Ok(None);
    }
    let Fitted { shown, note } = listing::fitted(context, sized, results);
    let (site, total) = (context.state.site(), found.total());
    let mut json = JsonWriter::object(site, 2 * query.len() + listing::room_for(&shown, site));
    json.member("query", query)?;
    json.member("count", &shown.len())?;
    json.member("total", &total)?;
    let results = shown.iter().map(|(summary, known)| (&**summary, *known));
    json.projects("results", results, |json, (score, matched)| {
        json.member("score", &score)?;
        if let Some(matched) = matched { json.member("matched", &matched) } else { Ok(()) }
    })?;
    json.member("next_cursor", &found.cursor_after(shown.len()))?;
    facets::write(&mut json, found.facets())?;
    listing::preview(&mut json, (context, options.detail), shown.len(), total)?;
    let notes = found.notes(context, query, options)?;
    let mut answer = Answer::new(json).of_total(total);
    answer.notes.extend(notes.into_iter().chain(note).map(Into::into));
    Ok(Some(answer))
}

/// The score of a result, and, unless words alone were asked for, why it is a result.
type Reason = (f32, Option<Matched>);

/// A page of a search in some mode.
enum Found {
    Words { found: search::Found, plan: Plan },
    Meaning(meaning::Found),
}

impl Found {
    /// Searches for a page of results, from the first or after a cursor.
    fn find(
        context: CallContext<'_>,
        (query, mode): (&str, Mode),
        options: &ListOptions,
        (limit, after): (usize, Option<SearchCursor>),
    ) -> Result<Found, Refusal> {
        match Plan::of(mode, context.state, query)? {
            Plan::Meaning(meaning) => {
                let search = MeaningSearch { text: query, query: &meaning, mode };
                search.find(context.state, options, limit, after).map(Found::Meaning).map_err(refusal)
            }
            plan => Ok(Found::Words { found: find(context, query, options, (limit, after))?, plan }),
        }
    }

    /// Returns the summaries of the results with their reasons.
    fn results(&self) -> Vec<(&[u8], Reason)> {
        match self {
            Found::Words { found, plan } => {
                let matched = plan.matched();
                found.hits().into_iter().map(|hit| (hit.summary, (hit.score, matched))).collect()
            }
            Found::Meaning(found) => {
                let results = found.results().into_iter();
                results.map(|(hit, matched)| (hit.summary, (hit.score, Some(matched)))).collect()
            }
        }
    }

    fn total(&self) -> u64 {
        match self {
            Found::Words { found, .. } => found.page.total(),
            Found::Meaning(found) => found.total(),
        }
    }

    fn cursor_after(&self, shown: usize) -> Option<String> {
        match self {
            Found::Words { found, .. } => found.cursor_after(shown),
            Found::Meaning(found) => found.cursor_after(shown),
        }
    }

    fn facets(&self) -> &[FacetCounts] {
        match self {
            Found::Words { found, .. } => found.facets(),
            Found::Meaning(found) => found.facets(),
        }
    }

    fn notes(
        &self,
        context: CallContext<'_>,
        query: &str,
        options: &ListOptions,
    ) -> Result<Vec<String>, Refusal> {
        let (found, plan) = match self {
            Found::Meaning(found) => return Ok(found.note.iter().cloned().collect()),
            Found::Words { found, plan } => (found, plan),
        };
        let page = &found.page;
        let said = list_notes::of_search(context.state, query, options, found).map_err(refusal)?;
        let advice = (page.total() == 0 && !said.is_elsewhere).then(|| OTHER_WORDS.to_owned());
        let relaxed = relaxation::note_without_excluded(page).into_iter();
        let on_mode = plan.note(context.state, query, page).map(str::to_owned);
        Ok(relaxed.chain(said.sentences).chain(advice).chain(on_mode).collect())
    }
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
) -> Result<search::Found, Refusal> {
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
