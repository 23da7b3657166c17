//! `GET /docs` and its topics: the API reference for people, generated from the OpenAPI document, with examples from this catalog.

mod bounds;
mod example;
mod operation;
mod topic;

use std::sync::LazyLock;

use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use futures::future::join_all;
use schemas::api::problem::ProblemKind;
use serde_json::Value;

use super::code::Code;
use super::layout::Layout;
use super::page;
pub(crate) use example::Endpoints;
use example::{Example, Subject};
use operation::{Operation, Shape};
use topic::{TOPICS, Topic};

/// Rendered once: it takes milliseconds.
static DOCUMENT: LazyLock<Value> = LazyLock::new(schemas::contract::openapi);

#[derive(Template)]
#[template(path = "docs.html")]
struct Overview {
    layout: Layout,
    topics: &'static [Topic],
    example: Shown,
}

#[derive(Template)]
#[template(path = "docs_topic.html")]
struct TopicPage {
    layout: Layout,
    topics: &'static [Topic],
    topic: &'static Topic,
    operations: Vec<Shown>,
    shapes: Vec<Shape>,
    problems: Vec<(u16, &'static str, &'static str)>,
    /// An example of an error response.
    problem: String,
    revisions: String,
    tools: Vec<(&'static str, &'static str)>,
}

/// An operation with an example call.
struct Shown {
    operation: Operation,
    example: Example,
    /// The example in each language.
    code: Vec<Code>,
    /// The answer to the example, if it is JSON or text.
    answer: Option<String>,
}

impl Shown {
    async fn new(
        operation: Operation,
        subject: &Subject,
        endpoints: &Endpoints,
        layout: &Layout,
        state: &ApiState,
    ) -> Shown {
        let example = Example::of(&operation, subject);
        let code = example.code(state.site(), layout.has_keys);
        // The usage of a key is not that of this catalog: its example is made up.
        let answer = match operation.id.as_str() {
            "usage" => None,
            _ => endpoints.answer(&example.target()).await,
        };
        Shown { answer: answer.or_else(|| operation.answer.clone()), operation, example, code }
    }

    async fn all(ids: &[&str], endpoints: &Endpoints, layout: &Layout, state: &ApiState) -> Vec<Shown> {
        let subject = Subject::newest(state, endpoints).await;
        let operations = Operation::of(&DOCUMENT, ids).into_iter();
        join_all(operations.map(|operation| Shown::new(operation, &subject, endpoints, layout, state))).await
    }
}

pub(super) async fn overview(
    State(state): State<ApiState>,
    Extension(endpoints): Extension<Endpoints>,
) -> Result<Response, ApiError> {
    let layout = Layout::new(&state, route::DOCS, "API")
        .describing("REST and MCP: how to call, what comes back, and what each error means.", route::DOCS);
    let mut shown = Shown::all(&["search"], &endpoints, &layout, &state).await;
    let example = shown.pop().ok_or_else(|| ApiError::internal("the OpenAPI document has no search"))?;
    page(&Overview { layout, topics: &TOPICS, example })
}

pub(super) async fn topic(
    State(state): State<ApiState>,
    Extension(endpoints): Extension<Endpoints>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let topic = TOPICS.iter().find(|topic| topic.id == id).ok_or_else(ApiError::not_found)?;
    let layout = Layout::new(&state, route::DOCS, format!("{}: API", topic.title))
        .describing(topic.about, &format!("{}/{id}", route::DOCS));
    let problems = ProblemKind::ALL.into_iter().map(|kind| (kind.status(), kind.name(), kind.title()));
    let example = &DOCUMENT["paths"]["/search"]["get"]["responses"]["400"]["content"]["application/problem+json"]
        ["example"];
    page(&TopicPage {
        topics: &TOPICS,
        operations: Shown::all(topic.operations, &endpoints, &layout, &state).await,
        shapes: Shape::reached_from(&DOCUMENT, topic.operations),
        problems: problems.collect(),
        problem: operation::pretty(example),
        revisions: mcp::REVISIONS.join(", "),
        tools: mcp::described_tools().collect(),
        topic,
        layout,
    })
}

/// Returns the paths of the pages of the reference.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    let topics = TOPICS.iter().map(|topic| format!("{}/{}", route::DOCS, topic.id));
    std::iter::once(route::DOCS.to_owned()).chain(topics)
}
