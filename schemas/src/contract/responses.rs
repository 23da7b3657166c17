//! The responses of OpenAPI operations, and the headers of each.

use serde_json::{Value, json};

/// Returns the response with a problem.
pub(super) fn refusal(about: &str, problem: &schemars::Schema) -> Value {
    json!({"description": about, "headers": headers(), "content": {"application/problem+json": {"schema": problem}}})
}

/// Returns the responses of a path: its answer, the unchanged one, and problems.
pub(super) fn responses(
    about: &str,
    schema: &schemars::Schema,
    problem: &schemars::Schema,
    errors: &[u16],
) -> Value {
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
        responses[status.to_string()] = refusal(description(*status), problem);
    }
    responses
}

/// Returns the responses of a path with a slug.
pub(super) fn of_a_slug(about: &str, schema: &schemars::Schema, problem: &schemars::Schema) -> Value {
    let mut responses = responses(about, schema, problem, &[400, 401, 404, 410, 429, 503]);
    responses["308"] = json!({"description": "The project moved to another slug.",
        "headers": with("Location", json!({"description": "The same path under its present slug.",
            "schema": {"type": "string"}}))});
    responses
}

/// Returns what a problem of this status means.
pub(super) fn description(status: u16) -> &'static str {
    match status {
        400 => {
            "Parameters that cannot be used, all of them named; or a key in the header and another in the address."
        }
        401 => "No key was sent, or one that may not call.",
        429 => {
            "The month's calls are used up, or too many came in a short time; Retry-After says when to go on."
        }
        404 => "No project has this slug; near ones are suggested.",
        410 => "The project was withdrawn; the body has its reason and citation.",
        503 => {
            "The catalog cannot be read at present, or the answer took too long; Retry-After says when to try again."
        }
        _ => "An error.",
    }
}

/// Returns the headers of every response.
pub(super) fn headers() -> Value {
    let integer = |about: &str| json!({"description": about, "schema": {"type": "integer"}});
    let text = |about: &str| json!({"description": about, "schema": {"type": "string"}});
    json!({
        "X-RateLimit-Limit": integer("Calls per UTC calendar month; 2147483647 where calls are not limited."),
        "X-RateLimit-Remaining": integer("Calls left in this month; 2147483647 where calls are not limited."),
        "X-RateLimit-Reset": integer("The month's end in Unix seconds."),
        "RateLimit-Policy": text("The same limit as the IETF draft says it: \"month\";q=limit;w=seconds of the month; and \"burst\";q=calls;w=1 where calls of a key within a second are limited."),
        "RateLimit": text("What is left as the IETF draft says it: \"month\";r=calls left;t=seconds to the month's end."),
        "X-Request-Id": text("Names this very request, as the server's log and the instance of a problem do."),
    })
}

/// Returns the headers of every response and one more.
fn with(name: &str, header: Value) -> Value {
    let mut headers = headers();
    headers[name] = header;
    headers
}
