//! `GET /docs`: the API reference for people, generated from the OpenAPI document.

mod operation;

use std::sync::LazyLock;

use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use schemas::api::problem::ProblemKind;
use serde_json::Value;

use super::layout::Layout;
use super::page;
use operation::{Operation, Shape};

/// Rendered once: it takes milliseconds.
static DOCUMENT: LazyLock<Value> = LazyLock::new(schemas::contract::openapi);

#[derive(Template)]
#[template(path = "docs.html")]
struct Docs {
    layout: Layout,
    operations: Vec<Operation>,
    shapes: Vec<Shape>,
    problems: Vec<(u16, &'static str, &'static str)>,
    /// An example of an error response.
    problem: String,
    revisions: String,
    tools: Vec<(&'static str, &'static str)>,
}

pub(super) async fn docs(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let document = &*DOCUMENT;
    let layout = Layout::new(&state, route::DOCS, "API")
        .describing("REST and MCP: how to call, what comes back, and what each error means.", route::DOCS);
    let problems = ProblemKind::ALL.into_iter().map(|kind| (kind.status(), kind.name(), kind.title()));
    let newest = state.newest_slug();
    page(&Docs {
        operations: Operation::all(document, state.site(), newest.as_deref().unwrap_or("slug-of-a-result")),
        shapes: Shape::all(document),
        problems: problems.collect(),
        problem: operation::pretty(
            &document["paths"]["/search"]["get"]["responses"]["400"]["content"]["application/problem+json"]["example"],
        ),
        revisions: mcp::REVISIONS.join(", "),
        tools: mcp::described_tools().collect(),
        layout,
    })
}
