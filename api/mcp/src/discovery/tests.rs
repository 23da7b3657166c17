//! The listing of the tools as clients read it.

use std::path::Path;

use answers::catalog::examples::LONGEST;
use serde_json::{Value, json};

use super::*;

#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE_CONTRACT is not a setting of the service")]
fn the_committed_listing_has_not_drifted() {
    let mut members = Vec::new();
    tools(&Examples::default(), false, &mut members);
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

/// The maximum length in characters of the answer to `tools/list`. In this JSON a token of common tokenisers has four characters or more
/// (o200k_base, cl100k_base): it is less than 4,000 tokens.
const LONGEST_LISTING: usize = 16_000;

/// Returns the answer to `tools/list` with these examples.
fn listed(examples: &Examples) -> Value {
    let mut members = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","#.to_vec();
    tools(examples, true, &mut members);
    members.extend_from_slice(b"}}");
    let text = String::from_utf8(members).unwrap();
    let length = text.chars().count();
    assert!(length < LONGEST_LISTING, "{length} characters");
    serde_json::from_str::<Value>(&text).unwrap()["result"]["tools"].take()
}

#[test]
fn descriptions_have_examples_of_the_catalog() {
    let examples = Examples {
        city: "Zürich, Switzerland".into(),
        place: "Switzerland".into(),
        studio: "Atelier Łoś".into(),
        curator: "Ada".into(),
        year: "1998".into(),
        day: "2026-11-20".into(),
        words: ["larch", "dusk", "honey", "quiet", "nave", "school"].map(str::to_owned),
    };
    let tools = listed(&examples);
    let described = |tool: usize, name: &str| {
        let text = tools[tool]["inputSchema"]["properties"][name]["description"].as_str().unwrap();
        text.to_owned()
    };
    for (tool, name, expected) in [
        (0, "city", "Whole value, e.g. Zürich, Switzerland; alternatives with |"),
        (0, "place", "Town or country, e.g. Switzerland"),
        (0, "studio", "Whole name, e.g. Atelier Łoś"),
        (0, "curator", "Who selected it, e.g. Ada"),
        (0, "year_from", "e.g. 1998"),
        (0, "added_since", "Day, e.g. 2026-11-20"),
        (0, "facets", "To count, e.g. city,year,material"),
        (
            0,
            "sort",
            "newest, oldest: by day of publication; year_asc, year_desc: by the project's year, unknown last",
        ),
        (1, "material", "e.g. larch"),
        (1, "color", "e.g. honey, or #rrggbb: a filter"),
        (1, "subject", "e.g. school"),
        (2, "city", "e.g. Zürich, Switzerland"),
        (2, "sort", "newest, oldest: day of publication; year_*: project's year"),
    ] {
        assert_eq!(described(tool, name), expected, "{name}");
    }
}

#[test]
fn every_argument_is_described() {
    let mut examples = Examples::default();
    let without = listed(&examples);
    // The longest values in place of all of them.
    let longest = || "é".repeat(LONGEST);
    examples = Examples {
        city: longest(),
        place: longest(),
        studio: longest(),
        curator: longest(),
        words: std::array::from_fn(|_| longest()),
        ..examples
    };
    for tools in [without, listed(&examples)] {
        for tool in tools.as_array().unwrap() {
            for (name, argument) in tool["inputSchema"]["properties"].as_object().unwrap() {
                let text = argument["description"].as_str().unwrap_or_default();
                let is_one_line = !text.is_empty() && !text.contains(['\n', '{', '}']);
                assert!(is_one_line, "{}: {name}: {text:?}", tool["name"]);
            }
        }
    }
}

#[test]
fn every_client_can_read_the_listing() {
    let listing = listed(&Examples::default());
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
