//! Converts OpenAPI 3.1 to OpenAPI 3.0, for code generators that support only that.
//!
//! The two differ in their schemas: 3.0 has no type lists and no `null` (it has `nullable`), nothing beside a `$ref`, no
//! `const`, and one `example` in place of `examples`.

use serde_json::{Map, Value, json};

/// Returns the same document as OpenAPI 3.0.
pub(super) fn lowered(mut document: Value) -> Value {
    document["openapi"] = json!("3.0.3");
    if let Some(license) = document["info"]["license"].as_object_mut() {
        // 3.0 has no licence identifiers.
        license.remove("identifier");
    }
    lower(&mut document);
    document
}

fn lower(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(lower),
        Value::Object(members) => {
            // An example is data, not a schema.
            for (_, member) in
                members.iter_mut().filter(|(name, _)| !matches!(name.as_str(), "example" | "examples"))
            {
                lower(member);
            }
            nullable(members);
            if let Some(only) = members.shift_remove("const") {
                members.insert("enum".into(), json!([only]));
            }
            // In these documents `$ref` is never the name of a property.
            if members.len() > 1
                && let Some(reference) = members.shift_remove("$ref")
            {
                members.insert("allOf".into(), json!([{"$ref": reference}]));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Marks a schema as nullable in the form of 3.0.
fn nullable(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = schema.get("type") {
        let is_nullable = kinds.iter().any(|kind| kind == "null");
        let kinds: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
        match <[Value; 1]>::try_from(kinds) {
            Ok([kind]) => {
                schema.insert("type".into(), kind);
            }
            Err(kinds) => {
                schema.shift_remove("type");
                let each = kinds.into_iter().map(|kind| json!({"type": kind}));
                schema.insert("anyOf".into(), each.collect());
            }
        }
        if is_nullable {
            schema.insert("nullable".into(), json!(true));
        }
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else { return };
    let before = choices.len();
    choices.retain(|choice| choice["type"] != "null");
    if choices.len() == before {
        return;
    }
    schema.insert("nullable".into(), json!(true));
    let Some(Value::Array(choices)) = schema.shift_remove("anyOf") else { return };
    match <[Value; 1]>::try_from(choices) {
        // A `$ref` allows no sibling keywords in 3.0, so it becomes the only item of an `allOf`.
        Ok([only]) if only.get("$ref").is_some() => {
            schema.insert("allOf".into(), json!([only]));
        }
        Ok([Value::Object(only)]) => schema.extend(only),
        Ok([only]) => {
            schema.insert("allOf".into(), json!([only]));
        }
        Err(choices) => {
            schema.insert("anyOf".into(), choices.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_types_become_nullable() {
        for (given, expected) in [
            (
                json!({"type": ["string", "null"], "format": "date"}),
                json!({"type": "string", "format": "date", "nullable": true}),
            ),
            (
                json!({"description": "d", "anyOf": [{"$ref": "#/a"}, {"type": "null"}]}),
                json!({"description": "d", "nullable": true, "allOf": [{"$ref": "#/a"}]}),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": true}),
            ),
            (
                json!({"$ref": "#/a", "description": "d"}),
                json!({"description": "d", "allOf": [{"$ref": "#/a"}]}),
            ),
            (json!({"$ref": "#/a"}), json!({"$ref": "#/a"})),
            (json!({"const": "a"}), json!({"enum": ["a"]})),
            (json!({"example": {"type": ["a", "null"]}}), json!({"example": {"type": ["a", "null"]}})),
        ] {
            let mut lowered = given.clone();
            lower(&mut lowered);
            assert_eq!(lowered, expected, "{given}");
        }
    }

    #[test]
    fn no_keyword_of_3_1_is_left() {
        let document = lowered(super::super::openapi::document());
        assert_eq!(
            (&document["openapi"], &document["paths"]["/search"]["get"]["operationId"]),
            (&json!("3.0.3"), &json!("search"))
        );
        let text = document.to_string();
        for word in [r#""type":["#, r#""type":"null""#, r#""const":"#, r#""identifier":"#] {
            assert!(!text.contains(word), "{word}");
        }
        assert!(text.contains(r#""nullable":true"#));
    }
}
