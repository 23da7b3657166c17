//! `GET /v1/projects`: the newest projects, what changed since a time, or several by their slugs.

mod changed;

use axum::extract::{RawQuery, State};

use answers::auth::caller::Caller;
use answers::catalog::archive_parameters::{ArchiveParameters, invalid_cursor};
use answers::catalog::cited::CiteStyle;
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list_notes;
use answers::catalog::list_options;
use answers::catalog::several::{self, MOST_SLUGS};
use answers::catalog::taste_records::TasteRecords;
use answers::catalog::{browse, facets};
use answers::effort::Effort;
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use answers::route::PROJECTS;
use answers::state::ApiState;

const NAMES: [&str; 4 + ArchiveParameters::NAMES.len()] =
    query::join_names(&["slugs", "cite", "changed_since", "kinds"], &ArchiveParameters::NAMES);

type Sent<'a> = QueryParams<'a, { NAMES.len() }>;

pub(crate) async fn projects(
    State(state): State<ApiState>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<JsonDocument, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let mut sent = QueryParams::parse(query, NAMES);
    if changed::is_asked(&sent) {
        return changed::projects(&state, &caller, query, sent).await;
    }
    let (slugs, cite) = (slugs(&mut sent), CiteStyle::of(&mut sent));
    if slugs.is_none() && sent.is_given("cite") {
        sent.refuse(
            "cite",
            "It is given without slugs.",
            "slugs and cite together; lists have revision_url to cite",
        );
    }
    let parameters = ArchiveParameters::read(sent, false)?;
    let used_up = caller.used_up(&state);
    if let Some(slugs) = slugs {
        return match used_up {
            Some(used_up) => Err(used_up.into_error(&state)),
            None => several(&state, &slugs, cite, &parameters).await,
        };
    }
    if let Some(used_up) = used_up {
        let (options, cursor) = (parameters.of_total(), parameters.cursor.clone());
        let total =
            || Ok(browse::page(&state.listing()?, &options, 1, cursor).map_err(invalid_cursor)?.total);
        let total: Result<u64, ApiError> = caller.read(&state, Effort::of(&options), total).await;
        used_up.refuse_list(&state, total?)?;
    }
    let effort = Effort::of(&parameters.options);
    let asked = (effort, parameters.options.detail);
    caller.read_list(&state, asked, |records| newest(&state, &parameters, query, records)).await
}

/// Returns the slugs in `slugs`, which excludes the parameters of pages.
fn slugs(sent: &mut Sent<'_>) -> Option<Vec<String>> {
    let text = sent.single("slugs")?;
    let slugs: Vec<String> =
        text.split(',').map(str::trim).filter(|slug| !slug.is_empty()).map(str::to_owned).collect();
    let allowed = format!("1 to {MOST_SLUGS} slugs, separated by commas");
    match slugs.len() {
        0 => sent.refuse("slugs", "It is empty.", allowed),
        1..=MOST_SLUGS => {}
        many => sent.refuse("slugs", format!("It has {many} slugs."), allowed),
    }
    for name in list_options::NAMES.into_iter().filter(|name| *name != "detail").chain(["limit", "cursor"]) {
        if sent.is_given(name) {
            let detail = "It is given together with slugs, which are answered all at once.";
            sent.refuse(name, detail, "either slugs or the parameters of pages");
        }
    }
    Some(slugs)
}

async fn several(
    state: &ApiState,
    slugs: &[String],
    cite: Option<CiteStyle>,
    ArchiveParameters { options, ignored, .. }: &ArchiveParameters,
) -> Result<JsonDocument, ApiError> {
    let several = several::find(state, slugs).await?;
    let (site, records) = (state.site(), several.records.iter().map(|record| &record[..]));
    let mut json = JsonWriter::object(site, json_writer::capacity(records, site));
    several.write(&mut json, options.detail, cite.map(|style| (style, site)))?;
    json.ignored_parameters(ignored)?;
    Ok(JsonDocument::of(json.finish()))
}

fn newest(
    state: &ApiState,
    ArchiveParameters { options, limit, cursor, ignored }: &ArchiveParameters,
    query: &str,
    records: &mut TasteRecords,
) -> Result<Option<JsonDocument>, ApiError> {
    let now = state.listing()?;
    let page = browse::page(&now, options, *limit, cursor.clone()).map_err(invalid_cursor)?;
    let (mut shown, site) = (page.summaries(&now), state.site());
    if !records.fill(&mut shown, |(summary, ())| summary) {
        return Ok(None);
    }
    let next = page.next.map(|cursor| cursor.to_string());
    let mut json =
        JsonWriter::object(site, json_writer::capacity(shown.iter().map(|(summary, ())| *summary), site));
    let shown = shown.into_iter().map(|(summary, ())| (options.detail.of(summary), ()));
    browse::write(&mut json, shown, page.total, next.as_deref(), |_, ()| Ok(()))?;
    facets::write(&mut json, &browse::facets(&now, options))?;
    json.member("note", &list_notes::joined(&list_notes::of_list(&now, options, page.total)))?;
    json.ignored_parameters(ignored)?;
    let document = JsonDocument::page(json.finish(), site, PROJECTS, query, next.as_deref());
    Ok(Some(document.of_total(page.total)))
}
