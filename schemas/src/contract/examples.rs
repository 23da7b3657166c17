//! Example answers, generated from the schemas of the document, so that a new member of an answer appears in its
//! example.

use serde_json::{Map, Value, json};

use crate::api::problem::ProblemKind;
use crate::taste::Dimension;

/// The permanent page of a revision.
const CITATION: &str = "https://catalog.example.org/cite/library-at-the-ropewalk/1";

pub(super) fn of(schema: &Value, definitions: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return of(&definitions[name], definitions);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.first().map_or(Value::Null, |first| of(first, definitions));
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first(),
        kind => Some(kind),
    };
    match kind.and_then(Value::as_str) {
        Some("object") => object(schema, definitions),
        Some("array") => json!([of(&schema["items"], definitions)]),
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        _ => match schema["format"].as_str() {
            Some("date") => json!("2022-10-20"),
            Some("date-time") => json!("2026-11-20T08:00:00Z"),
            _ => json!("text"),
        },
    }
}

fn object(schema: &Value, definitions: &Value) -> Value {
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let members = schema["properties"].as_object().into_iter().flatten().filter(|(name, _)| required(name));
    let members = members.map(|(name, member)| {
        let value = known(name, member).unwrap_or_else(|| of(member, definitions));
        (name.clone(), value)
    });
    Value::Object(members.collect::<Map<_, _>>())
}

/// Returns the value for a member name, all of one project and one key. Names are unambiguous among plain values.
fn known(name: &str, schema: &Value) -> Option<Value> {
    let is_list = schema["type"] == "array";
    let text = match name {
        "query" => "brick library",
        "slug" => "library-at-the-ropewalk",
        "name" => "Library at the Ropewalk",
        "studio" => "Oxenham & Wardlaw",
        "city" => "Melbourne, Australia",
        "year" => "2020",
        "category" => "Architecture",
        "intro" => "A library that is mostly roof, with walls of pale grey brick.",
        "description" => "The reading room runs the length of the old ropewalk.",
        "design_language" => "One long roof, few materials.",
        "thumbnail" => "https://catalog.example.org/media/5e0f…/640.webp",
        "url" if schema["description"].as_str().is_some_and(|about| about.contains("WebP")) => {
            "https://catalog.example.org/media/5e0f…/1280.webp"
        }
        "url" => "https://catalog.example.org/projects/library-at-the-ropewalk",
        "citation_url" | "revision_url" => CITATION,
        "curated_by" => "Leyla Toprak",
        "selected" => "2022-10-14",
        "published" => "2022-10-20",
        "note" if schema["description"].as_str().is_some_and(|about| about.contains("curator")) => {
            "Suggested by a reader in Melbourne."
        }
        "label" => "Site area",
        "value" => "1,240 m²",
        "alt" => "The reading room from the street",
        "key_id" => "Ab3dEf9h",
        "hint" => "x7Qz",
        "tier" => "free",
        "month" => "2026-11",
        "date" => "2026-11-20",
        "resets_at" => "2026-12-01T00:00:00Z",
        name if let Some(dimension) = Dimension::parse(name) => dimension.example_text(),
        _ => {
            return match name {
                "in_archive_since" => Some(json!(2022)),
                "score" | "visual" | "semantic" => Some(json!(0.5)),
                "limit" => Some(json!(200)),
                "remaining" => Some(json!(199)),
                "width" => Some(json!(1280)),
                "height" => Some(json!(853)),
                "color_palette" => Some(json!(["#c9c4b8", "#7d6f5c"])),
                "missing_words" | "replaced" => Some(json!([])),
                _ => is_nullable(schema).then_some(Value::Null),
            };
        }
    };
    (!is_list).then(|| text.into())
}

fn is_nullable(schema: &Value) -> bool {
    let has_null =
        |kinds: &Value| kinds.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"));
    has_null(&schema["type"])
        || schema["anyOf"].as_array().is_some_and(|all| all.iter().any(|one| one["type"] == "null"))
}

/// Returns the problem that an operation mostly answers with a status, which is a number or `default`.
pub(super) fn problem(operation: &str, status: &str) -> Value {
    let (kind, detail) = problem_of(operation, status);
    let members = match kind {
        ProblemKind::InvalidParameters => json!({"errors": [{"parameter": "limit",
            "detail": "It is not an integer from 1 to 50.", "allowed": "an integer from 1 to 50"}]}),
        ProblemKind::UnknownSlug => json!({"suggestions": ["library-at-the-ropewalk"]}),
        ProblemKind::Withdrawn => json!({"reason": "The building was demolished.", "citation_url": CITATION,
            "revision_url": CITATION}),
        ProblemKind::QuotaExceeded => json!({"limit": 200, "used": 200, "resets_at": "2026-12-01T00:00:00Z",
            "upgrade_url": "https://catalog.example.org/pricing"}),
        _ => json!({}),
    };
    let mut problem = json!({
        "type": format!("https://catalog.example.org/problems/{}", kind.name()),
        "title": kind.title(),
        "status": kind.status(),
        "detail": detail,
        "instance": "/requests/472d772c0bb1e330",
    });
    if let (Some(problem), Value::Object(members)) = (problem.as_object_mut(), members) {
        problem.extend(members);
    }
    problem
}

/// Returns the kind of that problem and its detail, as the service writes it.
fn problem_of(operation: &str, status: &str) -> (ProblemKind, &'static str) {
    let is_open = matches!(operation, "cite" | "feed" | "json_feed" | "picture");
    match (operation, status) {
        (_, "401") => (
            ProblemKind::MissingKey,
            "This call needs a key. Send it as Authorization: Bearer log_live_…, or for a quick test as ?key=log_live_….",
        ),
        ("picture", "404") => {
            (ProblemKind::NotFound, "Nothing is at this path. /openapi.json lists the paths there are.")
        }
        (_, "404") => (
            ProblemKind::UnknownSlug,
            "No project has this slug. The member suggestions lists slugs that are near.",
        ),
        ("picture", "410") => (
            ProblemKind::TakenDown,
            "This picture was taken down and does not come back. Delete any copy of it that you keep.",
        ),
        ("changes", "410") => (
            ProblemKind::OtherLog,
            "The cursor was given out by another catalog, or before this one was restored from a backup. Begin again without since, \
             and delete from your copy what does not come.",
        ),
        (_, "410") => (
            ProblemKind::Withdrawn,
            "This project left the catalog; what was published of it can still be cited.",
        ),
        (_, "429") if is_open => (
            ProblemKind::TooManyRequests,
            "Too many calls came within a second. Wait as long as Retry-After says; nothing was counted.",
        ),
        (_, "429") => (
            ProblemKind::QuotaExceeded,
            "The calls of this month are used up. Wait for resets_at, or see upgrade_url for more; nothing was billed.",
        ),
        (_, "503") => {
            (ProblemKind::Unavailable, "The catalog cannot be read at present. Try again in a few seconds.")
        }
        _ => (
            ProblemKind::InvalidParameters,
            "A parameter cannot be used; the member errors says which and what is allowed.",
        ),
    }
}
