//! Odd requests, each with its exact answer.

use super::*;

const JSON: &str = "Content-Type: application/json\r\n";

/// The status, the code and the words of an error, and the id it repeats.
fn error(reply: &Reply) -> (u16, i64, String, Value) {
    assert_eq!(reply.header("content-type"), Some("application/json"), "{reply:?}");
    let answer = reply.json();
    assert_eq!(answer["jsonrpc"], "2.0", "{reply:?}");
    let error = &answer["error"];
    let message = error["message"].as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned();
    (reply.status, error["code"].as_i64().unwrap(), message, answer["id"].clone())
}

#[tokio::test]
async fn a_call_without_any_ceremony_is_answered() {
    let node = Node::start().await;
    let body = call("search_projects", json!({"query": "haus"}));
    let plain = content(&node.post(JSON, &body).await);
    assert_eq!((plain["count"].clone(), plain["total"].clone()), (json!(1), json!(1)));
    for headers in [
        "",
        "Content-Type: application/json\r\nAccept: application/json\r\n",
        "Content-Type: application/json\r\nAccept: */*\r\n",
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
        "Content-Type: application/json; charset=utf-8\r\nMcp-Session-Id: whatever\r\n",
        "Content-Type: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\nMcp-Method: odd\r\n",
    ] {
        let reply = node.post(headers, &body).await;
        assert_eq!(reply.header("content-type"), Some("application/json"), "{headers}");
        assert_eq!(reply.header("mcp-session-id"), None);
        assert_eq!(content(&reply), plain, "{headers}");
    }
}

#[tokio::test]
async fn a_client_that_takes_only_events_gets_one() {
    let node = Node::start().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let reply = node.post("Accept: text/event-stream\r\n", body).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(reply.header("x-accel-buffering"), Some("no"));
    assert_eq!(reply.text(), "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
}

#[tokio::test]
async fn invalid_requests_are_reported() {
    let node = Node::start().await;
    let deep = "[".repeat(2_000);
    for (body, code, message, id) in [
        (
            "{\"jsonrpc\"",
            -32_700,
            "The body is not JSON: EOF while parsing an object at line 1 column 10.",
            json!(null),
        ),
        (&deep, -32_700, "The body is not JSON: it is nested deeper than 128.", json!(null)),
        ("{\"hello\":1}", -32_600, "The member jsonrpc is not \"2.0\".", json!(null)),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32_600,
            "The member id is neither a string nor a number. Leave it out for a notification.",
            json!(null),
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            -32_600,
            "The member id is neither a string nor a number. Leave it out for a notification.",
            json!(null),
        ),
        (r#"{"id":3,"method":"ping"}"#, -32_600, "The member jsonrpc is not \"2.0\".", json!(3)),
        (
            r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
            -32_600,
            "The member method is missing. This server asks nothing, so it takes no responses.",
            json!("a"),
        ),
    ] {
        let reply = node.post(JSON, body).await;
        assert_eq!(error(&reply), (400, code, message.to_owned(), id), "{body:.80}");
    }
}

#[tokio::test]
async fn unknown_methods_and_tools_are_reported_with_the_existing_ones() {
    let node = Node::start().await;
    let unknown = r#"{"jsonrpc":"2.0","id":"x","method":"resources/list"}"#;
    let message = "There is no method “resources/list”. There are initialize, ping, tools/list, tools/call and server/discover.";
    assert_eq!(error(&node.post(JSON, unknown).await), (200, -32_601, message.into(), json!("x")));
    let modern = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": modern_meta()}});
    let message = "There is no method “ping”. There are server/discover, tools/list and tools/call.";
    let reply = node.post(&modern_headers("ping", ""), modern.to_string()).await;
    assert_eq!(error(&reply), (404, -32_601, message.into(), json!(1)));

    let message = format!("There is no tool “serach”. There are {}.", tool_names().join(", "));
    assert_eq!(
        error(&node.post(JSON, call("serach", json!({}))).await),
        (200, -32_602, message.clone(), json!(1))
    );
    let modern = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "serach", "_meta": modern_meta()}});
    let reply = node.post(&modern_headers("tools/call", "serach"), modern.to_string()).await;
    assert_eq!(error(&reply), (200, -32_602, message, json!(1)));
}

#[tokio::test]
async fn parameters_of_the_wrong_shape_are_reported_in_both_eras() {
    let node = Node::start().await;
    let list =
        "params.arguments is no object. Send the arguments by name, for example {\"query\":\"brick\"}.";
    let missing = format!("params.name is missing. It names the tool: {}.", tool_names().join(", "));
    for (params, message) in [
        (json!(null), missing.as_str()),
        (json!({}), &missing),
        (json!([1]), "The member params is not an object."),
        (json!({"name": "browse", "arguments": ["a"]}), list),
        (json!({"name": "browse", "arguments": "a"}), list),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params.clone()});
        assert_eq!(
            error(&node.post(JSON, body.to_string()).await),
            (200, -32_602, message.to_owned(), json!(1)),
            "{params}"
        );
        let Value::Object(mut members) = params.clone() else { continue };
        members.insert("_meta".into(), modern_meta());
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": members});
        let reply = node.post(&modern_headers("tools/call", "browse"), body.to_string()).await;
        assert_eq!(error(&reply), (400, -32_602, message.to_owned(), json!(1)), "{params}");
    }
}

