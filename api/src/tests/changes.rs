//! `GET /v1/changes`.

use std::time::{Duration, Instant};

use read::catalog::CatalogWriter;
use read::models::ModelKind;
use schemas::control::ProjectionStatus;
use schemas::ids::Position;
use serde_json::{Value, json};

use super::Node;
use super::keyed::{self, KEY};
use crate::{Limits, RateLimits, Readiness};

/// Kind, slug and former slug of each change, and the slug of its record.
fn heads(answer: &Value) -> Vec<Value> {
    let changes = answer["changes"].as_array().unwrap();
    changes.iter().map(|one| json!([one["kind"], one["slug"], one["from"], one["project"]["slug"]])).collect()
}

/// The path of what follows all present changes.
async fn following(node: &Node) -> String {
    let answer = node.get("/v1/changes?limit=100").await.json();
    assert_eq!(answer["caught_up"], true, "{answer}");
    format!("/v1/changes?since={}", answer["next_cursor"].as_str().unwrap())
}

#[tokio::test]
async fn what_happened_comes_in_log_order_with_the_records_of_now() {
    let node = Node::start().await;
    let reply = node.get("/v1/changes").await;
    let answer = reply.json();
    assert_eq!(
        heads(&answer),
        [
            json!(["selected", "haus-am-see", null, "haus-am-see"]),
            json!(["selected", "street-house-1", null, "street-house-1"]),
            json!(["selected", "street-house-2", null, "street-house-2"]),
            json!(["selected", "street-house-3", null, "street-house-3"]),
            json!(["selected", "old-mill", null, "new-mill"]),
            json!(["selected", "gone-house", null, null]),
            json!(["renamed", "new-mill", "old-mill", "new-mill"]),
            json!(["withdrawn", "gone-house", null, null]),
        ]
    );
    let first = &answer["changes"][0];
    let cursor = first["cursor"].as_str().unwrap();
    assert_eq!(
        *first,
        json!({"cursor": cursor, "kind": "selected", "slug": "haus-am-see", "at": "2026-11-20T08:00:00Z",
            "project": node.get("/v1/project/haus-am-see").await.json()})
    );
    let last = &answer["changes"][7];
    assert_eq!(
        (&last["project"], &answer["next_cursor"], &answer["caught_up"]),
        (&Value::Null, &last["cursor"], &json!(true))
    );
    assert_eq!(reply.header("cache-control"), Some("no-store"));

    let (mut paged, mut next) = (Vec::new(), "/v1/changes?limit=3&key=k".to_owned());
    loop {
        let reply = node.get(&next).await;
        let page = reply.json();
        paged.extend(page["changes"].as_array().unwrap().clone());
        next = format!("/v1/changes?limit=3&since={}", page["next_cursor"].as_str().unwrap());
        assert_eq!(
            reply.header("link"),
            Some(format!("<https://catalog.example.org{next}>; rel=\"next\"").as_str())
        );
        if page["caught_up"] == true {
            break;
        }
    }
    assert_eq!(Value::from(paged), answer["changes"]);
    let rest = node.get(&format!("/v1/changes?since={cursor}&page=1")).await.json();
    assert_eq!(
        (rest["changes"].as_array().unwrap().len(), &rest["ignored_parameters"]),
        (7, &json!(["page"]))
    );
}

