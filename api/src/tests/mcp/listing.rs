//! The tools as clients see them.

use std::path::Path;

use super::*;

/// The listing as it is committed, so that a change of it is seen.
#[tokio::test]
async fn the_committed_listing_has_not_drifted() {
    let node = Node::start_empty().await;
    let answer = node.post("", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.json();
    let listed = serde_json::to_string_pretty(&answer["result"]).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/mcp.json");
    if std::env::var_os("UPDATE_CONTRACT").is_some() {
        std::fs::write(&file, &listed).unwrap();
    }
    assert!(
        std::fs::read_to_string(&file).unwrap_or_default() == listed,
        "schemas/mcp.json is not what the tools say; write it with UPDATE_CONTRACT=1 cargo test -p api"
    );
}

/// No fewer tokens than any tokeniser in use makes of JSON: words in pieces of at most six letters, digits in threes, every
/// other character alone, a blank with what follows it.
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

#[tokio::test]
async fn the_listing_is_short_and_every_client_can_read_it() {
    let node = Node::start_empty().await;
    let reply = node.post("", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let listing = reply.json()["result"]["tools"].take();
    // JSON's own punctuation comes in pairs and triples that are one token each: half of the count above.
    let (words, marks): (String, String) =
        reply.text().chars().partition(|c| c.is_alphanumeric() || *c == ' ' || *c == '_');
    let most = tokens(&words.replace('_', " ")) + marks.chars().count() / 2;
    assert!(most < 4_000 && reply.body.len() < 14_000, "{most} tokens, {} bytes", reply.body.len());

    let names: Vec<&str> =
        listing.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, tool_names());
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

/// Every member has a type, and a text that may be null says so.
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

/// No references, alternatives and formats, and no list of types but of one and null: each of them breaks some client.
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

/// What the table says of a tool's arguments twice is the same.
#[tokio::test]
async fn what_a_tool_takes_is_what_its_schema_names() {
    let node = Node::start().await;
    let answer = node.post("", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.json();
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        let names: Vec<&str> = properties.keys().map(String::as_str).collect();
        let name = tool["name"].as_str().unwrap();
        let mut arguments =
            json!({"slug": "haus-am-see", "id": "haus-am-see", "query": "haus", "material": "larch"});
        arguments.as_object_mut().unwrap().retain(|key, _| names.contains(&key.as_str()));
        arguments["odd"] = json!(1);
        if name == "get_api_key" {
            continue;
        }
        let said = content(&node.post("", call(name, arguments)).await);
        let takes = match names[..] {
            [] => "takes no arguments".to_owned(),
            _ => format!("takes {}", names.join(", ")),
        };
        let note = said["note"].as_str().unwrap_or_else(|| panic!("{name}: {said}"));
        assert!(note.contains(&format!("Not used: “odd”. {name} {takes}.")), "{name}: {note}");
    }
}
