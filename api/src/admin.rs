//! The operators' listener: metrics and health. It is no part of the public interface, and browsers of other sites
//! may not read it.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::state::Readiness;

/// Answers from a registry that is complete, the node's readiness, and what else the process says of itself.
#[derive(Clone)]
struct Admin {
    registry: Arc<Registry>,
    readiness: watch::Receiver<Readiness>,
    status: Arc<dyn Fn() -> Value + Send + Sync>,
}

/// `/metrics` in the OpenMetrics text format, `/healthz`, `/readyz`, and `/status` as the closure tells it.
///
/// Gauges that are read off at the moment of asking, such as lag, are registered as collectors
/// ([`Registry::register_collector`]).
pub fn router(
    registry: Registry,
    readiness: watch::Receiver<Readiness>,
    status: impl Fn() -> Value + Send + Sync + 'static,
) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(async || json(StatusCode::OK, &json!({"status": "ok"}))))
        .route("/readyz", get(ready))
        .route("/status", get(async |State(admin): State<Admin>| json(StatusCode::OK, &(admin.status)())))
        .with_state(Admin { registry: Arc::new(registry), readiness, status: Arc::new(status) })
}

async fn metrics(State(admin): State<Admin>) -> Response {
    let mut text = String::with_capacity(16 * 1024);
    match prometheus_client::encoding::text::encode(&mut text, &admin.registry) {
        Ok(()) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "the metrics could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn ready(State(admin): State<Admin>) -> Response {
    let readiness = admin.readiness.borrow().clone();
    if readiness.ready {
        json(StatusCode::OK, &json!({"status": "ready"}))
    } else {
        let body = json!({"status": "not ready", "reason": readiness.reason});
        json(StatusCode::SERVICE_UNAVAILABLE, &body)
    }
}

fn json(status: StatusCode, value: &Value) -> Response {
    let kind = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status, kind, value.to_string()).into_response()
}
