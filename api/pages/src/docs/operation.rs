//! Operations and schemas of an OpenAPI document.

use schemas::api::problem::ProblemKind;
use serde_json::Value;

use super::bounds::{kind, named};

/// The parameters that filter every list.
const FILTERS: [&str; 12] = [
    "category",
    "city",
    "studio",
    "curator",
    "place",
    "year_from",
    "year_to",
    "has_picture",
    "color",
    "added_since",
    "selected_from",
    "selected_to",
];

/// An operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) id: String,
    /// The path below the site, with parameters in braces.
    pub(super) path: String,
    /// Whether calls need a key, where keys are in use.
    pub(super) is_keyed: bool,
    pub(super) summary: String,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    /// Parameters that other lists have too.
    pub(super) filters: Vec<Parameter>,
    /// Its responses, by ascending status.
    pub(super) answers: Vec<Answer>,
    /// The name of the response's schema.
    pub(super) shape: Option<String>,
    /// An example response, if it is JSON.
    pub(super) answer: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) is_required: bool,
    pub(super) kind: String,
    pub(super) about: String,
    /// The values to choose from, if they are few.
    pub(super) choices: Vec<String>,
}

/// A response of an operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The status, or `default`.
    pub(super) status: String,
    pub(super) about: String,
    /// What it may be, if it is an error.
    pub(super) problems: &'static [ProblemKind],
    /// An example of its body, if it is an error.
    pub(super) example: Option<String>,
}

/// A schema of an object in responses.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) about: String,
}

impl Operation {
    /// Returns the operations with these ids, in their order.
    pub(super) fn of(document: &Value, ids: &[&str]) -> Vec<Operation> {
        let paths = document["paths"].as_object().into_iter().flatten();
        let all: Vec<(&String, bool, &Value)> = paths
            .flat_map(|(path, item)| {
                // Operations without a key are at the root of the site.
                let is_keyed = item["servers"].is_null();
                item.as_object().into_iter().flatten().map(move |(_, one)| (path, is_keyed, one))
            })
            .collect();
        let found = ids.iter().filter_map(|id| all.iter().find(|(.., one)| one["operationId"] == *id));
        found.map(|(path, is_keyed, one)| Operation::read(path, one, *is_keyed)).collect()
    }

    fn read(path: &str, operation: &Value, is_keyed: bool) -> Operation {
        let parameters = operation["parameters"].as_array().into_iter().flatten().map(Parameter::read);
        let is_filter = |one: &Parameter| FILTERS.contains(&one.name.as_str());
        let (filters, parameters): (Vec<_>, Vec<_>) = parameters.partition(is_filter);
        // A single filter is no group.
        let (filters, parameters) = match filters.len() {
            0 | 1 => (Vec::new(), filters.into_iter().chain(parameters).collect()),
            _ => (filters, parameters),
        };
        let id = text(&operation["operationId"]);
        let answers = operation["responses"].as_object().into_iter().flatten();
        let answers = answers.map(|(status, answer)| Answer::read(&id, status, answer));
        let mut answers: Vec<Answer> = answers.collect();
        // Digits stand before "default".
        answers.sort_unstable_by(|one, other| one.status.cmp(&other.status));
        let json = &operation["responses"]["200"]["content"]["application/json"];
        Operation {
            id,
            path: format!("{}{path}", if is_keyed { "/v1" } else { "" }),
            is_keyed,
            summary: text(&operation["summary"]),
            description: text(&operation["description"]),
            parameters,
            filters,
            answers,
            shape: shape(&json["schema"]),
            answer: (!json["example"].is_null()).then(|| pretty(&json["example"])),
        }
    }
}

impl Answer {
    fn read(operation: &str, status: &str, answer: &Value) -> Answer {
        let example = &answer["content"]["application/problem+json"]["example"];
        Answer {
            status: status.to_owned(),
            about: text(&answer["description"]),
            problems: problems(operation, status),
            example: (!example.is_null() && status != "default").then(|| pretty(example)),
        }
    }
}

