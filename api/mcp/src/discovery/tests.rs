//! The listing of the tools as clients read it.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE_CONTRACT is not a setting of the service")]
fn the_committed_listing_has_not_drifted() {
    let mut members = Vec::new();
    tools(false, &mut members);
    let result: Value = serde_json::from_slice(&[b"{", &members[..], b"}"].concat()).unwrap();
    let listed = serde_json::to_string_pretty(&result).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/mcp.json");
    if std::env::var_os("UPDATE_CONTRACT").is_some() {
        std::fs::write(&file, &listed).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).unwrap_or_default() == listed,
        "schemas/mcp.json differs from the tools; write it with UPDATE_CONTRACT=1 cargo test -p mcp drifted"
    );
}

/// Returns an upper bound of the tokens that any common tokeniser makes of JSON: words in pieces of at most six letters, digits in
/// threes, every other character alone, a blank with what follows it.
fn tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut run = (' ', 0);
    for character in text.chars() {
        let kind = match character {
            'a'..='z' | 'A'..='Z' => 'a',
            '0'..='9' => '0',
            ' ' => ' ',
            _ => '.',
        };
        let longest = match kind {
            'a' => 6,
            '0' => 3,
            _ => 1,
        };
        if kind == ' ' {
            run = (' ', 0);
        } else if kind == run.0 && run.1 < longest {
            run.1 += 1;
        } else {
            tokens += 1;
            run = (kind, 1);
        }
    }
    tokens
}

#[test]
fn the_listing_is_short_and_every_client_can_read_it() {
    let text = table();
    let listing: Value = serde_json::from_str(text).unwrap();
    // JSON's own punctuation comes in pairs and triples that are one token each: half of the count above. It is some 15 % more than
    // what common tokenisers make (of 14,952 characters 3,676 tokens of o200k_base), and they may make at most 4,000.
    let (words, marks): (String, String) =
        text.chars().partition(|c| c.is_alphanumeric() || *c == ' ' || *c == '_');
    let most = tokens(&words.replace('_', " ")) + marks.chars().count() / 2;
    assert!(most < 4_600 && text.chars().count() < 16_000, "{most} tokens, {} bytes", text.len());

    let names: Vec<&str> =
        listing.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>());
    for tool in listing.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let writes = name == "get_api_key";
        assert_eq!(
            tool["annotations"],
            json!({
                "title": tool["title"], "readOnlyHint": !writes, "destructiveHint": false,
                "idempotentHint": !writes, "openWorldHint": false,
            })
        );
        assert!(tool["description"].as_str().unwrap().starts_with("Use this "), "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert_flat(&tool[schema], name);
            assert_typed(&tool[schema], name);
        }
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        assert!(properties.values().all(|one| one["type"].is_string()), "{name}");
    }
    assert_eq!(listing[8]["inputSchema"]["required"], json!(["query"]), "connectors ask with one argument");
    assert_eq!(listing[9]["inputSchema"]["required"], json!(["id"]));
}

/// Asserts that every member has a type.
fn assert_typed(schema: &Value, tool: &str) {
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        assert!(member["type"].is_string() || member["type"].is_array(), "{tool}: {name} is {member}");
        assert_typed(member, tool);
        if let Some(items) = member.get("items") {
            assert!(items["type"].is_string(), "{tool}: {name}");
            assert_typed(items, tool);
        }
    }
}

/// Asserts that there are no references, alternatives and formats, and no list of types but of one and null: each of them breaks
/// some client.
fn assert_flat(schema: &Value, tool: &str) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                assert!(
                    !["$ref", "$defs", "anyOf", "oneOf", "allOf", "format"].contains(&name.as_str()),
                    "{tool}: {name}"
                );
                let or_null = value.as_array().is_some_and(|types| types.len() == 2 && types[1] == "null");
                assert!(
                    name != "type" || value.is_string() || value.is_object() || or_null,
                    "{tool}: {value}"
                );
                assert_flat(value, tool);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| assert_flat(value, tool)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
