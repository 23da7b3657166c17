//! The type of a schema in words, with every bound and the default that it states.

use serde_json::Value;

/// Describes the type of a schema in words.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = named(schema) {
        return name;
    }
    let mut words = if let Some(choices) = schema["enum"].as_array() {
        one_of(&choices.iter().map(literal).collect::<Vec<_>>())
    } else if let Some(choices) = schema["anyOf"].as_array() {
        choices.iter().map(kind).collect::<Vec<_>>().join(" or ")
    } else {
        of_type(schema)
    };
    if !schema["default"].is_null() {
        words += &format!(", default {}", literal(&schema["default"]));
    }
    words
}

/// Returns the name of the schema that a `$ref` names.
pub(super) fn named(schema: &Value) -> Option<String> {
    schema["$ref"].as_str()?.rsplit('/').next().map(str::to_owned)
}

fn of_type(schema: &Value) -> String {
    let name = match &schema["type"] {
        Value::Array(names) => names.iter().map(literal).collect::<Vec<_>>().join(" or "),
        Value::Null => "any value".to_owned(),
        name => literal(name),
    };
    if name == "array" {
        let most = schema["maxItems"].as_u64().map(|most| format!("at most {most}: ")).unwrap_or_default();
        return format!("list of {most}{}", kind(&schema["items"]));
    }
    let format = schema["format"].as_str().filter(|_| name.starts_with("string"));
    let mut parts = vec![format.map_or_else(|| name.clone(), |format| format!("{name} ({format})"))];
    parts.extend(range(&schema["minimum"], &schema["maximum"]));
    let lengths = range(&schema["minLength"], &schema["maxLength"]);
    parts.extend(lengths.map(|range| {
        let ending = if range.ends_with(" 1") { "" } else { "s" };
        format!("{range} character{ending}")
    }));
    // The pattern of a date says no more than its format.
    parts.extend(schema["pattern"].as_str().filter(|_| format.is_none()).map(pattern));
    parts.join(", ")
}

/// Describes a range that may be open at either end.
fn range(least: &Value, most: &Value) -> Option<String> {
    match (least, most) {
        (Value::Number(least), Value::Number(most)) => Some(format!("{least} to {most}")),
        (Value::Number(least), _) => Some(format!("at least {least}")),
        (_, Value::Number(most)) => Some(format!("at most {most}")),
        _ => None,
    }
}

/// Describes a pattern. The only one without an anchor asks for a character that is no white space.
fn pattern(pattern: &str) -> String {
    if pattern.starts_with('^') { format!("pattern {pattern}") } else { "not blank".to_owned() }
}

fn one_of(choices: &[String]) -> String {
    match choices {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => choices.concat(),
    }
}

/// Returns a text as it is, and another value as JSON.
fn literal(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_and_default_of_a_parameter_is_named() {
        let document = schemas::contract::openapi();
        let shown = |path: &str, name: &str| {
            let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap();
            kind(&parameters.iter().find(|one| one["name"] == name).unwrap()["schema"])
        };
        for (path, name, words) in [
            ("/search", "q", "string, 1 to 200 characters, not blank"),
            ("/search", "limit", "integer, 1 to 50, default 10"),
            ("/search", "mode", "words, meaning or both, default words"),
            ("/search", "detail", "full, concise or taste, default full"),
            ("/search", "sort", "relevance, newest, oldest, name, year_asc or year_desc, default relevance"),
            ("/search", "highlights", "boolean, default false"),
            ("/search", "material", "string, at most 200 characters"),
            ("/search", "color", "list of at most 20: string, pattern ^#?[0-9A-Fa-f]{6}$"),
            ("/search", "studio", "list of at most 20: string, 1 to 300 characters, not blank"),
            ("/search", "has_picture", "true"),
            ("/search", "year_from", "string, pattern ^[0-9]{4}$"),
            ("/search", "added_since", "string (date)"),
            ("/search", "cursor", "string, at most 200 characters, pattern ^([A-Za-z0-9_-]{20,200})?$"),
            ("/projects", "sort", "newest, oldest, name, year_asc or year_desc, default newest"),
            ("/projects", "slugs", "string, at least 1 character"),
            ("/projects", "changed_since", "string (date) or string (date-time)"),
            ("/taste", "match", "any or all, default any"),
            ("/taste", "mood", "list of at most 20: string, at most 200 characters"),
            ("/terms", "kind", "word or phrase, default word"),
            ("/terms", "near", "string, at most 100 characters"),
            ("/project/{slug}", "slug", "string, pattern ^[a-z0-9-]{1,120}$"),
            ("/project/{slug}", "revision", "integer, at least 1"),
            ("/changes", "wait", "integer, 0 to 30, default 0"),
        ] {
            assert_eq!(shown(path, name), words, "{path} {name}");
        }
    }

    #[test]
    fn schemas_of_answers_are_named() {
        let schema = serde_json::json!({"anyOf": [{"$ref": "#/components/schemas/Image"}, {"type": "null"}]});
        assert_eq!(kind(&schema), "Image or null");
        assert_eq!(
            kind(&serde_json::json!({"type": "array", "items": {"type": ["string", "null"]}})),
            "list of string or null"
        );
        assert_eq!(kind(&serde_json::json!({})), "any value");
    }
}