/// Returns the problems that an operation answers with a status.
fn problems(operation: &str, status: &str) -> &'static [ProblemKind] {
    use ProblemKind as Kind;
    match (operation, status) {
        ("cite" | "picture" | "feed" | "json_feed", "400") => &[Kind::InvalidParameters],
        (_, "400") => &[Kind::InvalidParameters, Kind::AmbiguousKey],
        (_, "401") => &[Kind::MissingKey, Kind::InvalidKey],
        ("picture", "404") => &[Kind::NotFound],
        ("project" | "cite", "404") => &[Kind::UnknownSlug, Kind::NotFound],
        (_, "404") => &[Kind::UnknownSlug],
        ("picture", "410") => &[Kind::TakenDown],
        ("changes", "410") => &[Kind::OtherLog],
        (_, "410") => &[Kind::Withdrawn],
        ("cite" | "picture" | "feed" | "json_feed", "429") => &[Kind::TooManyRequests],
        (_, "429") => &[Kind::QuotaExceeded, Kind::TooManyRequests],
        (_, "503") => &[Kind::Unavailable, Kind::Timeout],
        _ => &[],
    }
}

impl Parameter {
    fn read(parameter: &Value) -> Parameter {
        let schema = &parameter["schema"];
        let of_one = if schema["type"] == "array" { &schema["items"] } else { schema };
        Parameter {
            name: text(&parameter["name"]),
            is_required: parameter["required"].as_bool().unwrap_or(false),
            kind: kind(schema),
            about: text(&parameter["description"]),
            choices: of_one["enum"].as_array().into_iter().flatten().map(text).collect(),
        }
    }
}

impl Shape {
    /// Returns the object schemas of these responses and those that they refer to, each once.
    pub(super) fn reached_from(document: &Value, ids: &[&str]) -> Vec<Shape> {
        let schemas = &document["components"]["schemas"];
        let mut names = Vec::new();
        let items = document["paths"].as_object().into_iter().flatten();
        let all: Vec<&Value> =
            items.flat_map(|(_, item)| item.as_object().into_iter().flat_map(|one| one.values())).collect();
        for id in ids {
            let operation = all.iter().find(|one| one["operationId"] == *id);
            let responses = operation.map(|one| &one["responses"]["200"]);
            responses.into_iter().for_each(|response| collect_names(response, schemas, &mut names));
        }
        names.into_iter().filter_map(|name| Shape::read(&name, &schemas[&name])).collect()
    }

    /// Returns a schema with members, `None` for another one.
    fn read(name: &str, schema: &Value) -> Option<Shape> {
        let members = schema["properties"].as_object()?.iter().map(|(name, member)| Member {
            name: name.clone(),
            kind: kind(member),
            about: text(&member["description"]),
        });
        Some(Shape { name: name.to_owned(), about: text(&schema["description"]), members: members.collect() })
    }
}

