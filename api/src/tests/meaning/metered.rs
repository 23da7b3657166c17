//! What searches by meaning cost a key, and what they show without one.

use serde_json::{Value, json};

use super::*;
use crate::tests::keyed::KEY;
use crate::{Limits, RateLimits};

/// A node that requires keys, of whose one so many of 200 calls are counted: six projects about boats, more than a preview shows, of which
/// the first has the word, and one about war.
async fn node(calls: u8) -> Node {
    let projects = [
        ("boats", record("Boat", "art", "1999"), Some("boat")),
        ("pier", record("Pier", "architecture", "2001"), Some("ship")),
        ("regatta", record("Regatta", "photography", "1970"), Some("boat ship")),
        ("quay", record("Quay", "architecture", "1980"), Some("harbour")),
        ("fleet", record("Fleet", "art", "1985"), Some("ship harbour")),
        ("coast", record("Coast", "art", "2003"), Some("sea")),
        ("front", record("Front", "photography", "1916"), Some("war")),
    ];
    Node::start_keyed_with_meanings(&projects, calls).await
}

fn bearer() -> String {
    format!("Authorization: Bearer {KEY}\r\n")
}

/// Asserts what a request costs: its status, the calls that are left, and whether it is one of the counted ones.
async fn assert_cost(node: &Node, (method, path): (&str, &str), expected: (u16, u64, bool)) {
    let reply = node.ask(method, path, &bearer()).await;
    let (status, left, is_counted) = expected;
    let costs = (
        reply.status,
        reply.header("x-ratelimit-remaining").unwrap_or("-"),
        reply.header("x-call-id").is_some(),
    );
    assert_eq!(costs, (status, left.to_string().as_str(), is_counted), "{method} {path}: {reply:?}");
}

/// Returns the result of a tool, and its quota and the id of its call.
async fn called(node: &Node, tool: &str, arguments: Value) -> (Value, [Value; 2]) {
    let mut result = node.post(&bearer(), mcp::call(tool, arguments)).await.json()["result"].take();
    let meta = result["_meta"].take();
    let costs = [meta["quota"]["remaining"].clone(), meta["call_id"].clone()];
    (result, costs)
}

#[tokio::test]
async fn a_search_in_any_mode_costs_one_call() {
    let node = node(0).await;
    let mut left = 200;
    for path in [
        "/v1/search?q=boat",
        "/v1/search?q=boat&mode=words",
        "/v1/search?q=boat&mode=meaning",
        "/v1/search?q=boat&mode=both",
        "/v1/search?q=boat&mode=both&sort=name&facets=year,category,city,studio",
        "/v1/search?q=Quay&mode=meaning",
        "/v1/similar?text=boat",
        "/v1/similar?text=boat&category=art&limit=1",
    ] {
        for method in ["GET", "HEAD"] {
            left -= 1;
            assert_cost(&node, (method, path), (200, left, true)).await;
        }
    }
    for mode in ["words", "meaning", "both"] {
        left -= 1;
        let (result, [remaining, call]) =
            called(&node, "search_projects", json!({"query": "boat", "mode": mode})).await;
        assert_eq!((&result["isError"], remaining), (&json!(false), json!(left)), "{mode}: {result}");
        assert!(call.is_string() && result["structuredContent"].get("preview").is_none(), "{mode}: {result}");
    }
}

#[tokio::test]
async fn a_search_by_meaning_that_finds_nothing_or_is_refused_costs_nothing() {
    let node = node(0).await;
    for (path, status) in [
        ("/v1/search?q=church&mode=meaning", 200),
        ("/v1/search?q=church&mode=both", 200),
        ("/v1/search?q=boat&mode=meaning&year_to=1900", 200),
        ("/v1/search?q=zzz&mode=both", 200),
        ("/v1/similar?text=church", 200),
        ("/v1/similar?text=美術館", 200),
        ("/v1/search?q=boat&mode=near", 400),
        ("/v1/search?q=boat&mode=both&cursor=x", 400),
        ("/v1/similar", 400),
    ] {
        for method in ["GET", "HEAD"] {
            assert_cost(&node, (method, path), (status, 200, false)).await;
        }
    }
    let (result, [remaining, call]) =
        called(&node, "search_projects", json!({"query": "church", "mode": "both"})).await;
    let costs = (&result["isError"], remaining, call);
    assert_eq!(costs, (&json!(false), json!(200), Value::Null), "{result}");
    // What has not changed since is not counted either.
    for (left, path) in [(199, "/v1/search?q=boat&mode=both"), (198, "/v1/similar?text=boat")] {
        let tag = node.ask("GET", path, &bearer()).await.header("etag").unwrap().to_owned();
        let again = node.ask("GET", path, &format!("{}If-None-Match: {tag}\r\n", bearer())).await;
        let costs = (again.status, again.header("x-ratelimit-remaining"), again.header("x-call-id"));
        assert_eq!(costs, (304, Some(left.to_string().as_str()), None), "{path}");
    }
}

