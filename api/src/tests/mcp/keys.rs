//! What a model sees of keys: a wrong one, a quota that is nearly used up, and the preview without one.

use super::super::keyed::KEY;
use super::*;
use crate::{Limits, RateLimits};

/// The message to a model whose key is not valid.
const WRONG: &str = "The API key sent with this request is not valid: unknown, incomplete or revoked. Nothing was answered or counted. \
                     Tell the user to check all 55 characters of it in the client's settings (Authorization: Bearer log_live_…, or ?key= \
                     in the URL), or to take the key out: without one the tools answer with at most 5 results a call. A new key: \
                     https://catalog.example.org/keys.";

#[tokio::test]
async fn a_wrong_key_is_said_in_the_answer_to_the_message() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let bearer = "Authorization: Bearer log_live_wrong\r\n";
    for (body, id) in [
        (call("browse", json!({})), json!(1)),
        (r#"{"jsonrpc":"2.0","id":"a-1","method":"initialize"}"#.to_owned(), json!("a-1")),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(), Value::Null),
        (format!("[{}]", call("browse", json!({}))), Value::Null),
        ("{".to_owned(), Value::Null),
        (String::new(), Value::Null),
    ] {
        let reply = node.post(bearer, &body).await;
        let headers = [reply.header("www-authenticate"), reply.header("content-type")];
        assert_eq!((reply.status, headers), (401, [Some("Bearer"), Some("application/json")]), "{reply:?}");
        let answer = reply.json();
        let expected = json!({
            "jsonrpc": "2.0", "id": id, "error": {"code": -32_600, "message": WRONG},
            "type": "https://catalog.example.org/problems/invalid-key", "title": "Invalid key", "status": 401,
            "detail": "This key cannot be used. Check that all 55 characters of it were sent, or ask for another.",
            "instance": answer["instance"],
        });
        assert_eq!(answer, expected, "{body:.80}");
    }
    // REST has its problem details alone.
    let rest = node.ask("GET", "/v1/search?q=street", bearer).await;
    let members: Vec<String> = rest.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!((rest.status, rest.header("content-type")), (401, Some("application/problem+json")));
    assert_eq!(members, ["type", "title", "status", "detail", "instance"]);
}

#[tokio::test]
async fn near_its_end_a_quota_is_said_in_the_note() {
    let node = Node::start_counted(Limits::default(), RateLimits::new(0, 0, 0), 179).await;
    let bearer = format!("Authorization: Bearer {KEY}\r\n");
    let asked =
        async |tool: &str, arguments: Value| content(&node.post(&bearer, call(tool, arguments)).await);
    assert_eq!(asked("browse", json!({"limit": 1})).await.get("note"), None, "a tenth is left");
    let more = "calls are left this month; more: https://catalog.example.org/pricing.";
    assert_eq!(asked("browse", json!({"limit": 1})).await["note"], format!("19 of 200 {more}"));
    let corrected = "Shown are projects with “street” instead of “strete”.";
    assert_eq!(
        asked("search_projects", json!({"query": "strete house 2"})).await["note"],
        format!("{corrected} 18 of 200 {more}")
    );
    // What is free says nothing of it, and REST has it in headers alone.
    let free = asked("list_taste_terms", json!({"dimension": "material"})).await;
    assert!(!free.to_string().contains("this month"), "{free}");
    let rest = node.ask("GET", "/v1/search?q=street", &bearer).await;
    assert_eq!((rest.status, rest.header("x-ratelimit-remaining")), (200, Some("17")));
    assert_eq!(rest.json()["note"], Value::Null);
    for left in (2..17).rev() {
        assert_eq!(asked("discover", json!({})).await["note"], format!("{left} of 200 {more}"));
    }
    let one = "1 of 200 calls is left this month; more: https://catalog.example.org/pricing.";
    assert_eq!(asked("get_project", json!({"slug": "haus-am-see"})).await["note"], one);
    assert_eq!(
        asked("search", json!({"query": "street"})).await["note"],
        format!("0 of 200 {more}"),
        "the last"
    );
    let over = node.post(&bearer, call("discover", json!({}))).await.json();
    let over = over["result"]["content"][0]["text"].as_str().unwrap();
    assert!(over.starts_with("The 200 calls of this month are used up; nothing was billed."), "{over}");
}

#[tokio::test]
async fn a_preview_names_the_tool_that_shows_more_where_there_is_more() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let how = "get_api_key";
    for (tool, arguments, expected) in [
        ("browse", json!({"limit": 2}), json!({"shown": 2, "total": 5, "how": how})),
        ("discover", json!({}), json!({"shown": 1, "total": 5, "how": how})),
        ("search", json!({"query": "street"}), json!({"shown": 3, "total": 3})),
        ("browse", json!({}), json!({"shown": 5, "total": 5})),
        ("browse", json!({"limit": 2, "detail": "concise"}), json!({"shown": 2, "total": 5})),
        ("get_project", json!({"slug": "haus-am-see"}), json!({"shown": 1, "total": 1})),
        ("fetch", json!({"id": "haus-am-see"}), json!({"shown": 1, "total": 1})),
    ] {
        let answer = node.tool(tool, arguments.clone()).await;
        assert_eq!(answer["preview"], expected, "{tool} {arguments}");
    }
}
