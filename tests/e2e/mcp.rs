//! MCP clients with and without a key: from the anonymous preview to the last call of the month.

use std::collections::BTreeSet;

use kit::http::{Answer, Http};
use serde_json::{Value, json};

use crate::service::{Service, TIMEOUT};

/// Starts a service that requires keys, with eight houses.
async fn started(settings: &[&str]) -> Option<Service> {
    let all: Vec<&str> = ["--no-demo", "--auth", "keys"].iter().chain(settings).copied().collect();
    let started = Service::with(&all).await?;
    let records = (1..=8).map(|number| {
        let day = format!("2026-01-{number:02}");
        json!({
            "name": format!("House {number}"), "category": "architecture", "published": day, "mood": "calm",
            "intro": "A house of brick by the water.",
        })
    });
    started.import(&records.collect::<Vec<_>>()).await;
    Some(started)
}

async fn send(http: &Http, path: &str, bearer: Option<&str>, name: &str, arguments: Value) -> Answer {
    let params = json!({"name": name, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let bearer = bearer.map(|key| format!("Bearer {key}"));
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(bearer.as_deref().map(|value| ("authorization", value)));
    http.send("POST", path, &headers, body).await
}

async fn call(http: &Http, bearer: Option<&str>, name: &str, arguments: Value) -> Value {
    let answer = send(http, "/mcp", bearer, name, arguments).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["result"].take()
}

fn text_of(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn without_a_key_five_results_are_returned_and_nothing_is_counted() {
    let Some(started) = started(&[]).await else { return };
    let http = &started.http;
    for (tool, arguments) in [
        ("search_projects", json!({"query": "house", "limit": 20})),
        ("search_by_taste", json!({"mood": "calm", "limit": 8})),
        ("browse", json!({"limit": 8})),
        ("search", json!({"query": "house"})),
    ] {
        let result = call(http, None, tool, arguments).await;
        let content = &result["structuredContent"];
        assert_eq!(content["results"].as_array().unwrap().len(), 5, "{tool}");
        assert_eq!(content["preview"], json!({"shown": 5, "total": 8, "how": "get_api_key"}), "{tool}");
        assert_eq!(result.get("_meta"), None);
    }
    let record = call(http, None, "get_project", json!({"slug": "house-1"})).await;
    assert_eq!(record["structuredContent"]["taste"]["mood"], "calm", "full records are shown");
    for (tool, arguments, expected) in [
        ("get_project", json!({"slug": "house-1"}), json!({"shown": 1, "total": 1})),
        ("fetch", json!({"id": "house-1"}), json!({"shown": 1, "total": 1})),
        ("discover", json!({}), json!({"shown": 1, "total": 8, "how": "get_api_key"})),
    ] {
        let preview = call(http, None, tool, arguments).await["structuredContent"]["preview"].take();
        assert_eq!(preview, expected, "{tool}");
    }

    // Paging reaches everything, five results at a time.
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    while seen.len() < 8 {
        let page = call(http, None, "browse", json!({"cursor": cursor})).await["structuredContent"].take();
        seen.extend(
            page["results"].as_array().unwrap().iter().map(|one| one["slug"].as_str().unwrap().to_owned()),
        );
        cursor = page["next_cursor"].clone();
    }
    assert_eq!(seen, (1..=8).rev().map(|number| format!("house-{number}")).collect::<Vec<_>>());
    assert!(started.json(&["audit", "verify"]).iter().all(|line| line["calls"].as_u64().unwrap_or(0) == 0));
}

#[tokio::test]
async fn an_agent_gets_a_key_and_its_calls_are_counted_exactly() {
    let Some(started) = started(&["--tiers", "free=4, pro=100"]).await else { return };
    let http = &started.http;
    let issued = call(http, None, "get_api_key", json!({"email": " Ada@Example.org "})).await;
    let content = &issued["structuredContent"];
    let (key, key_id) = (content["key"].as_str().unwrap(), content["key_id"].as_str().unwrap());
    assert_eq!((content["tier"].clone(), content["quota"].clone()), (json!("free"), json!(4)));
    let members: BTreeSet<&str> = content.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["good_for", "how_to_use", "key", "key_id", "quota", "tier"].into());

    // The key works at once, in the header and in the URL, over REST and MCP.
    let first = call(http, Some(key), "search_projects", json!({"query": "house"})).await;
    assert_eq!(first["structuredContent"]["count"], 8);
    assert_eq!(first["structuredContent"].get("preview"), None);
    let quota = |result: &Value| {
        let quota = &result["_meta"]["quota"];
        assert!(quota["resets_at"].as_str().unwrap().ends_with("-01T00:00:00Z"), "{quota}");
        ["limit", "used", "remaining"].map(|name| quota[name].as_u64().unwrap())
    };
    assert_eq!(quota(&first), [4, 1, 3]);
    let second =
        send(http, &format!("/mcp?key={key}"), None, "browse", json!({"limit": 1})).await.json()["result"]
            .take();
    assert_eq!(quota(&second), [4, 2, 2]);
    let rest =
        http.send("GET", "/v1/search?q=house", &[("authorization", &format!("Bearer {key}"))], "").await;
    assert_eq!((rest.status, rest.header("x-ratelimit-remaining")), (200, Some("1")));

    // Unmetered and failed calls do not count.
    for (tool, arguments) in [
        ("list_taste_terms", json!({})),
        ("get_project", json!({"slug": "nothing"})),
        ("search_projects", json!({})),
        ("browse", json!({"limit": 99})),
    ] {
        call(http, Some(key), tool, arguments).await;
    }
    let free = call(http, Some(key), "list_taste_terms", json!({})).await;
    assert_eq!((quota(&free), free["_meta"].get("call_id")), ([4, 3, 1], None));
    let last = call(http, Some(key), "discover", json!({})).await;
    assert_eq!(quota(&last), [4, 4, 0]);
    let note = last["structuredContent"]["note"].as_str().unwrap();
    assert!(note.starts_with("0 of 4 calls are left this month; more: http"), "{note}");
    let over_quota = call(http, Some(key), "discover", json!({})).await;
    let text = text_of(&over_quota);
    assert!(text.starts_with("The 4 calls of this month are used up; nothing was billed."), "{text}");
    assert!(text.contains("/pricing"), "{text}");
    assert_eq!(
        call(http, Some(key), "list_taste_terms", json!({})).await["isError"],
        false,
        "what is free stays so"
    );

    let calls = kit::wait_for(TIMEOUT, "the calls in the ledger", async || {
        let mut calls = started.run(&["audit", key_id, "--json"]).json_lines();
        calls.retain(|call| call.get("call_id").is_some());
        (calls.len() >= 4).then_some(calls)
    })
    .await;
    let listed =
        |name: &str| calls.iter().map(|call| call[name].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(listed("surface"), ["mcp", "mcp", "rest", "mcp"]);
    assert_eq!(listed("operation"), ["search_projects", "browse", "search", "discover"]);
    let ids = listed("call_id");
    assert_eq!(
        [&first, &second, &last].map(|result| result["_meta"]["call_id"].as_str().unwrap()),
        [&*ids[0], &*ids[1], &*ids[3]]
    );
    started.run(&["audit", "verify"]).success();
}

#[tokio::test]
async fn an_invalid_key_is_an_error_and_not_anonymous_access() {
    let Some(started) = started(&[]).await else { return };
    let answer = send(&started.http, "/mcp", Some("log_live_wrong"), "browse", json!({})).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")));
    let body = answer.json();
    assert!(body["type"].as_str().unwrap().ends_with("/problems/invalid-key"));
    let error = (&body["id"], &body["error"]["code"]);
    assert_eq!(error, (&json!(1), &json!(-32_600)), "clients show it to their models");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("The API key sent with this request is not valid:"), "{message}");
    let twice = send(&started.http, "/mcp?key=a", Some("b"), "browse", json!({})).await;
    assert_eq!(twice.status, 400);
}

#[tokio::test]
async fn keys_are_limited_by_address_and_by_network() {
    let Some(started) = started(&["--keys-per-address", "5"]).await else { return };
    let http = &started.http;
    let ask = async |email: &str| call(http, None, "get_api_key", json!({"email": email})).await;
    for _ in 0..3 {
        assert_eq!(ask("ada@example.org").await["isError"], false);
    }
    let fourth = ask("ADA@example.org").await;
    assert!(text_of(&fourth).starts_with("No key was created: this address already has 3 keys"), "{fourth}");
    assert_eq!(ask("grace@example.org").await["isError"], false);
    let more = ask("alan@example.org").await;
    assert!(
        text_of(&more)
            .starts_with("Too many keys were created from this network within an hour; nothing was created."),
        "{more}"
    );
    let keys = started.json(&["keys", "list"]);
    assert_eq!(keys.iter().filter(|line| line.get("key_id").is_some()).count(), 4);
}

#[tokio::test]
async fn too_many_calls_in_a_second_get_a_retry_time() {
    let Some(started) = started(&["--burst-per-address", "2"]).await else { return };
    let mut texts = BTreeSet::new();
    for _ in 0..20 {
        let answer = send(&started.http, "/mcp", None, "discover", json!({})).await;
        if answer.status == 429 {
            // Four times as many bodies are read; the rest is refused before.
            assert_eq!(answer.header("retry-after"), Some("1"), "{answer:?}");
            continue;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
        let result = answer.json()["result"].take();
        if result["isError"] == true {
            texts.insert(text_of(&result).to_owned());
        }
    }
    let expected = "Too many calls came within a second. Wait 1 s and call again; nothing was counted. A key from get_api_key has a limit of its own.";
    assert_eq!(texts.into_iter().collect::<Vec<_>>(), [expected]);
}

#[tokio::test]
async fn a_batch_is_answered_completely_or_not_at_all_and_counts_each_item() {
    let settings = ["--burst-per-address", "20", "--burst-per-key", "20"];
    let Some(started) = started(&settings).await else { return };
    let batch = |method: &str| {
        let items = (0..32).map(|id| {
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "browse", "arguments": {}}})
        });
        Value::Array(items.collect()).to_string()
    };
    let headers = [("content-type", "application/json"), ("mcp-protocol-version", "2025-03-26")];
    let sent = started.http.send("POST", "/mcp", &headers, batch("tools/call")).await;
    let results = sent.json();
    let results = results.as_array().unwrap();
    assert_eq!(results.len(), 32);
    assert!(results.iter().all(|one| one["result"]["isError"] == false), "{results:?}");
    // 32 items exceed the rate limit of one second, so the next message must wait, whatever it is.
    for body in [batch("tools/list"), json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string()]
    {
        let mut refused = None;
        for _ in 0..20 {
            let answer = started.http.send("POST", "/mcp", &headers, body.clone()).await;
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            assert_eq!(answer.status, 200);
        }
        let refused = refused.expect("a message too many");
        assert!(refused.json()["type"].as_str().unwrap().ends_with("/problems/too-many-requests"));
        assert!(refused.header("retry-after").is_some());
    }
}
