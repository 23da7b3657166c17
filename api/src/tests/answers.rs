//! What is answered where nothing is wrong.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::*;

#[tokio::test]
async fn a_search_answers_with_summaries() {
    let node = Node::start().await;
    let reply = node.get("/v1/search?q=+haus%20am+SEE&limit=5&unknown=x").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    let text = reply.text();
    let score = text.split("\"score\":").nth(1).unwrap().split('}').next().unwrap();
    assert!(score.parse::<f32>().unwrap() >= 1.0, "{text}");
    assert_eq!(
        text.replace(score, "S"),
        concat!(
            r#"{"query":" haus am SEE","count":1,"total":1,"approximate":false,"missing_words":[],"#,
            r#""replaced":[],"did_you_mean":null,"note":null,"results":[{"slug":"haus-am-see","name":"Haus am See","#,
            r#""studio":"Atelier Łoś","city":"Zürich, Switzerland","year":"2019","category":"Architecture","#,
            r#""intro":"A \"quiet\" house.","published":"2024-05-01","thumbnail":null,"thumbnail_state":null,"#,
            r#""url":"https://catalog.example.org/projects/haus-am-see","#,
            r#""citation_url":"https://catalog.example.org/cite/haus-am-see/1","#,
            r#""provenance":{"curated_by":"Ada","selected":"2024-04-01","in_archive_since":2024,"note":"Seen."},"#,
            r#""added_at":"2026-11-20T08:00:00Z","revision_url":"https://catalog.example.org/cite/haus-am-see/1","score":S}],"next_cursor":null,"ignored_parameters":["unknown"]}"#
        )
    );
}

#[tokio::test]
async fn a_search_marks_the_words_that_match_if_asked() {
    let node = Node::start().await;
    for (query, marked) in [
        (
            "haus zurich",
            json!({"name": "<mark>Haus</mark> am See", "city": "<mark>Zürich</mark>, Switzerland"}),
        ),
        (
            "quiet hau",
            json!({"name": "<mark>Haus</mark> am See", "intro": "A &quot;<mark>quiet</mark>&quot; house."}),
        ),
    ] {
        let path = format!("/v1/search?highlights=true&q={}", query.replace(' ', "+"));
        let answer = node.get(&path).await.json();
        assert_eq!(answer["results"][0]["highlights"], marked, "{answer}");
        assert_eq!(answer["results"][0]["slug"], "haus-am-see");
    }
    let plain = node.get("/v1/search?q=haus&highlights=false").await.json();
    assert_eq!(plain["results"][0].get("highlights"), None);
    let refused = node.get("/v1/search?q=haus&highlights=yes").await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("true or false"), "{}", refused.text());
}

#[tokio::test]
async fn cursors_lead_through_all_results_once() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    let mut seen = Vec::new();
    let mut path = "/v1/search?q=street&limit=2&category=DESIGN".to_owned();
    for expected in [2, 1] {
        let reply = connection.ask("GET", &path, "").await;
        let page = reply.json();
        assert_eq!((&page["total"], &page["count"]), (&3.into(), &expected.into()), "{page}");
        seen.extend(
            page["results"].as_array().unwrap().iter().map(|r| r["slug"].as_str().unwrap().to_owned()),
        );
        let link = reply.header("link").map(str::to_owned);
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/search?q=street&limit=2&category=DESIGN&cursor={cursor}"),
            None => path.clear(),
        }
        let expected = (!path.is_empty()).then(|| format!("<{}{path}>; rel=\"next\"", node::SITE));
        assert_eq!(link, expected);
    }
    assert_eq!(path, "", "the second page is the last");
    seen.sort_unstable();
    assert_eq!(seen, ["street-house-1", "street-house-2", "street-house-3"]);
}

