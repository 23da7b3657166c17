//! `GET /v1/project/{slug}`: the full record of one project, as it is or as it once was.

pub(crate) mod past;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;

use super::standing::{self, Named, Place};
use crate::fault::Fault;
use crate::json_writer::JsonWriter;
use crate::query::Given;
use crate::site::Site;
use crate::state::ApiState;
use past::Past;

const PATH: &str = "/v1/project";

pub(crate) async fn project(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let query = query.as_deref().unwrap_or_default();
    let mut faults = Vec::new();
    let sent = Given::read(query, ["revision", "as_of", "key"]);
    sent.single("key", &mut faults);
    let past = Past::of(&sent, &mut faults);
    if !faults.is_empty() {
        return Err(Fault::invalid_parameters(faults));
    }
    let slug = match standing::slug(&state, path.ok(), PATH, query).await? {
        Named::Slug(slug) => slug,
        Named::Address(redirect) => return Ok(redirect),
    };
    if let Some(past) = past {
        return past::answer(&state, &slug, past, query, &sent.ignored()).await;
    }
    match standing::place(&state, &slug, PATH, query).await? {
        Place::Here(record) => listed(&record, state.site(), &sent.ignored()),
        Place::There(redirect) => Ok(redirect),
    }
}

fn listed(record: &[u8], site: &Site, ignored: &[String]) -> Result<Response, Fault> {
    let mut json = JsonWriter::reopen(site, record);
    json.ignored_parameters(ignored)?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], json.finish()).into_response())
}
