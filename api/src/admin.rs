//! The operators' listener: metrics and health. It is not part of the public interface, and no web page may reach it through an
//! operator's browser, under any host name.

mod exposition;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CONTENT_TYPE, HOST, ORIGIN, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use tokio::sync::watch;

use answers::auth::origins;
use answers::state::Readiness;

/// The state of the listener: a complete registry, the node's readiness, and the status of the process.
#[derive(Clone)]
struct Admin {
    registry: Arc<Registry>,
    readiness: watch::Receiver<Readiness>,
    status: Arc<dyn Fn() -> Value + Send + Sync>,
    /// Host names under which it answers, in lower case.
    hosts: Arc<[String]>,
}

/// Returns the router: `/metrics` in the requested text format, OpenMetrics or that of Prometheus, `/healthz`, `/readyz`, and `/status`
/// as `status` returns it. Metrics and status are only available under a plain address, localhost or one of `hosts`.
///
/// Gauges that are computed on request, such as lag, are registered as collectors ([`Registry::register_collector`]).
pub fn router(
    registry: Registry,
    readiness: watch::Receiver<Readiness>,
    status: impl Fn() -> Value + Send + Sync + 'static,
    hosts: Vec<String>,
) -> Router {
    let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
    let admin = Admin { registry: Arc::new(registry), readiness, status: Arc::new(status), hosts };
    Router::new()
        .route("/metrics", get(metrics))
        .route("/status", get(async |State(admin): State<Admin>| json(StatusCode::OK, &(admin.status)())))
        .route_layer(middleware::from_fn_with_state(admin.clone(), check_host))
        .route("/healthz", get(async || json(StatusCode::OK, &json!({"status": "ok"}))))
        .route("/readyz", get(ready))
        .with_state(admin)
}

/// Returns the router with all requests refused that a browser sends for a page of another site.
pub fn same_site_only(router: Router) -> Router {
    router.layer(middleware::from_fn(refuse_other_sites))
}

/// Refuses other host names: a page whose name resolves to this listener uses its own (DNS rebinding).
async fn check_host(State(admin): State<Admin>, request: Request, next: Next) -> Response {
    let named = |host: &str| {
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host).to_ascii_lowercase();
        admin.hosts.contains(&host)
    };
    let host = request.headers().get(HOST).map(|host| host.to_str().unwrap_or_default());
    if host.is_none_or(|host| origins::is_plain(host) || named(host)) {
        return next.run(request).await;
    }
    forbidden(
        "This listener does not accept the name in the header Host. Use its address, or set admin_hosts.",
    )
}

async fn refuse_other_sites(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let from = headers.get("sec-fetch-site");
    if headers.contains_key(ORIGIN) || from.is_some_and(|from| from != "same-origin" && from != "none") {
        return forbidden("Pages of other sites may not ask here.");
    }
    next.run(request).await
}

fn forbidden(detail: &str) -> Response {
    json(StatusCode::FORBIDDEN, &json!({"error": detail}))
}

async fn metrics(State(admin): State<Admin>, headers: HeaderMap) -> Response {
    match exposition::render(&admin.registry, exposition::Format::negotiate(&headers)) {
        Ok((kind, text)) => {
            let headers =
                [(CONTENT_TYPE, HeaderValue::from_static(kind)), (VARY, HeaderValue::from_static("accept"))];
            (headers, text).into_response()
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