#[tokio::test]
async fn a_search_without_results_is_answered() {
    let node = Node::start().await;
    for (query, expected) in [
        (
            "street&category=art",
            concat!(
                r#"{"query":"street","count":0,"total":0,"approximate":false,"missing_words":[],"replaced":[],"#,
                r#""did_you_mean":null,"note":"No project is in the category art; there are design (4), architecture (1). "#,
                r#"Without category 3 projects remain.","results":[],"next_cursor":null}"#
            ),
        ),
        (
            "street+xyzzy",
            concat!(
                r#"{"query":"street xyzzy","count":0,"total":0,"approximate":false,"missing_words":["xyzzy"],"#,
                r#""replaced":[],"did_you_mean":"street","note":"No project has “xyzzy”. Did you mean “street”? It finds 3 projects.","#,
                r#""results":[],"next_cursor":null}"#
            ),
        ),
    ] {
        assert_eq!(node.get(&format!("/v1/search?q={query}")).await.text(), expected, "{query}");
    }
}

#[tokio::test]
async fn a_record_is_answered_in_full() {
    let node = Node::start().await;
    let reply = node.get("/v1/project/haus-am-see").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert_eq!(
        reply.text(),
        concat!(
            r#"{"slug":"haus-am-see","name":"Haus am See","studio":"Atelier Łoś","city":"Zürich, Switzerland","#,
            r#""year":"2019","category":"Architecture","intro":"A \"quiet\" house.","published":"2024-05-01","#,
            r#""thumbnail":null,"thumbnail_state":null,"url":"https://catalog.example.org/projects/haus-am-see","#,
            r#""citation_url":"https://catalog.example.org/cite/haus-am-see/1","provenance":{"curated_by":"Ada","#,
            r#""selected":"2024-04-01","in_archive_since":2024,"note":"Seen."},"added_at":"2026-11-20T08:00:00Z","description":"Long.","#,
            r#""design_language":null,"details":[{"label":"Area","value":"120 m²"}],"taste":{"material":"larch","#,
            r#""light":null,"color":null,"mood":null,"composition":null,"subject":null},"images":[],"revision":1,"#,
            r#""revision_url":"https://catalog.example.org/cite/haus-am-see/1","updated_at":"2026-11-20T08:00:00Z"}"#
        )
    );
}

#[tokio::test]
async fn a_renamed_project_is_where_it_went() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    let reply = connection.ask("GET", "/v1/project/old-mill?key=k", "").await;
    assert_eq!((reply.status, reply.text()), (308, ""));
    assert_eq!(reply.header("cache-control"), Some("private, max-age=60"), "not permanently");
    let location = reply.header("location").unwrap().to_owned();
    assert_eq!(location, "/v1/project/new-mill");
    assert_eq!(connection.ask("GET", &location, "").await.json()["slug"], "new-mill");
    let page = connection.ask("GET", "/projects/old-mill", "").await;
    assert_eq!((page.status, page.header("location")), (308, Some("/projects/new-mill")));
}

#[tokio::test]
async fn health_reports_the_current_state() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    let reply = connection.ask("GET", "/healthz", "").await;
    assert_eq!(
        (reply.status, reply.text(), reply.header("cache-control")),
        (200, r#"{"status":"ok"}"#, Some("no-store"))
    );
    let reply = connection.ask("GET", "/readyz", "").await;
    assert_eq!((reply.status, reply.text()), (200, r#"{"status":"ready"}"#));
    let reason = "The projection search is 12 events behind.".to_owned();
    node.readiness.send_replace(crate::Readiness { ready: false, answers: true, reason });
    let reply = connection.ask("GET", "/readyz", "").await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("2")));
    assert_eq!(
        reply.problem(),
        concat!(
            r#"{"type":"https://catalog.example.org/problems/unavailable","title":"Unavailable","status":503,"#,
            r#""detail":"The projection search is 12 events behind.","instance":"/requests/ID"}"#
        )
    );
    assert_eq!(connection.ask("GET", "/healthz", "").await.status, 200);
}

