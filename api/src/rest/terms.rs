//! `GET /v1/terms`: the words that curators use in the taste dimensions. Not charged.

use axum::extract::{RawQuery, State};
use schemas::api::problem::ParameterFault;
use schemas::taste::Dimension;

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list::List;
use answers::catalog::terms::{self, TermsRequest};
use answers::error::ApiError;
use answers::query::{self, QueryParams, fault};
use answers::route::TERMS;
use answers::state::ApiState;

const NAMES: [&str; 4] = ["dimension", "category", "limit", "key"];

pub(crate) async fn terms(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<List, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let sent = QueryParams::parse(query, NAMES);
    let mut faults = Vec::new();
    let request = TermsRequest {
        dimension: dimension(&sent, &mut faults),
        category: query::category(&sent, &mut faults),
        limit: query::limit(&sent, &mut faults),
    };
    sent.single("key", &mut faults);
    if !faults.is_empty() {
        return Err(ApiError::invalid_parameters(faults));
    }
    let mut json = JsonWriter::object(state.site(), 4_096);
    let note = terms::write(&mut json, &state.listing()?, request)?;
    json.member("note", &note)?;
    json.ignored_parameters(&sent.ignored())?;
    Ok(List::new(json.finish(), state.site(), TERMS, query, None))
}

fn dimension<const N: usize>(
    sent: &QueryParams<'_, N>,
    faults: &mut Vec<ParameterFault>,
) -> Option<Dimension> {
    let text = sent.single("dimension", faults)?;
    let dimension = Dimension::parse(&text);
    if dimension.is_none() {
        let allowed = Dimension::ALL.map(Dimension::as_str).join(", ");
        faults.push(fault("dimension", "It is not one of the six.", allowed));
    }
    dimension
}
