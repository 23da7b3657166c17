//! What calls weigh, who waits for dear ones, and what a key that is used up is refused before.

use std::sync::mpsc;
use std::time::Duration;

use ::answers::turns::Turns;
use futures::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client::TIMEOUT;
use super::keyed::KEY;
use super::*;
use crate::{Limits, RateLimits};

const FACETS: &str = "facets=category,city,studio,curator,year,material,light,color,mood,composition,subject";

/// Answers that wait for a turn are given up after this time.
fn impatient() -> Limits {
    Limits { request: Duration::from_secs(2), ..Limits::default() }
}

fn bearer() -> String {
    format!("Authorization: Bearer {KEY}\r\n")
}

/// All six dimensions with twenty alternatives each, of which one is a word in use.
fn all_alternatives() -> String {
    let names = ["material", "light", "color", "mood", "composition", "subject"];
    let of_one = |name: &str| (1..20).map(|number| format!("{name}=w{number}&")).collect::<String>();
    names.map(|name| format!("{}{name}=larch&", of_one(name))).concat()
}

fn retry_after(reply: &Reply) -> u64 {
    reply.header("retry-after").expect("a time to wait").parse().unwrap()
}

/// Messages of 2025-03-26 in one body.
fn batch(messages: &[String]) -> String {
    format!("[{}]", messages.join(","))
}

/// The texts of the results of a batch, once each is an error, or none is.
fn texts(reply: &Reply, are_errors: bool) -> Vec<String> {
    assert_eq!(reply.status, 200, "{reply:?}");
    let text = |one: &Value| {
        assert_eq!(one["result"]["isError"], are_errors, "{one}");
        one["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    reply.json().as_array().unwrap().iter().map(text).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn health_and_plain_calls_do_not_wait_for_dear_reads() {
    let node = Node::start().await;
    let registry = prometheus_client::registry::Registry::default();
    let admin =
        crate::admin::router(registry, node.readiness.subscribe(), || json!({}), vec!["test".to_owned()]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let operators = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    tokio::spawn(crate::serve_admin(listener, admin, Limits::default(), stop));

    // As many dear reads as run at once, and as many that wait for them, on the one thread of this runtime.
    let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let (mut ends, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..2 * Turns::at_once() {
        let (end, ended) = mpsc::channel::<()>();
        let (state, began) = (node.state.clone(), began.clone());
        reads.push(tokio::spawn(async move {
            let turn = state.turns().take().await;
            turn.run(|| {
                began.send(()).unwrap();
                // It ends with the test, also with one that fails.
                ended.recv().unwrap_or_default();
            });
        }));
        ends.push(end);
    }
    for _ in 0..Turns::at_once() {
        timeout(TIMEOUT, begun.recv()).await.expect("dear reads begin").unwrap();
    }
    for path in ["/healthz", "/readyz", "/v1/search?q=street", "/v1/projects", "/v1/project/haus-am-see"] {
        assert_eq!(node.get(path).await.status, 200, "{path}");
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(Connection::to(operators).await.ask("GET", path, "").await.status, 200, "{path}");
    }
    assert!(begun.try_recv().is_err(), "the others wait for a turn");
    drop(ends);
    for read in reads {
        timeout(TIMEOUT, read).await.expect("every read has its turn").unwrap();
    }
}

#[tokio::test]
async fn dear_calls_wait_for_a_turn_within_their_deadline() {
    let node = Node::start_with(impatient()).await;
    let mut held = Vec::new();
    for _ in 0..Turns::at_once() {
        held.push(node.state.turns().take().await);
    }
    let cities: String = (0..20).map(|number| format!("city=c{number}&")).collect();
    let paths = [
        format!("/v1/search?q=street&{FACETS}"),
        "/v1/search?q=street&sort=name".to_owned(),
        format!("/v1/projects?{FACETS}"),
        "/v1/projects?changed_since=2026-11-20".to_owned(),
        format!("/v1/taste?{}", all_alternatives()),
        format!("/v1/similar/haus-am-see?{cities}"),
        "/?q=street".to_owned(),
        "/art".to_owned(),
        "/projects/haus-am-see?from=q%3Dstreet%26sort%3Dname".to_owned(),
    ];
    let tools = [
        ("search_projects", json!({"query": "street", "facets": ["category", "city", "year"]})),
        ("browse", json!({"facets": "category,city,year"})),
        ("browse", json!({"changed_since": "2026-11-20"})),
        ("search_by_taste", json!({"material": "larch", "facets": "category,city,year"})),
        (
            "similar_projects",
            json!({"slug": "haus-am-see", "city": (0..20).map(|n| format!("c{n}")).collect::<Vec<_>>()}),
        ),
    ];
    let late = "The answer was not ready in time. Try again in a few seconds.";
    let waiting = join_all(paths.iter().map(|path| node.get(path)));
    let calling = join_all(tools.iter().map(|(tool, arguments)| node.tool_refusal(tool, arguments.clone())));
    let (replies, refusals) = tokio::join!(waiting, calling);
    for (path, reply) in paths.iter().zip(&replies) {
        assert_eq!((reply.status, reply.text().contains(late)), (503, true), "{path}: {reply:?}");
    }
    assert_eq!(refusals, [late; 5]);
    for path in
        ["/v1/search?q=street&facets=city,year", "/v1/projects?sort=name", "/v1/taste?material=larch", "/"]
    {
        assert_eq!(node.get(path).await.status, 200, "a plain call: {path}");
    }
    drop(held);
    for path in &paths {
        assert_eq!(node.get(path).await.status, 200, "{path}");
    }
    for (tool, arguments) in tools {
        node.tool(tool, arguments).await;
    }
}

/// Waits until a refusal says to wait for so many seconds, and never for more: a unit drains in a second, and on a busy machine one may
/// have drained before the next call.
async fn wait_of(units: u64, what: &str, mut wait: impl AsyncFnMut() -> Option<u64>) {
    kit::wait_until(TIMEOUT, what, async || {
        let seconds = wait().await;
        assert!(seconds.is_none_or(|seconds| seconds <= units), "{what}: {seconds:?}");
        seconds == Some(units)
    })
    .await;
}

#[tokio::test]
async fn an_address_waits_for_what_its_calls_asked_for() {
    for (path, units) in [
        ("/", 1),
        ("/projects/haus-am-see", 1),
        ("/?q=street", 2),
        ("/?q=street&sort=name", 3),
        ("/art?page=5", 3),
        ("/projects/haus-am-see?from=q%3Dstreet%26page%3D9", 3),
        ("/sitemap-1.xml", 10),
    ] {
        let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 1, 0)).await;
        wait_of(units, path, async || {
            node.get(path).await;
            let refused = node.get("/").await;
            (refused.status == 429).then(|| retry_after(&refused))
        })
        .await;
    }
}

#[tokio::test]
async fn a_batch_is_answered_whatever_its_items_ask_for_and_the_next_waits_for_all_of_them() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 1, 0)).await;
    let facets = FACETS.strip_prefix("facets=");
    let dear = mcp::call("search_projects", json!({"query": "street", "facets": facets}));
    let three = batch(&[dear.clone(), dear.clone(), dear]);
    wait_of(12, "three calls of four units", async || {
        let reply = node.post("MCP-Protocol-Version: 2025-03-26\r\n", &three).await;
        if reply.status == 200 {
            assert_eq!(texts(&reply, false).len(), 3, "the limit cuts no batch");
        }
        let refused = node.post("", mcp::call("discover", json!({}))).await;
        let (_, wait) = refused.text().split_once("Too many calls came within a second. Wait ")?;
        wait.split(' ').next()?.parse().ok()
    })
    .await;
}

