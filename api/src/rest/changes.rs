//! `GET /v1/changes`: what happened to the projects after a cursor, in log order, for copies of the catalog.

use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::IntoResponse;
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use http::request::Parts;
use read::catalog::{Change, ChangeCursor, Changes};
use schemas::api::changes::{DEFAULT_CHANGES, MAX_CHANGES};
use schemas::api::problem::ParameterFault;
use serde::Serialize;
use tokio::time::{Instant, timeout_at};

use answers::auth::admission;
use answers::auth::caller::Caller;
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::slug::api_error;
use answers::deadline::Deadline;
use answers::error::{ApiError, fault};
use answers::query::{self, QueryParams};
use answers::route::{CHANGES, LONGEST_WAIT};
use answers::state::ApiState;

const NAMES: [&str; 4] = ["since", "limit", "wait", "key"];

/// How long a call waits for a node that lags: the cursor may be from a node that is ahead.
const LAG: Duration = Duration::from_secs(2);
/// The time before the deadline that is kept for writing and charging the answer.
const SPARE: Duration = Duration::from_secs(1);

struct Parameters {
    since: Option<ChangeCursor>,
    limit: usize,
    wait: Duration,
    /// Parameters that are ignored.
    ignored: Vec<String>,
}

/// A page of changes.
struct Page {
    changes: Vec<Change>,
    next: ChangeCursor,
    caught_up: bool,
}

pub(crate) async fn changes(
    State(state): State<ApiState>,
    Extension(deadline): Extension<Deadline>,
    caller: Caller,
    parts: Parts,
) -> Result<impl IntoResponse, ApiError> {
    let query = parts.uri.query().unwrap_or_default();
    let parameters = Parameters::read(query)?;
    let used_up = caller.used_up(&state);
    // A call that will be refused waits for nothing; whether its cursor is one of this log is said before.
    let parameters = match &used_up {
        Some(_) => Parameters { limit: 1, wait: Duration::ZERO, ..parameters },
        None => parameters,
    };
    let page = follow(&state, &parameters, deadline).await?;
    // What happens after a key was revoked is not for its holder, however early the call came.
    admission::readmit(&state, &parts)?;
    if let Some(used_up) = used_up {
        return Err(used_up.into_error(&state));
    }
    let document = write(&state, &page, query, &parameters.ignored)?;
    // A copy would miss what happens while a cache has the answer.
    Ok(([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], document))
}

impl Parameters {
    fn read(text: &str) -> Result<Parameters, ApiError> {
        let mut sent = QueryParams::parse(text, NAMES);
        let since = sent.single("since").filter(|text| !text.is_empty());
        let cursor = since.as_deref().and_then(|text| text.parse().ok());
        if since.is_some() && cursor.is_none() {
            sent.refuse_all([invalid_cursor("It is not a cursor of changes.")]);
        }
        let limit = sent.integer("limit", DEFAULT_CHANGES, 1..=MAX_CHANGES);
        let wait = sent.integer("wait", 0, 0..=LONGEST_WAIT.as_secs() as usize);
        let wait = Duration::from_secs(wait as u64);
        Ok(Parameters { since: cursor, limit, wait, ignored: sent.finish()? })
    }
}

fn invalid_cursor(detail: &str) -> ParameterFault {
    fault(
        "since",
        detail,
        "the next_cursor or a cursor of an answer of this catalog, or nothing for the beginning",
    )
}

/// Reads the changes after the cursor, and waits for some if there are none. No connection to the database is held while waiting.
async fn follow(state: &ApiState, parameters: &Parameters, deadline: Deadline) -> Result<Page, ApiError> {
    let begun = Instant::now();
    let latest = deadline.earlier_by(SPARE).instant();
    loop {
        // Subscribed before reading, so that no commit is missed in between.
        let (mut commits, found) = {
            let catalog = state.catalog()?;
            let commits = catalog.reader.commits();
            let found =
                catalog.reader.changes(parameters.since, parameters.limit).await.map_err(api_error)?;
            (commits, found)
        };
        let mut page = match found {
            Changes::OtherLog => return Err(ApiError::other_log()),
            Changes::NotReached => None,
            Changes::Page { changes, next, caught_up } => Some(Page { changes, next, caught_up }),
        };
        if let Some(page) = page.take_if(|page| !page.changes.is_empty()) {
            return Ok(page);
        }
        let wait = if page.is_some() { parameters.wait } else { parameters.wait.max(LAG) };
        let is_over = tokio::select! {
            // Closed means that another generation is read now, which the next turn opens.
            changed = timeout_at((begun + wait).min(latest), commits.changed()) => changed.is_err(),
            () = state.until_not_ready() => true,
        };
        if is_over {
            return page.ok_or_else(|| not_reached(state, parameters.since));
        }
    }
}

/// Returns the error for a cursor that the catalog has not reached: this node lags, or the log never had it.
fn not_reached(state: &ApiState, since: Option<ChangeCursor>) -> ApiError {
    let projections = state.projections();
    let catalog = projections.iter().find(|one| one.name == read::models::ModelKind::Catalog.name());
    let head = catalog.map(|one| one.position.0.saturating_add(one.lag));
    match (head, since) {
        (Some(head), Some(since)) if since.position().0 <= head => ApiError::behind_cursor(),
        _ => ApiError::invalid_parameters(vec![invalid_cursor(
            "It is from the future: this catalog has not come so far.",
        )]),
    }
}

/// The members of a change before the record.
#[derive(Serialize)]
struct ChangeHead<'a> {
    cursor: String,
    kind: &'a str,
    slug: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    at: &'a str,
}

fn write(state: &ApiState, page: &Page, query: &str, ignored: &[String]) -> Result<JsonDocument, ApiError> {
    let site = state.site();
    let records = page.changes.iter().filter_map(|change| change.record.as_ref());
    let room: usize = records.map(|record| record.len() + 256).sum();
    let mut json = JsonWriter::object(site, 512 + 256 * page.changes.len() + room);
    let mut heads = Vec::with_capacity(page.changes.len());
    for Change { cursor, kind, slug, from, at, .. } in &page.changes {
        let head = ChangeHead { cursor: cursor.to_string(), kind, slug, from: from.as_deref(), at };
        let mut head = serde_json::to_vec(&head).map_err(ApiError::internal)?;
        head.pop();
        heads.push(head);
    }
    let changes = heads.iter().map(|head| &head[..]).zip(&page.changes);
    json.projects("changes", changes, |json, change| {
        json.filled("project", change.record.as_deref().unwrap_or(b"null"));
        Ok(())
    })?;
    let next = page.next.to_string();
    json.member("next_cursor", &next)?;
    json.member("caught_up", &page.caught_up)?;
    json.ignored_parameters(ignored)?;
    let following = query::without(query, "since");
    let following =
        if following.is_empty() { format!("since={next}") } else { format!("{following}&since={next}") };
    Ok(JsonDocument::following(json.finish(), site, CHANGES, &following))
}