#[tokio::test]
async fn several_messages_are_taken_where_the_oldest_revision_applies() {
    let node = Node::start().await;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},3,
        {"jsonrpc":"2.0","id":"b","method":"initialize"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let expected = json!([
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": null, "error": {"code": -32_600, "message":
            "The body is not a JSON object. Send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}."}},
        {"jsonrpc": "2.0", "id": "b", "error": {"code": -32_600, "message":
            "The method initialize must not be part of a batch."}},
        {"jsonrpc": "2.0", "id": 2, "result": {}},
    ]);
    for headers in [JSON, "MCP-Protocol-Version: 2025-03-26\r\n"] {
        let reply = node.post(headers, batch).await;
        assert_eq!((reply.status, reply.json()), (200, expected.clone()), "{headers}");
    }
    let silent = r#"[{"jsonrpc":"2.0","method":"a"}]"#;
    let reply = node.post(JSON, silent).await;
    assert_eq!((reply.status, reply.text()), (202, ""));
    let message = "Batches belong to 2025-03-26. Send one request as an object.";
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let reply = node.post(&format!("MCP-Protocol-Version: {version}\r\n"), batch).await;
        assert_eq!(error(&reply), (400, -32_600, message.to_owned(), json!(null)), "{version}");
    }
    let message = "The batch has 33 messages; at most 32 are accepted.";
    let long = format!("[{}1]", "1,".repeat(32));
    assert_eq!(error(&node.post(JSON, long).await), (400, -32_600, message.to_owned(), json!(null)));
    assert_eq!(error(&node.post(JSON, "[]").await).1, -32_600);
}

#[tokio::test]
async fn notifications_get_no_answer() {
    let node = Node::start().await;
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "browse"}}).to_string(),
    ] {
        let reply = node.post(JSON, &body).await;
        assert_eq!(
            (reply.status, reply.text(), reply.header("content-length")),
            (202, "", Some("0")),
            "{body}"
        );
    }
}

#[tokio::test]
async fn the_transport_has_limits() {
    let node = Node::start().await;
    for method in ["GET", "DELETE", "PUT", "HEAD"] {
        let reply = node.ask(method, "/mcp", "Accept: text/event-stream\r\n").await;
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST, OPTIONS")), "{method}");
    }
    let reply = node.ask("GET", "/mcp/", "").await;
    assert!(reply.problem().contains(
        r#""detail":"The MCP endpoint takes JSON-RPC messages by POST, without sessions and streams.""#
    ));
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server/mcp",
        "/mcp/x",
        "/sse",
    ] {
        assert_eq!(node.ask("GET", path, "").await.status, 404, "{path}");
    }
    let large =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(5 << 20));
    let mut connection = node.connect().await;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n", large.len());
    connection.send(head).await;
    let reply = connection.reply("POST").await;
    assert_eq!(reply.status, 413);
    assert!(reply.problem().contains("The message is larger than 256 KiB."), "{}", reply.text());
    let fits =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{}"}}}}"#, "x".repeat(200 << 10));
    assert_eq!(node.post(JSON, fits).await.text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[tokio::test]
async fn discovery_is_answered_without_ceremony_too() {
    let node = Node::start().await;
    let reply = node.post(JSON, r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#).await;
    let supported = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]);
    assert_eq!((reply.status, reply.json()["result"]["supportedVersions"].clone()), (200, supported));
}

#[tokio::test]
async fn initialize_answers_with_a_revision_it_speaks() {
    let node = Node::start().await;
    for (asked, spoken) in [
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2026-07-28"), "2025-11-25"),
        (json!("1.0"), "2025-11-25"),
        (json!(null), "2025-11-25"),
    ] {
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = node.post(JSON, body.to_string()).await.json();
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], spoken, "{asked}");
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        assert_eq!(result["serverInfo"]["name"], "loggia");
    }
}

#[tokio::test]
async fn calls_of_a_batch_without_time_left_report_that_they_were_not_run() {
    let node = Node::start().await;
    let search = |id: u32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "search_projects", "arguments": {"query": "haus"}}})
    };
    let batch = json!([search(1), {"jsonrpc": "2.0", "id": 2, "method": "ping"}, search(3)]).to_string();
    let (principal, headers) = (answers::auth::principal::Principal::Unmetered, http::HeaderMap::new());
    let caller = (&principal, std::net::Ipv4Addr::LOCALHOST.into());
    let over = answers::deadline::Deadline::within(std::time::Duration::ZERO);
    let sent = ::mcp::answer(&node.state, caller, &headers, batch.as_bytes(), over).await.unwrap();
    let answers: Value = serde_json::from_slice(&sent.body).unwrap();
    let expected_text = "Not run: the calls before it in this batch took all the time that a request has. Nothing \
                         was counted; send it again.";
    let refused = |id: u32| {
        json!({"jsonrpc": "2.0", "id": id,
            "result": {"content": [{"type": "text", "text": expected_text}], "isError": true}})
    };
    assert_eq!(answers, json!([refused(1), {"jsonrpc": "2.0", "id": 2, "result": {}}, refused(3)]));
}
