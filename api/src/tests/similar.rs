//! `GET /v1/similar/{slug}`.

use serde_json::{Value, json};

use super::Node;

/// Slug, score and basis of each result.
fn results(answer: &Value) -> Vec<Value> {
    let list = answer["results"].as_array().unwrap();
    list.iter().map(|result| json!([result["slug"], result["score"], result["basis"]])).collect()
}

/// A basis whose vectors the model `m` made.
fn basis(visual: Option<f64>, semantic: Option<f64>) -> Value {
    let encoder = |side: Option<f64>| side.map(|_| "m");
    json!({
        "visual": visual,
        "semantic": semantic,
        "visual_encoder": encoder(visual),
        "semantic_encoder": encoder(semantic),
    })
}

#[tokio::test]
async fn the_nearest_come_first_with_the_parts_of_their_score() {
    let node = Node::start().await;
    let reply = node.get("/v1/similar/haus-am-see").await;
    let answer = reply.json();
    assert_eq!((reply.status, &answer["slug"], &answer["count"]), (200, &json!("haus-am-see"), &json!(3)));
    assert_eq!(
        (&answer["total"], &answer["next_cursor"], &answer["note"]),
        (&json!(3), &Value::Null, &Value::Null)
    );
    assert_eq!(
        results(&answer),
        [
            json!(["street-house-1", 0.8, basis(Some(0.8), None)]),
            json!(["street-house-2", 0.6, basis(None, Some(0.6))]),
            json!(["new-mill", 0.0, basis(Some(0.0), Some(0.0))]),
        ],
        "a project that was withdrawn a moment ago is skipped"
    );
    let members: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(members, ["slug", "count", "total", "results", "next_cursor", "note"]);
    let summary = node.get("/v1/search?q=street+house+1").await.json()["results"][0].clone();
    let (result, summary) = (answer["results"][0].as_object().unwrap(), summary.as_object().unwrap());
    for (name, value) in summary.iter().filter(|(name, _)| *name != "score") {
        assert_eq!(&result[name], value, "{name}");
    }
    assert_eq!(result.len(), summary.len() + 1, "a summary, its score and the basis");
}

#[tokio::test]
async fn the_limit_is_applied_and_validated() {
    let node = Node::start().await;
    let one = node.get("/v1/similar/haus-am-see?limit=1").await.json();
    assert_eq!((one["count"].as_u64(), one["results"].as_array().unwrap().len()), (Some(1), 1));
    for (query, parameter) in [("limit=0", "limit"), ("limit=51", "limit"), ("limit=x", "limit")] {
        for slug in ["haus-am-see", "no-such"] {
            let reply = node.get(&format!("/v1/similar/{slug}?{query}")).await;
            assert_eq!(
                (reply.status, reply.json()["errors"][0]["parameter"].as_str()),
                (400, Some(parameter))
            );
        }
    }
}

#[tokio::test]
async fn pages_of_neighbours_follow_each_other_and_a_cursor_belongs_to_its_project() {
    let node = Node::start().await;
    let whole = results(&node.get("/v1/similar/haus-am-see").await.json());
    let (mut paged, mut next) = (Vec::new(), "/v1/similar/haus-am-see?limit=1".to_owned());
    loop {
        let reply = node.get(&next).await;
        let answer = reply.json();
        assert_eq!(
            (reply.status, &answer["count"], &answer["total"]),
            (200, &json!(1), &json!(3)),
            "{answer}"
        );
        paged.extend(results(&answer));
        let Some(cursor) = answer["next_cursor"].as_str() else {
            assert_eq!(reply.header("link"), None);
            break;
        };
        next = format!("/v1/similar/haus-am-see?limit=1&cursor={cursor}");
        let link = format!("<https://catalog.example.org{next}>; rel=\"next\"");
        assert_eq!(reply.header("link"), Some(link.as_str()));
        // A cursor is valid for its project only, and an altered one is rejected.
        for path in [format!("/v1/similar/new-mill?cursor={cursor}"), format!("{next}x")] {
            let refused = node.get(&path).await;
            assert_eq!(
                (refused.status, &refused.json()["errors"][0]["parameter"]),
                (400, &json!("cursor")),
                "{path}"
            );
        }
    }
    assert_eq!(paged, whole);
    let first = node.get("/v1/similar/haus-am-see?cursor=").await;
    assert_eq!(results(&first.json()), whole, "an empty cursor is the first page");
}

#[tokio::test]
async fn a_project_that_cannot_be_compared_has_a_note() {
    let node = Node::start().await;
    let answer = node.get("/v1/similar/street-house-3").await.json();
    let note = "The project has no picture and no text that could be compared, so it has no neighbours.";
    assert_eq!(
        answer,
        json!({"slug": "street-house-3", "count": 0, "total": 0, "results": [], "next_cursor": null, "note": note})
    );
}

#[tokio::test]
async fn renamed_withdrawn_and_unknown_slugs_are_answered_as_for_the_record() {
    let node = Node::start().await;
    let moved = node.get("/v1/similar/old-mill").await;
    assert_eq!((moved.status, moved.header("location")), (308, Some("/v1/similar/new-mill")));
    let gone = node.get("/v1/similar/gone-house").await;
    assert_eq!((gone.status, gone.json()["reason"].as_str()), (410, Some("The owners \"asked\" for it.")));
    let unknown = node.get("/v1/similar/street-hous-1").await;
    assert_eq!((unknown.status, &unknown.json()["suggestions"][0]), (404, &json!("street-house-1")));
    for path in ["/v1/similar/", "/v1/similar/Not%20a%20slug", "/v1/similar/%ff"] {
        assert_eq!(node.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn equivalent_requests_have_the_same_answer() {
    let node = Node::start().await;
    let expected = node.get("/v1/similar/haus-am-see?limit=2").await;
    assert_eq!(expected.json()["count"], 2);
    let encoded = node.get("/v1/similar/haus%2Dam-s%65e?limit=2").await;
    assert_eq!((encoded.status, encoded.text()), (200, expected.text()));
    for body in ["Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"] {
        let mut connection = node.connect().await;
        connection
            .send(format!("GET /v1/similar/haus-am-see?limit=2 HTTP/1.1\r\nHost: test\r\n{body}"))
            .await;
        let reply = connection.reply("GET").await;
        assert_eq!((reply.status, reply.text()), (200, expected.text()), "{body}");
    }
}

#[tokio::test]
async fn an_unchanged_answer_is_not_sent_again() {
    let node = Node::start().await;
    let path = "/v1/similar/haus-am-see";
    let reply = node.get(path).await;
    let tag = reply.header("etag").unwrap();
    assert_eq!(node.ask("GET", path, &format!("If-None-Match: {tag}\r\n")).await.status, 304);
    let head = node.ask("HEAD", path, "").await;
    assert_eq!((head.status, head.body.len(), head.header("etag")), (200, 0, Some(tag)));
}
