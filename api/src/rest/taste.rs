//! `GET /v1/taste`: projects by how they look and feel, in six dimensions.

use axum::extract::{RawQuery, State};
use schemas::api::problem::ParameterFault;
use schemas::taste::{Dimension, DimensionSet, Taste};

use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list::List;
use answers::catalog::list_options::is_colour;
use answers::catalog::{browse, facets, taste};
use answers::error::ApiError;
use answers::query::{self, QueryParams, fault};
use answers::route::{TASTE, TERMS};
use answers::state::ApiState;

use crate::rest::archive_parameters::{ArchiveParameters, invalid_cursor};

/// The names of all parameters: one for each dimension, then the common ones.
const NAMES: [&str; Dimension::COUNT + ArchiveParameters::NAMES.len()] =
    query::join_names(&Dimension::NAMES, &ArchiveParameters::NAMES);

type Sent<'a> = QueryParams<'a, { NAMES.len() }>;

pub(crate) async fn taste(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<List, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let sent = QueryParams::parse(query, NAMES);
    let mut faults = Vec::new();
    let taste = dimensions(&sent, &mut faults);
    let parameters = ArchiveParameters::read(&sent, true, faults)?;
    let ArchiveParameters { options, limit, cursor, ignored } = parameters;
    let now = state.listing()?;
    let found = taste::search(&now, &taste, &options, limit, cursor).map_err(invalid_cursor)?;
    let (page, matches, site) = (found.page, found.matches, state.site());
    let shown = page.summaries(&now);
    let next = page.next.map(|cursor| cursor.to_string());
    let mut json =
        JsonWriter::object(site, json_writer::capacity(shown.iter().map(|(summary, _)| *summary), site));
    browse::write(
        &mut json,
        shown.into_iter(),
        page.total,
        next.as_deref(),
        |json, matched: DimensionSet| json.member("matched", &matched),
    )?;
    json.member("matches", &matches)?;
    facets::write(&mut json, &taste::facets(&now, &taste, &options))?;
    let notes = taste::notes(&now, &taste, &options, (&matches, page.total), TERMS);
    json.member("note", &(!notes.is_empty()).then(|| notes.join(" ")))?;
    json.ignored_parameters(&ignored)?;
    Ok(List::new(json.finish(), site, TASTE, query, next.as_deref()))
}

/// Reads the dimensions, of which at least one is needed. A blank one is absent: forms send every field.
fn dimensions(sent: &Sent<'_>, faults: &mut Vec<ParameterFault>) -> Taste {
    let before = faults.len();
    let allowed = || format!("1 to {} characters of any text", taste::LONGEST);
    let taste = Taste::from_fn(|dimension| {
        let name = dimension.as_str();
        // Colours such as #a0522d are a filter of the same name.
        let mut texts = sent.all(name, faults);
        texts.retain(|text| dimension != Dimension::Color || !is_colour(text));
        if texts.len() > 1 {
            faults.push(fault(name, "It is given more than once.", "one value"));
        }
        let text = texts.first()?.trim();
        let length = text.chars().count();
        if length > taste::LONGEST {
            faults.push(fault(name, format!("It has {length} characters."), allowed()));
        }
        (length > 0).then(|| text.to_owned())
    });
    if taste.is_empty() && faults.len() == before {
        let all = Dimension::ALL.map(Dimension::as_str).join(", ");
        let detail = format!("At least one of {all} is needed.");
        faults.push(fault(Dimension::ALL[0].as_str(), detail, allowed()));
    }
    taste
}
