//! What lists show with `detail=concise`, and alternatives and words of the taste dimensions, over REST and MCP.

use serde_json::{Value, json};

use super::*;

const SHOWN: [&str; 9] =
    ["slug", "name", "studio", "city", "year", "citation_url", "revision_url", "score", "matched"];

/// Returns the answer with the members alone that a concise one has.
fn concise(mut answer: Value) -> Value {
    for result in answer["results"].as_array_mut().unwrap() {
        result.as_object_mut().unwrap().retain(|name, _| SHOWN.contains(&name.as_str()));
    }
    answer
}

#[tokio::test]
async fn a_concise_answer_is_the_full_one_without_the_members_of_its_results() {
    let node = Node::start().await;
    for path in [
        "/v1/search?q=street&limit=2",
        "/v1/search?q=street&sort=name&facets=city",
        "/v1/search?q=nothing-at-all",
        "/v1/projects?limit=2",
        "/v1/projects?slugs=haus-am-see,old-mill,no-such",
        "/v1/taste?material=larch",
        "/v1/similar/haus-am-see?limit=2",
        "/v1/similar/street-house-3",
        "/v1/discover?category=architecture",
    ] {
        let full = node.get(path).await.json();
        let joined = if path.contains('?') { '&' } else { '?' };
        let reply = node.get(&format!("{path}{joined}detail=concise")).await;
        assert_eq!((reply.status, reply.json()), (200, concise(full.clone())), "{path}");
        assert_eq!(node.get(&format!("{path}{joined}detail=FULL")).await.json(), full, "{path}");
        let refused = node.get(&format!("{path}{joined}detail=short")).await;
        let fault = json!([{"parameter": "detail", "detail": "It is neither full, concise nor taste.", "allowed": "full, concise, taste"}]);
        assert_eq!((refused.status, &refused.json()["errors"]), (400, &fault), "{path}");
    }
    let marked = node.get("/v1/search?q=haus&detail=concise&highlights=true").await.json();
    assert_eq!(marked["results"][0]["highlights"], json!({"name": "<mark>Haus</mark> am See"}), "{marked}");
}

#[tokio::test]
async fn tools_answer_concisely_too() {
    let node = Node::start().await;
    for (name, arguments) in [
        ("search_projects", json!({"query": "street", "limit": 2})),
        ("search_projects", json!({"query": "street", "sort": "name"})),
        ("search_by_taste", json!({"material": "larch"})),
        ("browse", json!({"limit": 3})),
        ("similar_projects", json!({"slug": "haus-am-see"})),
        ("discover", json!({"category": "architecture"})),
        ("get_project", json!({"slugs": ["haus-am-see", "old-mill", "no-such"]})),
    ] {
        let full = node.tool(name, arguments.clone()).await;
        let with = |detail: &str| {
            let mut arguments = arguments.clone();
            arguments["detail"] = detail.into();
            arguments
        };
        assert_eq!(node.tool(name, with(" Concise")).await, concise(full.clone()), "{name}");
        assert_eq!(node.tool(name, with("full")).await, full, "{name}");
        let refused = node.tool_refusal(name, with("short")).await;
        let fault =
            "These arguments cannot be used: detail is “short”, it must be one of full, concise, taste. ";
        assert!(refused.starts_with(fault), "{name}: {refused}");
    }
    let one = node.tool("get_project", json!({"slug": "haus-am-see", "detail": "concise"})).await;
    let expected = json!({
        "slug": "haus-am-see", "name": "Haus am See", "studio": "Atelier Łoś", "city": "Zürich, Switzerland", "year": "2019",
        "citation_url": "https://catalog.example.org/cite/haus-am-see/1",
        "revision_url": "https://catalog.example.org/cite/haus-am-see/1",
    });
    assert_eq!(one, expected);
}

