//! `GET /status`: the state of the node, for people.

use answers::error::ApiError;
use answers::metrics::RouteLatency;
use answers::route::{self, Route};
use answers::state::ApiState;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use jiff::Timestamp;
use schemas::control::ProjectionStatus;

use super::layout::Layout;
use super::page;
use super::words::grouped;

/// The paths whose latencies are shown.
const SHOWN: [Route; 6] =
    [Route::Search, Route::Project, Route::Similar, Route::Mcp, Route::Page, Route::Media];

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage {
    layout: Layout,
    is_ready: bool,
    reason: String,
    projects: String,
    behind: String,
    median: String,
    slowest: String,
    projections: Vec<Index>,
    latencies: Vec<RouteRow>,
}

struct Index {
    name: String,
    position: String,
    lag: String,
    parked: usize,
    size: String,
    seen: String,
}

struct RouteRow {
    route: &'static str,
    answers: String,
    median: String,
    slowest: String,
    errors: String,
}

pub(super) async fn status(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let (readiness, now) = (state.readiness(), state.now());
    let projections = state.projections();
    let latencies: Vec<RouteRow> =
        SHOWN.into_iter().map(|route| RouteRow::of(route, &state.metrics().latency(route))).collect();
    let projects = state.models().archive().map(|archive| archive.reader.listing().listed(None));
    let rendered = page(&StatusPage {
        layout: Layout::new(&state, route::STATUS, "Status").describing(
            "Whether this service answers, how far its indices are, and how quick it is.",
            route::STATUS,
        ),
        is_ready: readiness.ready,
        reason: readiness.reason,
        projects: projects.map_or_else(|| "–".to_owned(), grouped),
        behind: grouped(projections.iter().map(|one| one.lag).max().unwrap_or(0)),
        median: latencies[0].median.clone(),
        slowest: latencies[0].slowest.clone(),
        projections: projections.iter().map(|one| Index::of(one, now)).collect(),
        latencies,
    })?;
    Ok(([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], rendered).into_response())
}

impl Index {
    fn of(status: &ProjectionStatus, now: Timestamp) -> Index {
        let seen = status.heartbeat.map_or_else(
            || "not yet".to_owned(),
            |beat| match now.duration_since(beat).as_secs() {
                ..=1 => "now".to_owned(),
                seconds => format!("{seconds} s ago"),
            },
        );
        Index {
            name: status.name.clone(),
            position: grouped(status.position.0),
            lag: grouped(status.lag),
            parked: status.parked.len(),
            size: size(status.bytes),
            seen,
        }
    }
}

impl RouteRow {
    fn of(route: Route, latency: &RouteLatency) -> RouteRow {
        RouteRow {
            route: route.name(),
            answers: grouped(latency.answers),
            median: below(latency.quantile(0.5)),
            slowest: below(latency.quantile(0.99)),
            errors: grouped(latency.errors),
        }
    }
}

/// Formats a latency bound given in seconds.
fn below(bound: Option<f64>) -> String {
    match bound {
        None => "–".to_owned(),
        Some(seconds) if seconds.is_infinite() => "over 10 s".to_owned(),
        Some(seconds) if seconds < 0.001 => format!("< {} µs", (seconds * 1e6).round()),
        Some(seconds) if seconds < 1.0 => format!("< {} ms", (seconds * 1e4).round() / 10.0),
        Some(seconds) => format!("< {seconds} s"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_suitable_units() {
        assert_eq!([0, 999, 12_345, 12_345_678].map(size), ["0 B", "999 B", "12 kB", "12.3 MB"]);
        let labels = [None, Some(0.00025), Some(0.0025), Some(1.0), Some(f64::INFINITY)].map(below);
        assert_eq!(labels, ["–", "< 250 µs", "< 2.5 ms", "< 1 s", "over 10 s"]);
    }
}