#[tokio::test]
async fn a_list_that_is_read_again_with_the_texts_of_taste_is_weighed_once() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 1, 0)).await;
    let facets = FACETS.strip_prefix("facets=");
    let dear = mcp::call("search_projects", json!({"query": "street", "facets": facets, "detail": "taste"}));
    wait_of(4, "a call of four units", async || {
        let reply = node.post("", &dear).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let refused = node.post("", mcp::call("discover", json!({}))).await;
        let (_, wait) = refused.text().split_once("Too many calls came within a second. Wait ")?;
        wait.split(' ').next()?.parse().ok()
    })
    .await;
}

#[tokio::test]
async fn a_key_waits_for_what_its_calls_asked_for() {
    let dear = format!("/v1/taste?{}", all_alternatives());
    for (path, units) in [(dear.as_str(), 7), ("/v1/search?q=street", 1)] {
        let node = Node::start_used_up(Limits::default(), RateLimits::new(1, 0, 0)).await;
        wait_of(units, path, async || {
            node.ask("GET", path, &bearer()).await;
            let refused = node.ask("GET", "/v1/usage", &bearer()).await;
            (refused.status == 429).then(|| retry_after(&refused))
        })
        .await;
    }
}

#[tokio::test]
async fn a_key_that_is_used_up_is_refused_before_the_work() {
    let node = Node::start_used_up(impatient(), RateLimits::new(0, 0, 0)).await;
    let open = Node::start().await;
    let ask = async |path: &str, more: &str| node.ask("GET", path, &format!("{}{more}", bearer())).await;
    let ordered = "/v1/search?q=street&limit=1&facets=city,year,category&sort=name";
    let cursor = open.get(ordered).await.json()["next_cursor"].as_str().unwrap().to_owned();
    let counted = "/v1/search?q=street&limit=1&facets=city,year,category";
    let ranked = open.get(counted).await.json()["next_cursor"].as_str().unwrap().to_owned();
    let newest = "/v1/projects?limit=1&facets=city,year,category";
    let after = open.get(newest).await.json()["next_cursor"].as_str().unwrap().to_owned();
    let changes = open.get("/v1/changes").await.json()["next_cursor"].as_str().unwrap().to_owned();
    // What is not charged is answered as always.
    for path in ["/v1/search?q=street", counted, ordered, newest] {
        let tag = open.get(path).await.header("etag").unwrap().to_owned();
        assert_eq!(ask(path, &format!("If-None-Match: {tag}\r\n")).await.status, 304, "{path}");
        assert_eq!(ask(path, "If-None-Match: W/\"other\"\r\n").await.status, 429, "{path}");
    }
    let mut held = Vec::new();
    for _ in 0..Turns::at_once() {
        held.push(node.state.turns().take().await);
    }
    for (path, status) in [
        (format!("/v1/search?q=&{FACETS}"), 400),
        (format!("/v1/search?q=house&{FACETS}&cursor={ranked}"), 400),
        (format!("/v1/projects?{FACETS}&cursor={cursor}"), 400),
        (format!("/v1/projects?slugs=&{FACETS}"), 400),
        ("/v1/similar/nothing".to_owned(), 404),
        ("/v1/project/nothing".to_owned(), 404),
        ("/v1/changes?since=rubbish&wait=30".to_owned(), 400),
        ("/v1/terms".to_owned(), 200),
        ("/v1/usage".to_owned(), 200),
    ] {
        let reply = ask(&path, "").await;
        assert_eq!(reply.status, status, "{path}: {reply:?}");
    }
    // The rest is refused though nobody has a turn for the work.
    let end = ask("/v1/usage", "").await.json()["resets_at"].clone();
    for path in [
        "/v1/search?q=street".to_owned(),
        format!("/v1/search?q=street&sort=name&highlights=true&{FACETS}"),
        format!("{counted}&cursor={ranked}"),
        "/v1/projects".to_owned(),
        format!("/v1/projects?sort=name&{FACETS}"),
        format!("{newest}&cursor={after}"),
        "/v1/projects?slugs=haus-am-see,nothing".to_owned(),
        format!("/v1/taste?material=larch&sort=name&{FACETS}"),
        "/v1/similar/haus-am-see".to_owned(),
        format!("/v1/changes?since={changes}&wait=30"),
    ] {
        let reply = ask(&path, "").await;
        let problem = reply.problem().replace("https://catalog.example.org/", "");
        let expected = format!(
            r#"{{"type":"problems/quota-exceeded","title":"Monthly quota used up","status":429,"detail":"The calls of this month are used up. Wait for resets_at, or see upgrade_url for more; nothing was billed.","instance":"/requests/ID","limit":200,"used":200,"resets_at":{end},"upgrade_url":"pricing"}}"#
        );
        assert_eq!((reply.status, problem), (429, expected), "{path}");
        assert_eq!(reply.header("x-ratelimit-remaining"), Some("0"), "{path}");
    }
}