#[tokio::test]
async fn a_dimension_takes_alternatives() {
    let oak = json!({"name": "A", "category": "art", "taste": {"material": "oak", "mood": "calm"}});
    let pine = json!({"name": "B", "category": "art", "taste": {"material": "dark pine", "mood": "loud"}});
    let node = Node::start_with_records(&[("oak-house", oak, &[]), ("pine-house", pine, &[])]).await;
    for (query, arguments, slugs, matches) in [
        (
            "material=oak&material=pine+dark",
            json!({"material": ["oak", " pine dark"]}),
            &["oak-house", "pine-house"][..],
            json!({"material": 2}),
        ),
        (
            "material=oak&material=pine&material=+&mood=loud",
            json!({"material": "oak | pine", "mood": "loud"}),
            &["pine-house", "oak-house"],
            json!({"material": 2, "mood": 1}),
        ),
        ("material=oak+pine", json!({"material": "oak pine"}), &[], json!({"material": 0})),
        ("material=oak,+pine", json!({"material": ["oak, pine"]}), &[], json!({"material": 0})),
    ] {
        let rest = node.get(&format!("/v1/taste?{query}")).await.json();
        let found = super::slugs(&rest);
        let mut sorted = found.clone();
        sorted.sort_unstable();
        let mut expected = slugs.to_vec();
        expected.sort_unstable();
        assert_eq!((sorted, &rest["matches"]), (expected, &matches), "{query}: {rest}");
        if matches["mood"] == 1 {
            assert_eq!(found, slugs, "more dimensions come first");
        }
        let answer = node.tool("search_by_taste", arguments).await;
        assert_eq!((&answer["results"], &answer["matches"]), (&rest["results"], &matches), "{query}");
    }
    let many: Vec<String> = (0..21).map(|number| format!("w{number}")).collect();
    let arguments = json!({"material": many, "mood": ["a", "x".repeat(201)]});
    let refused = node.tool_refusal("search_by_taste", arguments).await;
    let faults =
        "material has 21 values, at most 20 are taken; mood has 201 characters, at most 200 are taken. ";
    assert!(refused.contains(faults), "{refused}");
}

#[tokio::test]
async fn all_words_of_a_dimension_are_reached_page_by_page() {
    let record =
        json!({"name": "A", "category": "art", "taste": {"material": "pale oak, ash, Birch, béton, brass"}});
    let node = Node::start_with_records(&[("oak-house", record, &[])]).await;
    let words = |answer: &Value| -> Vec<String> {
        let terms = answer["dimensions"][0]["terms"].as_array().unwrap();
        terms.iter().map(|one| one["term"].as_str().unwrap().to_owned()).collect()
    };
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let reply = node.get(&format!("/v1/terms?dimension=material&limit=3&cursor={cursor}")).await;
        let page = reply.json();
        assert_eq!(page["dimensions"][0]["distinct"], 7);
        let arguments = json!({"dimension": "material", "limit": 3, "cursor": cursor});
        let mut answer = node.tool("list_taste_terms", arguments).await;
        answer["note"] = page["note"].clone();
        assert_eq!(answer, page);
        seen.extend(words(&page));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
        let link = format!(
            "<https://catalog.example.org/v1/terms?dimension=material&limit=3&cursor={cursor}>; rel=\"next\""
        );
        assert_eq!(reply.header("link"), Some(link.as_str()));
        assert!(page["note"].as_str().unwrap().ends_with("next_cursor leads on."), "{page}");
    }
    assert_eq!(seen, ["ash", "birch", "brass", "béton", "larch", "oak", "pale"]);
    let begun = node.get("/v1/terms?dimension=material&starts_with=B").await.json();
    assert_eq!(words(&begun), ["birch", "brass", "béton"]);
    let none = node.tool("list_taste_terms", json!({"dimension": "material", "starts_with": "zz"})).await;
    assert_eq!(none["note"], "No word in use begins so. Leave starts_with out to see the most used ones.");
    let all = node.get("/v1/terms?limit=3").await.json();
    assert_eq!(all["next_cursor"], Value::Null);
    assert!(all["note"].as_str().unwrap().ends_with("Ask for one dimension to page through all of them."));

    let first = node.get("/v1/terms?dimension=material&limit=3").await.json();
    let next = first["next_cursor"].as_str().unwrap();
    for path in [
        format!("/v1/terms?cursor={next}"),
        format!("/v1/terms?dimension=light&cursor={next}"),
        format!("/v1/terms?dimension=material&starts_with=b&cursor={next}"),
        "/v1/terms?dimension=material&cursor=x".to_owned(),
        format!("/v1/terms?starts_with={}", "x".repeat(101)),
    ] {
        assert_eq!(node.get(&path).await.status, 400, "{path}");
    }
    let refused = node.tool_refusal("list_taste_terms", json!({"cursor": next})).await;
    assert!(refused.contains("cursor needs the dimension that it was given with"), "{refused}");
}