/// Adds the names of the schemas that a value refers to, directly or through others.
fn collect_names(value: &Value, schemas: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let Some(name) = named(value)
                && !names.contains(&name)
            {
                names.push(name.clone());
                collect_names(&schemas[&name], schemas, names);
            }
            let members = members.iter().filter(|(name, _)| !matches!(name.as_str(), "example" | "headers"));
            members.for_each(|(_, member)| collect_names(member, schemas, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_names(item, schemas, names)),
        _ => {}
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the name of an answer's schema; of several the first.
fn shape(schema: &Value) -> Option<String> {
    named(schema).or_else(|| named(&schema["anyOf"][0]))
}

/// Formats JSON over several lines.
pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use answers::error::{ApiError, fault};

    use super::*;

    #[test]
    fn an_operation_is_shown_with_its_defaults_and_bounds() {
        let document = schemas::contract::openapi();
        let [search, cite]: [Operation; 2] =
            Operation::of(&document, &["search", "cite"]).try_into().unwrap();
        assert_eq!((search.path.as_str(), search.is_keyed), ("/v1/search", true));
        assert_eq!(search.shape.as_deref(), Some("SearchAnswer"));
        let limit = search.parameters.iter().find(|one| one.name == "limit").unwrap();
        assert_eq!((limit.kind.as_str(), limit.is_required), ("integer, 1 to 50, default 10", false));
        let q = search.parameters.iter().find(|one| one.name == "q").unwrap();
        assert_eq!(q.kind, "string, 1 to 200 characters, not blank");
        assert!(search.answer.as_ref().unwrap().contains("\"total\": 1"));
        let names: Vec<&str> = search.filters.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, FILTERS);
        assert_eq!(search.filters[0].choices.len(), 5);
        let names: Vec<&str> = cite.parameters.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["slug", "revision", "format", "accessed"]);
        assert_eq!((cite.path.as_str(), cite.answer), ("/cite/{slug}/{revision}", None));
    }

    #[test]
    fn each_error_of_an_operation_has_its_problems_and_an_example() {
        let document = schemas::contract::openapi();
        let [project, picture, changes]: [Operation; 3] =
            Operation::of(&document, &["project", "picture", "changes"]).try_into().unwrap();
        let names = |operation: &Operation| -> Vec<String> {
            let named = operation.answers.iter().map(|answer| {
                let kinds: Vec<&str> = answer.problems.iter().map(|kind| kind.name()).collect();
                format!("{} {}", answer.status, kinds.join(" "))
            });
            named.collect()
        };
        assert_eq!(
            names(&project),
            [
                "200 ",
                "304 ",
                "308 ",
                "400 invalid-parameters ambiguous-key",
                "401 missing-key invalid-key",
                "404 unknown-slug not-found",
                "410 withdrawn",
                "429 quota-exceeded too-many-requests",
                "503 unavailable timeout",
                "default "
            ]
        );
        assert_eq!(
            names(&picture)[1..],
            ["404 not-found", "410 taken-down", "503 unavailable timeout", "default "]
        );
        assert!(names(&changes).contains(&"410 other-log".to_owned()));
        for operation in [&project, &picture, &changes] {
            for answer in operation.answers.iter().filter(|answer| !answer.problems.is_empty()) {
                let example: Value = serde_json::from_str(answer.example.as_ref().unwrap()).unwrap();
                let kind = answer.problems[0];
                assert_eq!(example["status"].to_string(), answer.status, "{}", operation.id);
                assert_eq!(example["title"], kind.title(), "{}", operation.id);
                assert!(example["type"].as_str().unwrap().ends_with(&format!("/{}", kind.name())));
            }
        }
    }

    #[test]
    fn example_problems_say_what_the_service_says() {
        let document = schemas::contract::openapi();
        let day = "2026-12-01T00:00:00Z".parse().unwrap();
        let text = String::new;
        for (path, status, error) in [
            ("/search", "400", ApiError::invalid_parameters(vec![fault("limit", "", "")])),
            ("/search", "401", ApiError::missing_key()),
            ("/search", "429", ApiError::quota_exceeded(200, 200, day, day)),
            ("/search", "503", ApiError::unavailable_because("")),
            ("/feed.atom", "429", ApiError::too_many_requests(Duration::ZERO)),
            ("/project/{slug}", "404", ApiError::unknown_slug(vec!["a".to_owned()])),
            ("/project/{slug}", "410", ApiError::withdrawn(text(), text(), text())),
            ("/media/{picture}/{file}", "404", ApiError::not_found()),
            ("/media/{picture}/{file}", "410", ApiError::taken_down()),
            ("/changes", "410", ApiError::other_log()),
        ] {
            let answer = &document["paths"][path]["get"]["responses"][status];
            let example = &answer["content"]["application/problem+json"]["example"];
            assert_eq!(example["detail"], error.into_detail().as_ref(), "{path} {status}");
        }
    }

    #[test]
    fn shapes_are_those_that_an_answer_refers_to() {
        let document = schemas::contract::openapi();
        let shapes = Shape::reached_from(&document, &["project"]);
        let names: Vec<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
        assert_eq!(names.first(), Some(&"Project"));
        assert!(names.contains(&"Image") && !names.contains(&"SearchAnswer"), "{names:?}");
        assert!(shapes.iter().flat_map(|shape| &shape.members).all(|member| !member.kind.is_empty()));
        assert!(Shape::reached_from(&document, &["picture"]).is_empty());
    }
}