#[tokio::test]
async fn a_waiting_call_is_answered_when_something_happens() {
    let node = Node::start().await;
    let path = format!("{}&wait=30", following(&node).await);
    let (mut first, mut second) = (node.connect().await, node.connect().await);
    for connection in [&mut first, &mut second] {
        connection.send(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")).await;
        connection.is_read().await;
    }
    node.revise(0, "Haus am Meer").await;
    node.state.models().refresh().await.unwrap();
    // A call whose time is over answers with nothing.
    for connection in [&mut first, &mut second] {
        let answer = connection.reply("GET").await.json();
        assert_eq!(heads(&answer), [json!(["revised", "haus-am-see", null, "haus-am-see"])]);
        assert_eq!(answer["changes"][0]["project"]["name"], "Haus am Meer");
    }
}

#[tokio::test]
async fn a_key_that_is_revoked_while_its_call_waits_learns_nothing_more() {
    let path = format!("{}&wait=30", following(&Node::start().await).await);
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let mut waiting = node.connect().await;
    let head = format!("GET {path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {KEY}\r\n\r\n");
    waiting.send(head).await;
    waiting.is_read().await;
    keyed::revoke(node.folder.path()).await;
    node.state.models().refresh().await.unwrap();
    node.revise(0, "Haus am Meer").await;
    node.state.models().refresh().await.unwrap();
    let reply = waiting.reply("GET").await;
    let kind = json!("https://catalog.example.org/problems/invalid-key");
    assert_eq!((reply.status, &reply.json()["type"]), (401, &kind), "{reply:?}");
    assert!(!reply.text().contains("Haus am Meer"), "{reply:?}");
}

#[tokio::test]
async fn a_waiting_call_goes_on_in_a_new_generation() {
    let node = Node::start().await;
    let path = format!("{}&wait=30", following(&node).await);
    let mut waiting = node.connect().await;
    waiting.send(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")).await;
    waiting.is_read().await;
    let generations = ModelKind::Catalog.generations(node.folder.path());
    let (former, next) = (generations.current().unwrap().unwrap(), generations.create_next().unwrap());
    ModelKind::Catalog.copy(&former.path, &next.path).await.unwrap();
    let writer = CatalogWriter::open(&next.path).await.unwrap();
    writer.close().await.unwrap();
    generations.make_current(&next).unwrap();
    node.state.models().refresh().await.unwrap();
    node.revise(0, "Rebuilt").await;
    node.state.models().refresh().await.unwrap();
    let answer = waiting.reply("GET").await.json();
    assert_eq!(answer["changes"][0]["project"]["name"], "Rebuilt", "{answer}");
}

#[tokio::test]
async fn a_waiting_call_ends_in_time_and_when_the_node_stops() {
    let node = Node::start().await;
    let path = following(&node).await;
    let nothing = |answer: &Value| {
        assert_eq!((heads(answer), &answer["caught_up"]), (vec![], &json!(true)), "{answer}");
        assert_eq!(path, format!("/v1/changes?since={}", answer["next_cursor"].as_str().unwrap()));
    };
    nothing(&node.get(&path).await.json());
    let begun = Instant::now();
    nothing(&node.get(&format!("{path}&wait=1")).await.json());
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let mut waiting = node.connect().await;
    waiting.send(format!("GET {path}&wait=30 HTTP/1.1\r\nHost: test\r\n\r\n")).await;
    waiting.is_read().await;
    let begun = Instant::now();
    node.readiness.send_replace(Readiness { ready: false, answers: true, reason: "It stops.".into() });
    nothing(&waiting.reply("GET").await.json());
    assert!(begun.elapsed() < Duration::from_secs(30), "before its time is over: {:?}", begun.elapsed());
}

#[tokio::test]
async fn bad_input_is_refused_with_what_to_do() {
    let node = Node::start().await;
    let limit = "limit: It is not an integer from 1 to 100.";
    let wait = "wait: It is not an integer from 0 to 30.";
    let since = "since: It is not a cursor of changes.";
    assert_eq!(
        node.get("/v1/changes?since=rubbish&limit=101&wait=99999").await.faults(),
        [since, limit, wait]
    );
    assert_eq!(node.get("/v1/changes?since=%00&limit=0&wait=-1").await.faults(), [since, limit, wait]);
    assert_eq!(node.get("/v1/changes?since=").await.json()["changes"].as_array().unwrap().len(), 8);

    let path = following(&node).await;
    node.revise(0, "Later").await;
    let future = following(&node).await;
    let other = Node::start().await;
    assert_eq!(
        other.get(&future).await.faults(),
        ["since: It is from the future: this catalog has not come so far."]
    );
    assert_eq!(other.get(&path).await.status, 200, "the same log");
    let foreign = Node::start_of_store("01BX5ZZKBKACTAV9WEVGEMMVRZ").await;
    let gone = foreign.get(&path).await;
    assert_eq!((gone.status, &gone.json()["title"]), (410, &json!("Cursor of another log")));
    assert!(gone.json()["detail"].as_str().unwrap().contains("Begin again without since"), "{gone:?}");
}

#[tokio::test]
async fn a_node_that_is_behind_the_cursor_says_so() {
    let node = Node::start().await;
    node.revise(0, "Later").await;
    let path = following(&node).await;
    let catalog = ProjectionStatus { position: Position(8), lag: 1_000, ..ProjectionStatus::new("catalog") };
    let behind = Node::start_behind(vec![catalog]).await;
    let reply = behind.get(&path).await;
    let detail = "This node has not come as far as the cursor yet. Try again in a second.";
    assert_eq!((reply.status, &reply.json()["detail"]), (503, &json!(detail)), "{reply:?}");
    assert_eq!(reply.header("retry-after"), Some("1"));
}
