//! `GET /v1/projects`, `/v1/taste`, `/v1/discover` and `/v1/terms`, next to the tools that answer the same.

use serde_json::{Value, json};

use super::{Node, Reply, slugs};

/// The answer without the member `note`, which tools leave out where it is null.
fn unnoted(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    let mut answer = reply.json();
    assert_eq!(answer.as_object_mut().unwrap().remove("note"), Some(Value::Null), "{answer}");
    answer
}

#[tokio::test]
async fn each_answers_what_its_tool_answers() {
    let node = Node::start().await;
    for (path, name, arguments) in [
        ("/v1/projects?limit=2&category=design", "browse", json!({"limit": 2, "category": "design"})),
        ("/v1/taste?material=LARCH&limit=1", "search_by_taste", json!({"material": "LARCH", "limit": 1})),
        ("/v1/discover?category=architecture", "discover", json!({"category": "architecture"})),
        ("/v1/terms?dimension=material", "list_taste_terms", json!({"dimension": "material"})),
    ] {
        let rest = unnoted(&node.get(path).await);
        assert_eq!(rest, node.tool(name, arguments).await, "{path}");
    }
    let answer = node.get("/v1/taste?material=larch&light=dusk").await.json();
    assert_eq!(
        (slugs(&answer), &answer["matches"], &answer["results"][0]["matched"], &answer["note"]),
        (
            vec!["haus-am-see"],
            &json!({"material": 1, "light": 0}),
            &json!(["material"]),
            &json!(
                "No project has both; the nearest is one that has one. No project matches light “dusk”; /v1/terms shows the words \
                 in use."
            )
        )
    );
    let none = node.get("/v1/projects?category=art").await.json();
    let note = "No project is in the category art; there are design (4), architecture (1).";
    assert_eq!(none, json!({"count": 0, "total": 0, "results": [], "next_cursor": null, "note": note}));
    let none = node.get("/v1/discover?category=art&page=2").await.json();
    let note = "There is nothing to be drawn from yet. Leave category out, or try again later.";
    assert_eq!(
        none,
        json!({"count": 0, "total": 0, "results": [], "note": note, "ignored_parameters": ["page"]})
    );
}

#[tokio::test]
async fn pages_of_the_newest_follow_each_other() {
    let node = Node::start().await;
    let (mut seen, mut next) = (Vec::new(), "/v1/projects?limit=2".to_owned());
    loop {
        let reply = node.get(&next).await;
        let answer = unnoted(&reply);
        assert_eq!(answer["total"], 5);
        seen.extend(slugs(&answer).into_iter().map(str::to_owned));
        let Some(cursor) = answer["next_cursor"].as_str() else {
            assert_eq!(reply.header("link"), None);
            break;
        };
        next = format!("/v1/projects?limit=2&cursor={cursor}");
        assert_eq!(
            reply.header("link"),
            Some(format!("<https://catalog.example.org{next}>; rel=\"next\"").as_str())
        );
    }
    assert_eq!(seen, ["new-mill", "street-house-3", "street-house-2", "street-house-1", "haus-am-see"]);
    let first = node.get("/v1/projects?limit=2").await;
    let cursor = first.json()["next_cursor"].as_str().unwrap().to_owned();
    let detail =
        "cursor: It is not a cursor of this list. Start again from the first page, without a cursor.";
    for path in
        ["/v1/projects?category=design&cursor=", "/v1/taste?material=larch&cursor=", "/v1/projects?cursor=x"]
    {
        assert_eq!(node.get(&format!("{path}{cursor}")).await.faults(), [detail], "{path}");
    }
    let tag = first.header("etag").unwrap();
    let again = node.ask("GET", "/v1/projects?limit=2", &format!("If-None-Match: {tag}\r\n")).await;
    assert_eq!(again.status, 304);
    assert_eq!(node.get("/v1/discover").await.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn several_projects_come_in_one_call() {
    let node = Node::start().await;
    let full = async |slug: &str| node.get(&format!("/v1/project/{slug}")).await.json();
    let several =
        node.get("/v1/projects?slugs=old-mill,haus-am-see,%20gone-house,Not%20one,,new-mill,none,none").await;
    assert_eq!(
        several.json(),
        json!({
            "count": 2,
            "results": [full("new-mill").await, full("haus-am-see").await],
            "missing": ["gone-house", "Not one", "none"],
            "renamed": [{"from": "old-mill", "to": "new-mill"}],
        })
    );
    let many = vec!["a"; 21].join(",");
    assert_eq!(node.get(&format!("/v1/projects?slugs={many}")).await.faults(), ["slugs: It has 21 slugs."]);
    let together = "It is given together with slugs, which are answered all at once.";
    assert_eq!(
        node.get("/v1/projects?slugs=,&limit=2&category=art").await.faults(),
        ["slugs: It is empty.".to_owned(), format!("category: {together}"), format!("limit: {together}")]
    );
}

#[tokio::test]
async fn a_slug_that_only_the_index_has_is_not_missing() {
    let node = Node::start_with_search_ahead("very-new").await;
    assert_eq!(node.get("/v1/projects?slugs=haus-am-see,very-new").await.status, 503);
}

#[tokio::test]
async fn all_faults_are_reported_at_once() {
    let node = Node::start().await;
    let category = "category: It is not one of the catalog's five.";
    let limit = "limit: It is not an integer from 1 to 50.";
    assert_eq!(node.get("/v1/projects?category=music&limit=0").await.faults(), [category, limit]);
    assert_eq!(
        node.get("/v1/terms?dimension=smell&category=music&limit=x").await.faults(),
        ["dimension: It is not one of the six.", category, limit]
    );
    assert_eq!(
        node.get("/v1/discover?category=music&key=%ff").await.faults(),
        [category, "key: It is not UTF-8."]
    );
    assert_eq!(
        node.get("/v1/taste?limit=0&mood=+").await.faults(),
        ["material: At least one of material, light, color, mood, composition, subject is needed.", limit]
    );
    let (long, lights) = ("x".repeat(201), "&light=a".repeat(21));
    assert_eq!(
        node.get(&format!("/v1/taste?mood={long}&mood=a{lights}")).await.faults(),
        ["light: It has 21 values.", "mood: It has 201 characters."]
    );
}
