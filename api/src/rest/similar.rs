//! `GET /v1/similar/{slug}`: the projects most similar to a project, by pictures and texts.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use read::neighbours::Cursor;
use schemas::api::problem::ParameterFault;

use answers::auth::caller::Caller;
use answers::auth::charge::UsedUp;
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list_options::{self, ListOptions, WITHOUT_ORDER};
use answers::catalog::similar::{self, ListedProject, SimilarPage};
use answers::catalog::slug::{self, PathSlug, Resolved};
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::error::{ApiError, fault};
use answers::query::{self, QueryParams};
use answers::route;
use answers::site::Site;
use answers::state::ApiState;

/// The parameters without the options of a list.
const OWN: [&str; 3] = ["limit", "cursor", "key"];

/// A list of neighbours has no other order and no facets.
const NAMES: [&str; OWN.len() + WITHOUT_ORDER] = query::join_names(&OWN, &list_options::NAMES);

const PATH: &str = route::prefix(route::SIMILAR);

/// Returns the listed project whose slug a path contains unencoded. Other paths, and errors, are for [`similar`].
pub(crate) fn find(state: &ApiState, path: &str) -> Option<ListedProject> {
    ListedProject::find(state, path.strip_prefix(PATH)?).ok()?
}

/// Answers a plain call with a JSON document, without a future, as `search::answer_plain` does; `None` for a dear one.
pub(crate) fn answer_plain(
    state: &ApiState,
    project: &ListedProject,
    query: &str,
) -> Option<Result<JsonDocument, ApiError>> {
    match SimilarParameters::read(query) {
        Ok(parameters) if !parameters.effort().is_plain() => None,
        // Without an answer if records are to be read first.
        Ok(parameters) => {
            let mut records = TasteRecords::of(parameters.options.detail);
            answer(state, project, &parameters, (query, None), &mut records).transpose()
        }
        Err(error) => Some(Err(error)),
    }
}

/// Answers with a JSON document, unless the key is used up and there are neighbours.
fn answer(
    state: &ApiState,
    project: &ListedProject,
    parameters: &SimilarParameters,
    (query, used_up): (&str, Option<UsedUp>),
    records: &mut TasteRecords,
) -> Result<Option<JsonDocument>, ApiError> {
    let filters = &parameters.options.filters;
    if parameters.cursor.is_some_and(|cursor| !project.issued(cursor, filters)) {
        return Err(ApiError::invalid_parameters(vec![invalid_cursor()]));
    }
    let mut page = project.neighbours(state, parameters.limit, parameters.cursor, &parameters.options)?;
    if let Some(used_up) = used_up {
        used_up.refuse_list(state, page.total as u64)?;
    }
    if !records.fill(&mut page.shown, |(_, summary)| summary) {
        return Ok(None);
    }
    list(&project.slug, &page, parameters, state.site(), query).map(Some)
}

/// The parameters of the query.
struct SimilarParameters {
    options: ListOptions,
    limit: usize,
    /// The end of the previous page.
    cursor: Option<Cursor>,
    /// Parameters that are ignored.
    ignored: Vec<String>,
}

/// Answers requests that [`answer_plain`] does not: with an encoded slug or a body, dear ones, those of a key that is used up, or for a
/// project that is not listed.
pub(crate) async fn similar(
    State(state): State<ApiState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let parameters = SimilarParameters::read(query)?;
    let slug = match slug::of_path(&state, path.ok(), PATH, query).await? {
        PathSlug::Slug(slug) => slug,
        PathSlug::Redirect(redirect) => return Ok(redirect),
    };
    let list = match ListedProject::find(&state, slug.as_str())? {
        Some(project) => {
            let asked = (parameters.effort(), parameters.options.detail);
            let of_caller = || (query, caller.used_up(&state));
            let list =
                |records: &mut TasteRecords| answer(&state, &project, &parameters, of_caller(), records);
            caller.read_list(&state, asked, list).await?
        }
        None => match slug::resolve_or_redirect(&state, &slug, PATH, query).await? {
            Resolved::Redirect(redirect) => return Ok(redirect),
            Resolved::Found(_) => {
                let none = SimilarPage::of_new_project();
                list(slug.as_str(), &none, &parameters, state.site(), query)?
            }
        },
    };
    Ok(list.into_response())
}

impl SimilarParameters {
    fn read(text: &str) -> Result<SimilarParameters, ApiError> {
        let mut sent = QueryParams::parse(text, NAMES);
        let limit = sent.limit();
        let cursor = sent.cursor(invalid_cursor);
        let options = ListOptions::of_query(&mut sent, OWN.len(), false, |_, _| true);
        Ok(SimilarParameters { options, limit, cursor, ignored: sent.finish()? })
    }

    fn effort(&self) -> Effort {
        Effort::of(&self.options)
    }
}

fn invalid_cursor() -> ParameterFault {
    fault(
        "cursor",
        "It was not given out with the neighbours of this project. Start again from the first page, without a cursor.",
        "next_cursor of the page before, with the same slug and filters",
    )
}

/// Writes the answer from the rendered summaries.
fn list(
    slug: &str,
    page: &SimilarPage<'_>,
    SimilarParameters { options, ignored, .. }: &SimilarParameters,
    site: &Site,
    query: &str,
) -> Result<JsonDocument, ApiError> {
    let neighbours = &page.shown;
    let summaries = neighbours.iter().map(|(_, summary)| *summary);
    let mut json = JsonWriter::object(site, slug.len() + json_writer::capacity(summaries, site));
    json.member("slug", slug)?;
    json.member("count", &neighbours.len())?;
    json.member("total", &page.total)?;
    let detail = options.detail;
    let results = neighbours.iter().map(|(neighbour, summary)| (detail.of(summary), neighbour));
    similar::write(&mut json, results, page, detail)?;
    let next = page.next_after(neighbours.len()).map(|cursor| cursor.to_string());
    json.member("next_cursor", &next)?;
    json.member("note", &page.note)?;
    json.ignored_parameters(ignored)?;
    let path = format!("{PATH}{slug}");
    Ok(JsonDocument::page(json.finish(), site, &path, query, next.as_deref()).of_total(page.total as u64))
}
