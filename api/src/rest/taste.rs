//! `GET /v1/taste`: projects by how they look and feel, in six dimensions.

use axum::extract::{RawQuery, State};
use schemas::taste::{Dimension, DimensionSet};

use answers::auth::caller::Caller;
use answers::catalog::archive_parameters::{ArchiveParameters, invalid_cursor};
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list_notes;
use answers::catalog::list_options::is_colour;
use answers::catalog::taste::{self, LONGEST, MOST_ALTERNATIVES, TasteTexts};
use answers::catalog::taste_records::TasteRecords;
use answers::catalog::{browse, facets};
use answers::effort::Effort;
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use answers::route::{TASTE, TERMS};
use answers::state::ApiState;

/// The names of its own parameters: one for each dimension, and how many of them must match.
const OWN: [&str; Dimension::COUNT + 1] = query::join_names(&Dimension::NAMES, &["match"]);

/// The names of all parameters.
const NAMES: [&str; OWN.len() + ArchiveParameters::NAMES.len()] =
    query::join_names(&OWN, &ArchiveParameters::NAMES);

type Sent<'a> = QueryParams<'a, { NAMES.len() }>;

pub(crate) async fn taste(
    State(state): State<ApiState>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<JsonDocument, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let mut sent = QueryParams::parse(query, NAMES);
    let taste = dimensions(&mut sent).matching(sent.match_mode());
    let parameters = ArchiveParameters::read(sent, true)?;
    if let Some(used_up) = caller.used_up(&state) {
        let (options, cursor) = (parameters.of_total(), parameters.cursor.clone());
        let total = || {
            let found = taste::search(&state.listing()?, &taste, &options, 1, cursor);
            Ok(found.map_err(invalid_cursor)?.page.total)
        };
        let effort = Effort::of_taste(&taste, &options);
        let total: Result<u64, ApiError> = caller.read(&state, effort, total).await;
        used_up.refuse_list(&state, total?)?;
    }
    let effort = Effort::of_taste(&taste, &parameters.options);
    let asked = (effort, parameters.options.detail);
    caller.read_list(&state, asked, |records| answer(&state, &taste, &parameters, query, records)).await
}

fn answer(
    state: &ApiState,
    taste: &TasteTexts,
    ArchiveParameters { options, limit, cursor, ignored }: &ArchiveParameters,
    query: &str,
    records: &mut TasteRecords,
) -> Result<Option<JsonDocument>, ApiError> {
    let now = state.listing()?;
    let found = taste::search(&now, taste, options, *limit, cursor.clone()).map_err(invalid_cursor)?;
    let (page, matches, site) = (found.page, found.matches, state.site());
    let mut shown = page.summaries(&now);
    if !records.fill(&mut shown, |(summary, _)| summary) {
        return Ok(None);
    }
    let next = page.next.map(|cursor| cursor.to_string());
    let mut json =
        JsonWriter::object(site, json_writer::capacity(shown.iter().map(|(summary, _)| *summary), site));
    let detail = options.detail;
    let shown = shown.into_iter().map(|(summary, matched)| (detail.of(summary), matched));
    browse::write(&mut json, shown, page.total, next.as_deref(), |json, matched: DimensionSet| {
        json.member("matched", &matched)
    })?;
    taste::write(&mut json, &matches)?;
    facets::write(&mut json, &taste::facets(&now, taste, options))?;
    let mut notes = taste::notes((state, &now), taste, options, &matches, TERMS);
    notes.extend(list_notes::of_taste(&now, taste, options, page.total));
    json.member("note", &list_notes::joined(&notes))?;
    json.ignored_parameters(ignored)?;
    let document = JsonDocument::page(json.finish(), site, TASTE, query, next.as_deref());
    Ok(Some(document.of_total(page.total)))
}

/// Reads the dimensions, of which at least one is needed; the values of one that is given several times are alternatives. A blank value
/// is absent: forms send every field.
fn dimensions(sent: &mut Sent<'_>) -> TasteTexts {
    let allowed = || format!("1 to {} characters of any text", LONGEST);
    let taste = TasteTexts::from_fn(|dimension| {
        let name = dimension.as_str();
        // Colours such as #a0522d are a filter of the same name.
        let mut texts = sent.all(name);
        texts.retain(|text| (dimension != Dimension::Color || !is_colour(text)) && !text.trim().is_empty());
        if texts.len() > MOST_ALTERNATIVES {
            let allowed = format!("at most {MOST_ALTERNATIVES} values");
            sent.refuse(name, format!("It has {} values.", texts.len()), allowed);
        }
        for length in texts.iter().map(|text| text.trim().chars().count()).filter(|length| *length > LONGEST)
        {
            sent.refuse(name, format!("It has {length} characters."), allowed());
        }
        texts.iter().map(|text| text.trim().to_owned()).collect()
    });
    if taste.is_empty() && !sent.has_faults() {
        let all = Dimension::ALL.map(Dimension::as_str).join(", ");
        let detail = format!("At least one of {all} is needed.");
        sent.refuse(Dimension::ALL[0].as_str(), detail, allowed());
    }
    taste
}