#[tokio::test]
async fn a_new_node_refuses_calls_until_it_has_caught_up_once() {
    let node = Node::start().await;
    let reason = "The search model has applied 3 of 12 events.".to_owned();
    let readiness_of = |ready, answers| crate::Readiness { ready, answers, reason: reason.clone() };
    node.readiness.send_replace(readiness_of(false, false));
    for path in ["/v1/search?q=haus", "/v1/project/haus-am-see", "/v1/similar/haus-am-see", "/v1/usage", "/"]
    {
        let reply = node.get(path).await;
        assert_eq!((reply.status, reply.header("retry-after")), (503, Some("2")), "{path}");
        assert_eq!(
            reply.problem(),
            concat!(
                r#"{"type":"https://catalog.example.org/problems/unavailable","title":"Unavailable","status":503,"#,
                r#""detail":"The search model has applied 3 of 12 events.","instance":"/requests/ID"}"#
            ),
            "{path}"
        );
    }
    // A page says it to people, and loads itself again.
    let page = node.ask("GET", "/?q=haus", "Accept: text/html\r\n").await;
    assert_eq!((page.status, page.header("refresh")), (503, Some("5")));
    let lead =
        "<h1>Starting up</h1>\n<p class=\"lead\">The catalog is loading. This page reloads by itself.</p>";
    assert!(page.text().contains(lead), "{}", page.text());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(node.post("", ping).await.status, 503);
    assert_eq!(node.get("/healthz").await.status, 200);
    assert_eq!(node.get("/readyz").await.status, 503);
    node.readiness.send_replace(readiness_of(false, true));
    assert_eq!(
        node.get("/v1/search?q=haus").await.status,
        200,
        "one that is not ready may answer all the same"
    );
    node.readiness.send_replace(readiness_of(false, false));
    assert_eq!(node.get("/v1/search?q=haus").await.status, 200, "a node that was ready once keeps answering");
}

#[tokio::test]
async fn a_node_that_shuts_down_closes_each_connection_after_its_reply() {
    let node = Node::start().await;
    let mut kept = node.connect().await;
    assert_eq!(kept.ask("GET", "/v1/search?q=haus", "").await.header("connection"), None);
    node.shutting_down.store(true, Ordering::Relaxed);
    for path in ["/v1/search?q=haus", "/v1/project/haus-am-see", "/v1/search", "/healthz"] {
        let mut connection = node.connect().await;
        assert_eq!(connection.ask("GET", path, "").await.header("connection"), Some("close"), "{path}");
    }
    // One that was open and idle is not cut under its next request.
    let reply = kept.ask("GET", "/v1/search?q=haus", "").await;
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")));
}

#[tokio::test]
async fn the_interface_describes_itself_under_its_public_address() {
    let node = Node::start().await;
    for (path, mut expected) in [
        ("/openapi.json", schemas::contract::openapi()),
        ("/openapi-3.0.json", schemas::contract::openapi_3_0()),
    ] {
        let reply = node.get(path).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
        let document = reply.json();
        expected["info"]["title"] = "catalog.example.org".into();
        expected["servers"] = serde_json::json!([{"url": "https://catalog.example.org/v1"}]);
        for item in expected["paths"].as_object_mut().unwrap().values_mut() {
            // Those that need no key are outside /v1.
            if item["servers"].is_array() {
                item["servers"] = serde_json::json!([{"url": "https://catalog.example.org"}]);
            }
        }
        assert_eq!(document, expected, "{path}");
    }
}

#[tokio::test]
async fn every_problem_has_a_page() {
    let node = Node::start().await;
    let mut connection = node.connect().await;
    for kind in schemas::api::problem::ProblemKind::ALL {
        let reply = connection.ask("GET", &format!("/problems/{}", kind.name()), "").await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/html; charset=utf-8")));
        for part in [format!("<h1>{}</h1>", kind.title()), "<h2>What to do</h2>".to_owned()] {
            assert!(reply.text().contains(&part), "{part}: {}", reply.text());
        }
    }
}
