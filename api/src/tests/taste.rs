//! Searches by taste over REST and MCP: how many of the dimensions match, and how many must. What lists show with `detail=taste`.

use schemas::event::{Event, ProjectWithdrawn};
use serde_json::{Value, json};

use super::node::{revised, selected};
use super::*;

/// Four projects of which none has all of oak, north light and calm.
async fn node_of_four() -> Node {
    let record = |name: &str, category: &str, taste: Value| json!({"name": name, "category": category, "taste": taste});
    let (oak, light, calm) = ("pale oak", "light from the north", "calm");
    Node::start_with_records(&[
        ("barn", record("Barn", "art", json!({"material": oak, "light": light})), &[]),
        ("chapel", record("Chapel", "art", json!({"material": oak, "mood": calm})), &[]),
        ("den", record("Den", "design", json!({"light": light, "subject": "den"})), &[]),
        ("fort", record("Fort", "art", json!({"material": "stone"})), &[]),
    ])
    .await
}

/// An answer of a tool and of REST to the same, in which only notes that are null differ.
async fn both(node: &Node, query: &str, arguments: Value) -> Value {
    let reply = node.get(&format!("/v1/taste?{query}")).await;
    assert_eq!(reply.status, 200, "{query}: {reply:?}");
    let mut rest = reply.json();
    let tool = node.tool("search_by_taste", arguments).await;
    assert_eq!(rest["note"], tool.get("note").cloned().unwrap_or_default(), "{query}");
    if rest["note"].is_null() {
        rest.as_object_mut().unwrap().remove("note");
    }
    assert_eq!(rest, tool, "{query}");
    rest
}

/// The matching dimensions of each result.
fn matched(answer: &Value) -> Vec<(&str, Value)> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|one| (one["slug"].as_str().unwrap(), one["matched"].clone())).collect()
}

