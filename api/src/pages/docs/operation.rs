//! Operations and shapes, read out of an OpenAPI document.

use serde_json::Value;

use crate::site::Site;

/// A path with its method.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) answers: Vec<(String, String)>,
    /// The name of what comes back.
    pub(super) shape: Option<String>,
    pub(super) example: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) is_required: bool,
    pub(super) kind: String,
    pub(super) about: String,
}

/// An object that answers are made of.
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
    /// All of them, in the order of the document.
    pub(super) fn all(document: &Value, site: &Site) -> Vec<Operation> {
        let paths = document["paths"].as_object().into_iter().flatten();
        let read = |(path, item): (&String, &Value)| {
            let operations = item.as_object()?.iter().filter(|(_, one)| one["operationId"].is_string());
            Some(operations.map(|(method, one)| Operation::read(path, method, one, site)).collect::<Vec<_>>())
        };
        paths.filter_map(read).flatten().collect()
    }

    fn read(path: &str, method: &str, operation: &Value, site: &Site) -> Operation {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let answers = operation["responses"].as_object().into_iter().flatten();
        let answers = answers.map(|(status, answer)| (status.clone(), text(&answer["description"])));
        let id = text(&operation["operationId"]);
        Operation {
            example: example(&id, path, site),
            method: method.to_uppercase(),
            path: format!("/v1{path}"),
            summary: text(&operation["summary"]),
            parameters: parameters.map(Parameter::read).collect(),
            answers: answers.collect(),
            shape: named(&operation["responses"]["200"]["content"]["application/json"]["schema"]),
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
    /// Every object that has members.
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

/// The name of a shape that a schema refers to.
fn named(schema: &Value) -> Option<String> {
    schema["$ref"].as_str()?.rsplit('/').next().map(str::to_owned)
}

/// What a schema takes, in words.
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
    match (name.as_str(), &schema["minimum"], &schema["maximum"]) {
        ("array", ..) => format!("list of {}", kind(&schema["items"])),
        (_, Value::Number(least), Value::Number(most)) => format!("{name}, {least} to {most}"),
        _ => match schema["format"].as_str().filter(|_| name.starts_with("string")) {
            Some(format) => format!("{name} ({format})"),
            None => name,
        },
    }
}

fn example(id: &str, path: &str, site: &Site) -> String {
    let query = match id {
        "search" => "?q=brick+library&limit=3",
        "similar" => "?limit=3",
        _ => "",
    };
    let path = path.replace("{slug}", "library-at-the-ropewalk");
    format!("curl -H \"Authorization: Bearer $KEY\" \\\n  '{site}/v1{path}{query}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_and_shape_of_the_document_is_told() {
        let document: Value = serde_json::from_str(&schemas::contract::openapi()).unwrap();
        let operations = Operation::all(&document, &"https://a.org".parse().unwrap());
        let paths: Vec<_> = operations.iter().map(|one| format!("{} {}", one.method, one.path)).collect();
        assert_eq!(paths.len(), document["paths"].as_object().unwrap().len());
        let search = operations.iter().find(|one| one.id == "search").unwrap();
        assert_eq!(search.shape.as_deref(), Some("SearchAnswer"));
        let limit = search.parameters.iter().find(|one| one.name == "limit").unwrap();
        assert_eq!((limit.kind.as_str(), limit.is_required), ("integer, 1 to 50", false));
        for shape in Shape::all(&document) {
            assert!(shape.members.iter().all(|member| !member.kind.is_empty()), "{shape:?}");
        }
    }
}
