//! A record as it once was.

use schemas::event::{Event, ProjectRenamed};
use serde_json::json;

use super::*;

/// The house was revised on the 21st, moved on the 22nd and was revised again on the 23rd.
pub(super) fn later() -> Vec<(&'static str, usize, Event)> {
    let revised =
        |name: &str| node::revised(json!({"name": name, "category": "architecture", "year": "2020"}));
    let renamed = Event::ProjectRenamed(ProjectRenamed { slug: "lake-house".parse().unwrap() });
    vec![
        ("2026-11-21T10:00:00Z", 0, revised("Haus am Zürichsee")),
        ("2026-11-22T10:00:00Z", 0, renamed),
        ("2026-11-23T10:00:00.5Z", 0, revised("Lake House")),
    ]
}

/// The parameter, what is wrong with it, and what is allowed.
fn faults(reply: &Reply) -> Vec<String> {
    assert_eq!(reply.status, 400, "{reply:?}");
    let problem = reply.json();
    let member = |fault: &serde_json::Value, name: &str| fault[name].as_str().unwrap().to_owned();
    let errors = problem["errors"].as_array().unwrap().iter();
    errors
        .map(|fault| {
            format!(
                "{} | {} | {}",
                member(fault, "parameter"),
                member(fault, "detail"),
                member(fault, "allowed")
            )
        })
        .collect()
}

#[tokio::test]
async fn a_revision_is_returned_unchanged() {
    let node = Node::start_after(&later()).await;
    let first = node.get("/v1/project/lake-house?revision=1").await;
    let before = Node::start().await.get("/v1/project/haus-am-see").await;
    assert_eq!((first.status, first.text()), (200, before.text()), "as it was answered then");
    assert_eq!(
        (first.header("etag"), first.header("content-type")),
        (before.header("etag"), Some("application/json"))
    );
    let second = node.get("/v1/project/lake-house?revision=2").await.json();
    assert_eq!(
        (&second["slug"], &second["name"], &second["updated_at"], &second["citation_url"]),
        (
            &json!("haus-am-see"),
            &json!("Haus am Zürichsee"),
            &json!("2026-11-21T10:00:00Z"),
            &json!("https://catalog.example.org/cite/haus-am-see/2")
        )
    );
    let newest = node.get("/v1/project/lake-house").await;
    assert_eq!(node.get("/v1/project/lake-house?revision=3&key=").await.text(), newest.text());
}

#[tokio::test]
async fn a_date_finds_the_revision_that_was_in_force() {
    let node = Node::start_after(&later()).await;
    let mut connection = node.connect().await;
    for (as_of, revision) in [
        ("2026-11-20", 1),
        ("2026-11-20T08:00:00Z", 1),
        ("2026-11-21", 2),
        ("2026-11-21T09:59:59Z", 1),
        ("2026-11-21T12:00:00%2B02:00", 2),
        ("2026-11-21T11:59:59+02:00", 1),
        ("2026-11-23T10:00:00Z", 2),
        ("2026-11-23T10:00:00.5Z", 3),
        ("9000-01-01", 3),
    ] {
        let reply = connection.ask("GET", &format!("/v1/project/lake-house?as_of={as_of}"), "").await;
        assert_eq!((reply.status, &reply.json()["revision"]), (200, &json!(revision)), "{as_of}");
    }
}

#[tokio::test]
async fn contradicting_parameters_are_reported() {
    let node = Node::start_after(&later()).await;
    let get = async |query: &str| node.get(&format!("/v1/project/lake-house?{query}")).await;
    let beside =
        "It stands beside the other, and each of them names one revision. | either revision or as_of";
    let both = get("revision=1&as_of=2026-11-20").await;
    assert_eq!(faults(&both), [format!("revision | {beside}"), format!("as_of | {beside}")]);
    for wrong in ["0", "-1", "x", "", "1.0", "99999999999"] {
        let expected = "revision | It is not an integer from 1. | an integer from 1";
        assert_eq!(faults(&get(&format!("revision={wrong}")).await), [expected], "{wrong}");
    }
    assert_eq!(
        faults(&get("revision=4").await),
        [
            "revision | The project has no such revision; it is not an integer from 1 to 3. | an integer from 1 to 3"
        ]
    );
    assert_eq!(
        faults(&get("as_of=2026-11-19").await),
        [
            "as_of | It is before the first revision, which was recorded at 2026-11-20T08:00:00Z. | 2026-11-20 or later"
        ]
    );
    assert!(
        faults(&get("as_of=yesterday").await)[0].starts_with("as_of | It is not a date such as 2026-11-20,")
    );
    assert_eq!(
        faults(&get("revision=1&revision=2").await),
        ["revision | It is given more than once. | one value"]
    );
    let unknown = node.get("/v1/project/street-hose-1?revision=1").await;
    assert_eq!((unknown.status, &unknown.json()["suggestions"][0]), (404, &json!("street-house-1")));
}

#[tokio::test]
async fn an_old_slug_redirects_with_its_query() {
    let node = Node::start_after(&later()).await;
    for (query, location) in [
        ("?revision=1&key=k", "/v1/project/lake-house?revision=1"),
        ("?as_of=2026-11-21T12:00:00%2B02:00", "/v1/project/lake-house?as_of=2026-11-21T12:00:00%2B02:00"),
        ("", "/v1/project/lake-house"),
    ] {
        let reply = node.get(&format!("/v1/project/haus-am-see{query}")).await;
        assert_eq!((reply.status, reply.header("location")), (308, Some(location)));
    }
}

#[tokio::test]
async fn revisions_of_a_withdrawn_project_can_be_read() {
    let node = Node::start().await;
    assert_eq!(node.get("/v1/project/gone-house").await.status, 410);
    for query in ["revision=1", "as_of=2026-12-01"] {
        let reply = node.get(&format!("/v1/project/gone-house?{query}")).await;
        assert_eq!((reply.status, &reply.json()["name"]), (200, &json!("gone house")));
    }
}
