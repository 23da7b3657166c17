//! Operations and schemas of an OpenAPI document.

use serde_json::Value;

use answers::site::Site;

/// An operation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) answers: Vec<(String, String)>,
    /// The name of the response's schema.
    pub(super) shape: Option<String>,
    /// An example as a shell command.
    pub(super) example: String,
    /// An example response, if it is JSON.
    pub(super) answer: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) is_required: bool,
    pub(super) kind: String,
    pub(super) about: String,
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
    /// Returns all operations in the document's order, with examples about the project with this slug.
    pub(super) fn all(document: &Value, site: &Site, slug: &str) -> Vec<Operation> {
        let paths = document["paths"].as_object().into_iter().flatten();
        let read = |(path, item): (&String, &Value)| {
            // Operations without a key are at the root of the site.
            let keyed = item["servers"].is_null();
            let operations = item.as_object()?.iter().filter(|(_, one)| one["operationId"].is_string());
            Some(
                operations.map(|(method, one)| Operation::read(path, method, one, keyed)).collect::<Vec<_>>(),
            )
        };
        let mut operations: Vec<_> = paths.filter_map(read).flatten().collect();
        for one in &mut operations {
            one.example = one.example.replace("{site}", &site.to_string()).replace("{slug}", slug);
        }
        operations
    }

    fn read(path: &str, method: &str, operation: &Value, is_keyed: bool) -> Operation {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let answers = operation["responses"].as_object().into_iter().flatten();
        let answers = answers.map(|(status, answer)| (status.clone(), text(&answer["description"])));
        let id = text(&operation["operationId"]);
        let path = format!("{}{path}", if is_keyed { "/v1" } else { "" });
        let answer = &operation["responses"]["200"]["content"]["application/json"]["example"];
        Operation {
            example: example(&id, &path, is_keyed),
            answer: (!answer.is_null()).then(|| pretty(answer)),
            method: method.to_uppercase(),
            path,
            summary: text(&operation["summary"]),
            parameters: parameters.map(Parameter::read).collect(),
            answers: answers.collect(),
            shape: shape(&operation["responses"]["200"]["content"]["application/json"]["schema"]),
            id,
        }
    }
}

impl Parameter {
    fn read(parameter: &Value) -> Parameter {
        Parameter {
            name: text(&parameter["name"]),
            place: text(&parameter["in"]),
            is_required: parameter["required"].as_bool().unwrap_or(false),
            kind: kind(&parameter["schema"]),
            about: text(&parameter["description"]),
        }
    }
}

impl Shape {
    /// Returns every object schema with members.
    pub(super) fn all(document: &Value) -> Vec<Shape> {
        let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
        let read = |(name, schema): (&String, &Value)| {
            let members = schema["properties"].as_object()?.iter().map(|(name, member)| Member {
                name: name.clone(),
                kind: kind(member),
                about: text(&member["description"]),
            });
            Some(Shape {
                name: name.clone(),
                about: text(&schema["description"]),
                members: members.collect(),
            })
        };
        schemas.filter_map(read).collect()
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

fn example(id: &str, path: &str, is_keyed: bool) -> String {
    let query = match id {
        "search" => "?q=brick+library&limit=3",
        "similar" => "?limit=3",
        "projects" => "?category=interiors&limit=3",
        "taste" => "?material=oak&mood=calm&limit=3",
        "terms" => "?dimension=material",
        "cite" => "?format=bibtex",
        _ => "",
    };
    let path = path.replace("{revision}", "1").replace("{picture}", "5e0f…").replace("{file}", "640.webp");
    let key = if is_keyed { "-H \"Authorization: Bearer $KEY\" \\\n  " } else { "" };
    format!("curl {key}'{{site}}{path}{query}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_and_schema_of_the_document_is_shown() {
        let document = schemas::contract::openapi();
        let operations = Operation::all(&document, &"https://a.org".parse().unwrap(), "stair-house");
        let paths: Vec<_> = operations.iter().map(|one| format!("{} {}", one.method, one.path)).collect();
        assert_eq!(paths.len(), document["paths"].as_object().unwrap().len());
        let search = operations.iter().find(|one| one.id == "search").unwrap();
        assert_eq!(search.shape.as_deref(), Some("SearchAnswer"));
        let limit = search.parameters.iter().find(|one| one.name == "limit").unwrap();
        assert_eq!((limit.kind.as_str(), limit.is_required), ("integer, 1 to 50, default 10", false));
        let q = search.parameters.iter().find(|one| one.name == "q").unwrap();
        assert_eq!(q.kind, "string, 1 to 200 characters");
        assert!(search.answer.as_ref().unwrap().contains("\"total\": 1"));
        let cite = operations.iter().find(|one| one.id == "cite").unwrap();
        let call = "curl 'https://a.org/cite/stair-house/1?format=bibtex'";
        assert_eq!(
            (cite.path.as_str(), cite.example.as_str(), &cite.answer),
            ("/cite/{slug}/{revision}", call, &None)
        );
        for shape in Shape::all(&document) {
            assert!(shape.members.iter().all(|member| !member.kind.is_empty()), "{shape:?}");
        }
    }
}
