//! What 2026-07-28 says with every answer.

use super::*;

const INFO: &str = r#"{"name":"loggia","title":"catalog.example.org","version":"0.2.0","description":"A curated catalog of architecture, interiors, design, photography and art.","websiteUrl":"https://catalog.example.org"}"#;

fn info() -> Value {
    json!({"io.modelcontextprotocol/serverInfo": serde_json::from_str::<Value>(INFO).unwrap()})
}

async fn ask(node: &Node, method: &str, name: &str, mut params: Value) -> Value {
    params["_meta"] = modern_meta();
    let body = json!({"jsonrpc": "2.0", "id": "m", "method": method, "params": params});
    let reply = node.post(&modern_headers(method, name), body.to_string()).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let mut answer = reply.json();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!("m")));
    let result = answer["result"].take();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"], info());
    result
}

#[tokio::test]
async fn every_result_names_the_server_and_lists_their_lifetime() {
    let node = Node::start().await;
    let discovered = ask(&node, "server/discover", "", json!({})).await;
    assert_eq!(discovered["capabilities"], json!({"tools": {}}));
    let instructions = discovered["instructions"].as_str().unwrap();
    assert!(instructions.chars().count() <= 900, "{}", instructions.chars().count());
    let listed = ask(&node, "tools/list", "", json!({"cursor": ""})).await;
    for result in [&discovered, &listed] {
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(300_000), &json!("public")));
    }
    let called = ask(&node, "tools/call", "browse", json!({"name": "browse"})).await;
    assert_eq!((called.get("ttlMs"), called.get("cacheScope")), (None, None));
    let failed = ask(&node, "tools/call", "get_project", json!({"name": "get_project"})).await;
    assert_eq!(failed["isError"], true);
}

#[tokio::test]
async fn a_place_in_a_list_that_was_never_given_out_is_refused() {
    let node = Node::start().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#;
    let reply = node.post("", body).await;
    let message = "The cursor was not given out here: the list has one page. Leave cursor out.";
    assert_eq!(reply.json()["error"], json!({"code": -32_602, "message": message}));
}

#[tokio::test]
async fn an_unknown_protocol_revision_is_answered_with_the_supported_ones() {
    let node = Node::start().await;
    let mut meta = modern_meta();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let reply = node.post("MCP-Protocol-Version: 2099-01-01\r\n", body.to_string()).await;
    assert_eq!(reply.status, 400);
    let error = &reply.json()["error"];
    assert_eq!(error["code"], -32_022);
    let supported = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]);
    assert_eq!(error["data"], json!({"supported": supported, "requested": "2099-01-01"}));
}