#[tokio::test]
async fn an_answer_says_how_many_match_all_dimensions_and_what_is_nearest() {
    let node = node_of_four().await;
    let expected = [
        ("barn", json!(["material", "light"])),
        ("chapel", json!(["material", "mood"])),
        ("den", json!(["light"])),
    ];
    for detail in ["full", "concise", "taste"] {
        let query = format!("material=oak&light=north+light&mood=calm&detail={detail}");
        let arguments = json!({"material": "oak", "light": "north light", "mood": "calm", "detail": detail});
        let answer = both(&node, &query, arguments).await;
        assert_eq!(matched(&answer), expected, "{detail}");
        assert_eq!(answer["total"], 3);
        assert_eq!(answer["matches"], json!({"material": 2, "light": 2, "mood": 1}));
        assert_eq!(answer["note"], "No project has all three; the nearest are 2 that have two.");
        let text = node.get(&format!("/v1/taste?{query}")).await.text().to_owned();
        assert!(text.contains(r#""by_matched":{"3":0,"2":2,"1":1}"#), "{text}");
    }
    let two = both(&node, "material=oak&light=north", json!({"material": "oak", "light": "north"})).await;
    assert_eq!((&two["by_matched"], two.get("note")), (&json!({"2": 1, "1": 2}), None));
    let one = both(&node, "mood=calm", json!({"mood": "calm"})).await;
    assert_eq!((&one["by_matched"], one.get("note")), (&json!({"1": 1}), None));
    let sorted = json!({"material": "oak", "light": "north", "sort": "name", "limit": 1});
    let sorted = both(&node, "material=oak&light=north&sort=name&limit=1", sorted).await;
    assert_eq!((slugs(&sorted), &sorted["by_matched"]), (vec!["barn"], &json!({"2": 1, "1": 2})));
    let few = json!({"material": "oak", "light": "north", "mood": "calm", "category": "design"});
    let few = both(&node, "material=oak&light=north&mood=calm&category=design", few).await;
    let note = few["note"].as_str().unwrap();
    assert_eq!((slugs(&few), &few["by_matched"]), (vec!["den"], &json!({"3": 0, "2": 0, "1": 1})));
    assert!(
        note.starts_with("With these filters no project has all three; the nearest is one that has one."),
        "{note}"
    );
}

#[tokio::test]
async fn only_projects_with_all_dimensions_may_be_asked_for() {
    let node = node_of_four().await;
    let two = json!({"material": "oak", "light": "north", "match": "all", "facets": "material"});
    let two = both(&node, "material=oak&light=north&match=all&facets=material", two).await;
    assert_eq!(matched(&two), [("barn", json!(["material", "light"]))]);
    assert_eq!((&two["total"], &two["next_cursor"]), (&json!(1), &Value::Null));
    // What is left out is counted too.
    assert_eq!(two["matches"], json!({"material": 2, "light": 2}));
    assert_eq!(two["by_matched"], json!({"2": 1, "1": 2}));
    assert_eq!(
        two["facets"]["material"],
        json!([{"value": "oak", "count": 1}, {"value": "pale", "count": 1}])
    );
    for (order, arguments) in [
        ("", json!({"material": "oak", "light": "north", "mood": "calm", "match": " ALL"})),
        (
            "&sort=name",
            json!({"material": "oak", "light": "north", "mood": "calm", "match": "all", "sort": "name"}),
        ),
    ] {
        let query = format!("material=oak&light=north&mood=calm&match=+ALL{order}");
        let none = both(&node, &query, arguments).await;
        let expected = json!({
            "count": 0, "total": 0, "results": [], "next_cursor": null,
            "matches": {"material": 2, "light": 2, "mood": 1}, "by_matched": {"3": 0, "2": 2, "1": 1},
            "note": "No project has all three; the nearest are 2 that have two, which match=any shows.",
        });
        assert_eq!(none, expected);
    }
    let arguments = json!({"material": "glass", "mood": "loud", "match": "all"});
    let tool = node.tool("search_by_taste", arguments).await;
    let rest = node.get("/v1/taste?material=glass&mood=loud&match=all").await.json();
    for none in [tool, rest] {
        let note = none["note"].as_str().unwrap();
        let begins = "No project has both, nor one of them. No project matches material “glass”";
        assert!(none["total"] == 0 && note.starts_with(begins), "{none}");
    }
    let one = both(&node, "material=oak&match=all", json!({"material": "oak", "match": "all"})).await;
    assert_eq!((slugs(&one), &one["by_matched"]), (vec!["barn", "chapel"], &json!({"1": 2})));
}

#[tokio::test]
async fn a_cursor_belongs_to_its_match_and_other_values_are_refused() {
    let node = node_of_four().await;
    let first = node.get("/v1/taste?material=oak&match=all&limit=1").await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let page = |mode: &str| format!("/v1/taste?material=oak&match={mode}&limit=1&cursor={cursor}");
    let second = node.get(&page("all")).await.json();
    assert_eq!([slugs(&first), slugs(&second)], [["barn"], ["chapel"]]);
    assert_eq!(second["by_matched"], first["by_matched"]);
    let foreign =
        "cursor: It is not a cursor of this list. Start again from the first page, without a cursor.";
    assert_eq!(node.get(&page("any")).await.faults(), [foreign]);
    let with = |mode: &str| json!({"material": "oak", "match": mode, "limit": 1, "cursor": cursor});
    assert_eq!(slugs(&node.tool("search_by_taste", with("all")).await), ["chapel"]);
    let refused = node.tool_refusal("search_by_taste", with("any")).await;
    assert!(refused.contains("it was given with the results of other arguments"), "{refused}");
    let any = node.get("/v1/taste?material=oak&limit=1").await.json();
    let arguments = json!({"material": "oak", "limit": 1, "match": "all", "cursor": any["next_cursor"]});
    assert!(node.tool_refusal("search_by_taste", arguments).await.contains("other arguments"));

    let refused = node.get("/v1/taste?material=oak&match=most").await;
    let fault =
        json!([{"parameter": "match", "detail": "It is neither any nor all.", "allowed": "any, all"}]);
    assert_eq!((refused.status, &refused.json()["errors"]), (400, &fault));
    let refused = node.tool_refusal("search_by_taste", json!({"material": "oak", "match": "most"})).await;
    let fault = "These arguments cannot be used: match is “most”, it must be one of any, all. ";
    assert!(refused.starts_with(fault), "{refused}");
    assert_eq!(node.get("/v1/projects?match=all").await.json()["ignored_parameters"], json!(["match"]));
}

/// Returns a concise answer with the taste of each project as its record has it.
async fn with_taste(node: &Node, mut answer: Value) -> Value {
    for result in answer["results"].as_array_mut().unwrap() {
        let path = format!("/v1/project/{}", result["slug"].as_str().unwrap());
        result["taste"] = node.get(&path).await.json()["taste"].take();
        assert_eq!(result["taste"].as_object().unwrap().len(), 6, "{result}");
    }
    answer
}

#[tokio::test]
async fn with_detail_taste_a_concise_list_has_the_six_texts() {
    let node = Node::start().await;
    for path in [
        "/v1/search?q=street&limit=2",
        "/v1/search?q=street&sort=name&facets=city,year,category",
        "/v1/search?q=haus&highlights=true",
        "/v1/search?q=nothing-at-all",
        "/v1/projects?limit=2",
        "/v1/projects?limit=3&sort=name&facets=city,year,category",
        "/v1/projects?slugs=haus-am-see,old-mill,no-such",
        "/v1/taste?material=larch",
        "/v1/similar/haus-am-see?limit=2",
        "/v1/similar/street-house-3",
        "/v1/discover?category=architecture",
    ] {
        let joined = if path.contains('?') { '&' } else { '?' };
        let concise = node.get(&format!("{path}{joined}detail=concise")).await.json();
        let reply = node.get(&format!("{path}{joined}detail=taste")).await;
        assert_eq!((reply.status, reply.json()), (200, with_taste(&node, concise).await), "{path}");
    }
    for (name, arguments) in [
        ("search_projects", json!({"query": "street", "limit": 2})),
        ("search_projects", json!({"query": "street", "sort": "name", "facets": "city,year,category"})),
        ("search_by_taste", json!({"material": "larch"})),
        ("browse", json!({"limit": 3})),
        ("similar_projects", json!({"slug": "haus-am-see"})),
        ("discover", json!({"category": "architecture"})),
        ("get_project", json!({"slugs": ["haus-am-see", "old-mill", "no-such"]})),
    ] {
        let with = |detail: &str| {
            let mut arguments = arguments.clone();
            arguments["detail"] = detail.into();
            arguments
        };
        let expected = with_taste(&node, node.tool(name, with("concise")).await).await;
        assert_eq!(node.tool(name, with("taste")).await, expected, "{name}");
    }
    let mut one = node.tool("get_project", json!({"slug": "haus-am-see", "detail": "taste"})).await;
    let taste = one.as_object_mut().unwrap().remove("taste").unwrap();
    assert_eq!(one, node.tool("get_project", json!({"slug": "haus-am-see", "detail": "concise"})).await);
    let none = json!({"material": "larch", "light": null, "color": null, "mood": null, "composition": null, "subject": null});
    assert_eq!(taste, none, "what is not recorded is null");
}

#[tokio::test]
async fn the_texts_are_those_of_the_record_with_its_citation() {
    let record =
        json!({"name": "Seehaus", "category": "architecture", "taste": {"mood": "calm \"and\" bright"}});
    let node = Node::start_after(&[("2026-11-21T08:00:00Z", 0, revised(record))]).await;
    let found = node.get("/v1/search?q=haus+am+see&detail=taste").await.json();
    let record = node.get("/v1/project/haus-am-see").await.json();
    // The index may be behind: all that is shown of a project is of one revision.
    for member in ["slug", "name", "studio", "city", "year", "citation_url", "revision_url", "taste"] {
        assert_eq!(found["results"][0][member], record[member], "{member}");
    }
    assert_eq!(record["taste"]["mood"], "calm \"and\" bright");
    let gone = Event::ProjectWithdrawn(ProjectWithdrawn { reason: "Sold.".into() });
    let node = Node::start_after(&[("2026-11-21T08:00:00Z", 0, gone)]).await;
    let listed = node.get("/v1/search?q=haus+am+see&detail=taste").await.json();
    assert_eq!(listed["results"][0]["taste"]["material"], "larch", "the index lists it for a moment");
}

#[tokio::test]
async fn a_record_that_is_on_its_way_is_waited_for() {
    let node = Node::start_with_search_ahead("very-new").await;
    assert_eq!(node.get("/v1/search?q=very+new&detail=concise").await.status, 200);
    let reply = node.get("/v1/search?q=very+new&detail=taste").await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    let refused = node.tool_refusal("search_projects", json!({"query": "very new", "detail": "taste"})).await;
    assert!(
        refused.starts_with("The project was listed a moment ago, and its record is on its way."),
        "{refused}"
    );
}

#[tokio::test]
async fn long_texts_leave_the_rest_of_a_page_to_the_next_one() {
    let long = |number: usize| {
        let text = format!("{number} {}", "word ".repeat(190));
        let names = ["material", "light", "color", "mood", "composition", "subject"];
        let taste: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), text.clone().into())).collect();
        json!({"name": format!("House {number}"), "category": "photography", "taste": taste})
    };
    let records = ["a", "b", "c"].iter().enumerate().map(|(number, slug)| (*slug, long(number), &[][..]));
    let records: Vec<(&str, Value, &[[u8; 3]])> = records.collect();
    let node = Node::start_with_records(&records).await;
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let arguments =
            json!({"category": "photography", "sort": "name", "detail": "taste", "cursor": cursor});
        let answer = node.tool("browse", arguments).await;
        assert_eq!((answer["count"].clone(), &answer["total"]), (json!(1), &json!(3)), "{answer}");
        seen.extend(slugs(&answer).into_iter().map(str::to_owned));
        cursor = answer["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        let note = answer["note"].as_str().unwrap();
        assert!(note.starts_with("Only the first 1 results of this page are shown"), "{note}");
    }
    assert_eq!(seen, ["a", "b", "c"]);
    let rest = node.get("/v1/projects?category=photography&sort=name&detail=taste").await.json();
    assert_eq!(slugs(&rest), ["a", "b", "c"]);
    assert!(rest["results"][0]["taste"]["subject"].as_str().unwrap().starts_with("0 word"));
}

#[tokio::test]
async fn a_new_project_is_shown_with_its_texts() {
    let record = json!({"name": "Ropewalk", "category": "art", "taste": {"subject": "library"}});
    let events = [("2026-11-21T08:00:00Z", 9, selected("ropewalk", record))];
    let node = Node::start_listing(&events).await;
    let found = node.tool("search_by_taste", json!({"subject": "library", "detail": "taste"})).await;
    assert_eq!(matched(&found), [("ropewalk", json!(["subject"]))]);
    assert_eq!(found["results"][0]["taste"]["subject"], "library");
}
