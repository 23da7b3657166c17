//! Operations and schemas of an OpenAPI document.

use serde_json::Value;

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
    /// The statuses of its responses, ascending, and what each means.
    pub(super) answers: Vec<(String, String)>,
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
        let answers = operation["responses"].as_object().into_iter().flatten();
        let mut answers: Vec<(String, String)> =
            answers.map(|(status, answer)| (status.clone(), text(&answer["description"]))).collect();
        // Digits stand before "default".
        answers.sort_unstable();
        let json = &operation["responses"]["200"]["content"]["application/json"];
        Operation {
            id: text(&operation["operationId"]),
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

/// Returns the name of the schema that a `$ref` names.
fn named(schema: &Value) -> Option<String> {
    schema["$ref"].as_str()?.rsplit('/').next().map(str::to_owned)
}

/// Returns the name of an answer's schema; of several the first.
fn shape(schema: &Value) -> Option<String> {
    named(schema).or_else(|| named(&schema["anyOf"][0]))
}

/// Describes the type of a schema in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = named(schema) {
        return name;
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices.iter().map(text).collect::<Vec<_>>().join(", ");
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    let name = match &schema["type"] {
        Value::Array(names) => names.iter().map(text).collect::<Vec<_>>().join(" or "),
        Value::Null => "any value".to_owned(),
        name => text(name),
    };
    let bounds = |least: &str, most: &str| match (&schema[least], &schema[most]) {
        (Value::Number(least), Value::Number(most)) => Some(format!("{least} to {most}")),
        _ => None,
    };
    let mut words = match (name.as_str(), bounds("minimum", "maximum"), bounds("minLength", "maxLength")) {
        ("array", ..) => format!("list of {}", kind(&schema["items"])),
        (_, Some(range), _) => format!("{name}, {range}"),
        (_, None, Some(range)) => format!("{name}, {range} characters"),
        _ => match schema["format"].as_str().filter(|_| name.starts_with("string")) {
            Some(format) => format!("{name} ({format})"),
            None => name,
        },
    };
    if let Value::Number(default) = &schema["default"] {
        words += &format!(", default {default}");
    }
    words
}

/// Formats JSON over several lines.
pub(super) fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
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
        assert_eq!(q.kind, "string, 1 to 200 characters");
        assert!(search.answer.as_ref().unwrap().contains("\"total\": 1"));
        let names: Vec<&str> = search.filters.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, FILTERS);
        assert_eq!(search.filters[0].choices.len(), 5);
        assert_eq!(search.answers.first().map(|(status, _)| status.as_str()), Some("200"));
        assert_eq!(search.answers.last().map(|(status, _)| status.as_str()), Some("default"));
        let names: Vec<&str> = cite.parameters.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["slug", "revision", "format", "accessed"]);
        assert_eq!((cite.path.as_str(), cite.answer), ("/cite/{slug}/{revision}", None));
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