#[tokio::test]
async fn a_search_by_meaning_without_a_text_model_costs_nothing() {
    for (calls, left) in [(0, 200), (200, 0)] {
        let node = Node::start_counted(Limits::default(), RateLimits::new(0, 0, 0), calls).await;
        for path in ["/v1/search?q=street&mode=meaning", "/v1/similar?text=street", "/v1/terms?near=calm"] {
            for method in ["GET", "HEAD"] {
                assert_cost(&node, (method, path), (503, left, false)).await;
            }
        }
        let (result, [remaining, call]) =
            called(&node, "search_projects", json!({"query": "street", "mode": "meaning"})).await;
        let costs = (&result["isError"], remaining, call);
        assert_eq!(costs, (&json!(true), json!(left), Value::Null), "{result}");
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(said.starts_with("This node has no text model"), "{said}");
        // It is answered by words, and that is a call.
        let of_words = if left == 0 { (429, 0, false) } else { (200, left - 1, true) };
        assert_cost(&node, ("GET", "/v1/search?q=street&mode=both"), of_words).await;
    }
}

#[tokio::test]
async fn a_key_that_is_used_up_is_refused_in_every_mode_where_something_is_found() {
    let node = node(200).await;
    for (path, status) in [
        ("/v1/search?q=boat&mode=meaning", 429),
        ("/v1/search?q=boat&mode=both", 429),
        ("/v1/search?q=boat&mode=both&sort=name&facets=year", 429),
        ("/v1/search?q=Quay&mode=meaning", 429),
        ("/v1/similar?text=boat", 429),
        ("/v1/search?q=church&mode=meaning", 200),
        ("/v1/search?q=church&mode=both", 200),
        ("/v1/similar?text=church", 200),
        ("/v1/search?q=boat&mode=meaning&cursor=x", 400),
    ] {
        assert_cost(&node, ("GET", path), (status, 0, false)).await;
    }
    for mode in ["meaning", "both"] {
        let (result, _) = called(&node, "search_projects", json!({"query": "boat", "mode": mode})).await;
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(
            said.starts_with("The 200 calls of this month are used up; nothing was billed."),
            "{mode}: {said}"
        );
    }
}

#[tokio::test]
async fn without_a_key_every_mode_shows_a_preview_page_by_page() {
    let node = node(0).await;
    for path in ["/v1/search?q=boat&mode=meaning", "/v1/search?q=boat&mode=both", "/v1/similar?text=boat"] {
        assert_eq!(node.get(path).await.status, 401, "{path}");
    }
    let ask = async |mode: &str, cursor: &Value| {
        let mut arguments = json!({"query": "boat", "mode": mode, "limit": 20});
        if !cursor.is_null() {
            arguments["cursor"] = cursor.clone();
        }
        node.tool("search_projects", arguments).await
    };
    let words = ask("words", &Value::Null).await;
    assert_eq!(
        (slugs(&words), &words["preview"]),
        (vec!["boats"], &json!({"shown": 1, "total": 1})),
        "{words}"
    );
    for mode in ["meaning", "both"] {
        let (result, _) =
            called(&node, "search_projects", json!({"query": "boat", "mode": mode, "limit": 20})).await;
        let whole = matched(&result["structuredContent"]);
        let why = if mode == "both" { "words" } else { "meaning" };
        assert_eq!((whole.len(), whole[0].0.as_str(), whole[0].1.as_str()), (6, "boats", why), "{mode}");
        let first = ask(mode, &Value::Null).await;
        assert_eq!(first["preview"], json!({"shown": 5, "total": 6, "how": "get_api_key"}), "{mode}");
        let second = ask(mode, &first["next_cursor"]).await;
        assert_eq!(second["preview"], json!({"shown": 1, "total": 6, "how": "get_api_key"}), "{mode}");
        assert_eq!(second["next_cursor"], Value::Null, "{mode}");
        assert_eq!([matched(&first), matched(&second)].concat(), whole, "{mode}");
    }
    assert_cost(&node, ("GET", "/v1/search?q=boat"), (200, 197, true)).await;
}
