//! OpenAPI 3.1: the REST interface.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::api::problem::Problem;
use crate::api::project::Project;
use crate::api::search::{DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARACTERS, MIN_LIMIT, SearchAnswer};
use crate::api::similar::SimilarAnswer;
use crate::api::usage::UsageAnswer;
use crate::record::Category;

pub(super) fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|s| s.definitions_path = "/components/schemas".into())
        .into_generator();
    let search = generator.subschema_for::<SearchAnswer<'_>>();
    let project = generator.subschema_for::<Project<'_>>();
    let similar = generator.subschema_for::<SimilarAnswer<'_>>();
    let usage = generator.subschema_for::<UsageAnswer>();
    let problem = generator.subschema_for::<Problem>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Loggia",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A curated catalog of architecture, interiors, design, photography and art.",
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "/v1"}],
        "paths": {
            "/search": {"get": {
                "operationId": "search",
                "summary": "Finds projects by words of name, studio, city, category and introduction",
                "parameters": search_parameters(),
                "responses": responses("A page of results, the best first.", &search, &problem, &[400, 401, 429, 503]),
            }},
            "/usage": {"get": {
                "operationId": "usage",
                "summary": "What the presented key has called in the running month; free of charge",
                "parameters": [],
                "responses": responses("The month up to now.", &usage, &problem, &[400, 401, 429, 503]),
            }},
            "/project/{slug}": {"get": {
                "operationId": "project",
                "summary": "The full record of one project, as it is, or as one of its revisions recorded it",
                "parameters": [slug_parameter(), revision_parameter(), as_of_parameter()],
                "responses": of_a_slug("The record.", &project, &problem),
            }},
            "/similar/{slug}": {"get": {
                "operationId": "similar",
                "summary": "The projects that look and read most like one project",
                "parameters": [slug_parameter(), limit_parameter()],
                "responses": of_a_slug("The nearest projects, the nearest first.", &similar, &problem),
            }},
        },
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "A key such as log_live_…; the better way."},
                "query": {"type": "apiKey", "in": "query", "name": "key", "description": "For quick tests."},
            },
        },
        "security": [{"bearer": []}, {"query": []}],
    })
}

fn search_parameters() -> Value {
    json!([
        {"name": "q", "in": "query", "required": true, "description": "Any text; words in quotes are a phrase.",
            "schema": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARACTERS}},
        {"name": "category", "in": "query", "description": "Only this category.",
            "schema": {"type": "string", "enum": Category::ALL.map(Category::as_str)}},
        limit_parameter(),
        {"name": "cursor", "in": "query", "description": "next_cursor of the page before.", "schema": {"type": "string"}},
    ])
}

fn slug_parameter() -> Value {
    json!({"name": "slug", "in": "path", "required": true,
        "schema": {"type": "string", "pattern": "^[a-z0-9-]{1,120}$"}})
}

fn revision_parameter() -> Value {
    json!({"name": "revision", "in": "query",
        "description": "The revision that is wanted. What it says never changes, and it can be read of a withdrawn project too. \
            Not together with as_of.",
        "schema": {"type": "integer", "minimum": 1}})
}

fn as_of_parameter() -> Value {
    json!({"name": "as_of", "in": "query",
        "description": "The revision is wanted that was in force at this instant (RFC 3339), or at the end of this day (UTC). \
            Not together with revision.",
        "schema": {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}})
}

fn limit_parameter() -> Value {
    json!({"name": "limit", "in": "query", "description": "How many results at most.",
        "schema": {"type": "integer", "minimum": MIN_LIMIT, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}})
}

fn responses(about: &str, schema: &schemars::Schema, problem: &schemars::Schema, errors: &[u16]) -> Value {
    let tag = || json!({"description": "Weak; send it as If-None-Match.", "schema": {"type": "string"}});
    let mut responses = json!({
        "200": {"description": about, "headers": with("ETag", tag()),
            "content": {"application/json": {"schema": schema}}},
        "304": {"description": "The answer has not changed since the ETag that was sent.",
            "headers": with("ETag", tag())},
        "default": {"description": "Any error, as RFC 9457 problem details.", "headers": headers(),
            "content": {"application/problem+json": {"schema": problem}}},
    });
    for status in errors {
        responses[status.to_string()] = json!({"description": description(*status), "headers": headers(),
            "content": {"application/problem+json": {"schema": problem}}});
    }
    responses
}

/// The responses of a path that names a project.
fn of_a_slug(about: &str, schema: &schemars::Schema, problem: &schemars::Schema) -> Value {
    let mut responses = responses(about, schema, problem, &[400, 401, 404, 410, 429, 503]);
    responses["308"] = json!({"description": "The project moved to another slug.",
        "headers": with("Location", json!({"description": "The same path under its present slug.",
            "schema": {"type": "string"}}))});
    responses
}

fn description(status: u16) -> &'static str {
    match status {
        400 => {
            "Parameters that cannot be used, all of them named; or a key in the header and another in the address."
        }
        401 => "No key was sent, or one that may not call.",
        429 => {
            "The month's calls are used up, or too many came in a short time; Retry-After says when to go on."
        }
        404 => "No project has this slug; near ones are suggested.",
        410 => "The project was withdrawn; its reason and its citation are told.",
        503 => {
            "The catalog cannot be read at present, or the answer took too long; Retry-After says when to try again."
        }
        _ => "An error.",
    }
}

/// The headers that every reply carries.
fn headers() -> Value {
    let integer = |about: &str| json!({"description": about, "schema": {"type": "integer"}});
    let text = |about: &str| json!({"description": about, "schema": {"type": "string"}});
    json!({
        "X-RateLimit-Limit": integer("Calls per UTC calendar month; 2147483647 where calls are not limited."),
        "X-RateLimit-Remaining": integer("Calls left in this month; 2147483647 where calls are not limited."),
        "X-RateLimit-Reset": integer("The month's end in Unix seconds."),
        "RateLimit-Policy": text("The same limit as the IETF draft says it: \"month\";q=limit;w=seconds of the month."),
        "RateLimit": text("What is left as the IETF draft says it: \"month\";r=calls left;t=seconds to the month's end."),
        "X-Request-Id": text("Names this very request, as the server's log and the instance of a problem do."),
    })
}

/// The headers that every reply carries, and one more.
fn with(name: &str, header: Value) -> Value {
    let mut headers = headers();
    headers[name] = header;
    headers
}