#[tokio::test]
async fn a_tool_refuses_a_key_that_is_used_up_before_the_work() {
    let node = Node::start_used_up(impatient(), RateLimits::new(0, 0, 0)).await;
    let mut held = Vec::new();
    for _ in 0..Turns::at_once() {
        held.push(node.state.turns().take().await);
    }
    let facets = "category,city,year";
    let headers = format!("MCP-Protocol-Version: 2025-03-26\r\n{}", bearer());
    let refused = [
        mcp::call("search_projects", json!({"query": "street", "facets": facets, "sort": "name"})),
        mcp::call("search_by_taste", json!({"material": "larch", "facets": facets})),
        mcp::call("browse", json!({"facets": facets})),
        mcp::call("similar_projects", json!({"slug": "haus-am-see"})),
        mcp::call("search", json!({"query": "street"})),
        mcp::call("get_project", json!({"slug": "haus-am-see"})),
        mcp::call("get_project", json!({"slugs": ["haus-am-see"]})),
        mcp::call("fetch", json!({"id": "haus-am-see"})),
        mcp::call("discover", json!({})),
    ];
    for text in texts(&node.post(&headers, batch(&refused)).await, true) {
        assert!(text.starts_with("The 200 calls of this month are used up; nothing was billed."), "{text}");
    }
    let faults = [
        mcp::call("search_projects", json!({"query": "street", "facets": "shape"})),
        mcp::call("browse", json!({"facets": facets, "cursor": "x"})),
        mcp::call("get_project", json!({"slug": "nothing"})),
        mcp::call("fetch", json!({"id": "nothing"})),
    ];
    for text in texts(&node.post(&headers, batch(&faults)).await, true) {
        assert!(!text.contains("used up"), "what is wrong with the call comes first: {text}");
    }
    let free = [mcp::call("list_taste_terms", json!({}))];
    assert_eq!(texts(&node.post(&headers, batch(&free)).await, false).len(), 1);
}
