//! `GET /status`: the state of the node, for people: what runs, since when, and what it answered since then and on the days before.

mod last_days;

use answers::daily_figures::COUNTED;
use answers::error::ApiError;
use answers::metrics::RouteLatency;
use answers::route::{self, Route};
use answers::state::{ApiState, NewestProject};
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
use last_days::LastDays;

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage {
    layout: Layout,
    is_ready: bool,
    reason: String,
    projects: String,
    median: String,
    slowest: String,
    version: &'static str,
    started: Timestamp,
    /// How long the node has run, in words.
    running: String,
    /// The path and the name of the newest project, and when it was added.
    newest: Option<(String, NewestProject)>,
    /// The number of events that the catalog is made from; `None` on a node without indexes of its own.
    events: Option<String>,
    /// The number of events that an index still lacks.
    behind: String,
    answers: String,
    share: String,
    /// What is on record of the last days; `None` if nothing is.
    last_days: Option<LastDays>,
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
    name: &'static str,
    route: &'static str,
    answers: String,
    median: String,
    slowest: String,
    errors: String,
    share: String,
}

pub(super) async fn status(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let (readiness, now) = (state.readiness(), state.now());
    let projections = state.projections();
    let counted = COUNTED.map(|(name, route)| (name, route, state.metrics().latency(route)));
    let sum = |of: fn(&RouteLatency) -> u64| counted.iter().map(|(.., latency)| of(latency)).sum::<u64>();
    let (answers, errors) = (sum(|latency| latency.answers), sum(|latency| latency.errors));
    let latencies: Vec<RouteRow> =
        counted.iter().map(|(name, route, latency)| RouteRow::of(name, *route, latency)).collect();
    let newest = state.newest().map(|newest| {
        let path = format!("{}{}{}", state.site().path(), route::prefix(route::PROJECT_PAGE), newest.slug);
        (path, newest)
    });
    let projects = state.models().archive().map(|archive| archive.reader.listing().listed(None));
    let rendered = page(&StatusPage {
        layout: Layout::new(&state, route::STATUS, "Status").describing(
            "Whether this service answers, what it runs and since when, and how quick it is.",
            route::STATUS,
        ),
        is_ready: readiness.ready,
        reason: readiness.reason,
        projects: projects.map_or_else(|| "–".to_owned(), grouped),
        version: env!("CARGO_PKG_VERSION"),
        started: state.started(),
        running: running(now.duration_since(state.started()).as_secs()),
        newest,
        events: projections.iter().map(|one| one.position.0).max().map(grouped),
        behind: grouped(projections.iter().map(|one| one.lag).max().unwrap_or(0)),
        answers: grouped(answers),
        share: share(answers, errors),
        last_days: LastDays::of(&state.daily_figures().up_to_now(state.metrics()).days(now)),
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
    fn of(name: &'static str, route: Route, latency: &RouteLatency) -> RouteRow {
        RouteRow {
            name,
            route: route.name(),
            answers: grouped(latency.answers),
            median: below(latency.quantile(0.5)),
            slowest: below(latency.quantile(0.99)),
            errors: grouped(latency.errors),
            share: share(latency.answers, latency.errors),
        }
    }
}

/// Formats a time in seconds in its largest whole unit.
fn running(seconds: i64) -> String {
    let (number, unit) = match seconds {
        ..60 => return "less than a minute".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// Formats the share of answers without an error of the server. It is 100 % only if there was none.
fn share(answers: u64, errors: u64) -> String {
    let good = answers.saturating_sub(errors);
    match good.saturating_mul(10_000).checked_div(answers) {
        None => "–".to_owned(),
        Some(10_000) => "100 %".to_owned(),
        Some(parts) => format!("{}.{:02} %", parts / 100, parts % 100),
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
        assert_eq!(
            [0, 59, 60, 7_199, 7_200, 86_400, 200_000].map(running),
            ["less than a minute", "less than a minute", "1 minute", "1 hour", "2 hours", "1 day", "2 days"]
        );
        let shares = [(0, 0), (7, 0), (100_000, 1), (3, 1), (2, 2)];
        assert_eq!(
            shares.map(|(answers, errors)| share(answers, errors)),
            ["–", "100 %", "99.99 %", "66.66 %", "0.00 %"]
        );
        let labels = [None, Some(0.00025), Some(0.0025), Some(1.0), Some(f64::INFINITY)].map(below);
        assert_eq!(labels, ["–", "< 250 µs", "< 2.5 ms", "< 1 s", "over 10 s"]);
    }
}
