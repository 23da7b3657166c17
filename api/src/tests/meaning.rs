//! Searches by meaning over REST, MCP and the pages, on a node with a small text model.

mod metered;
mod near_terms;

use schemas::event::{Event, ProjectRestored, ProjectWithdrawn};
use serde_json::{Value, json};

use super::*;

fn record(name: &str, category: &str, year: &str) -> Value {
    json!({"name": name, "category": category, "year": year, "studio": "Studio A"})
}

/// Seven projects: two with boats in their names, three that are about boats, a church, and one without a meaning.
async fn node() -> Node {
    Node::start_with_meanings(&[
        ("chapel", record("House of the boat", "architecture", "1990"), Some("church")),
        ("pier", record("Pier", "architecture", "2001"), Some("ship harbour")),
        ("boats", record("Boat", "art", "1999"), Some("boat")),
        ("coast", record("Coast", "art", "2003"), Some("sea")),
        ("regatta", record("Regatta", "photography", "1970"), Some("boat ship")),
        ("nave", record("Nave", "photography", "2010"), Some("temple")),
        ("silent", record("Silent", "art", "2011"), None),
    ])
    .await
}

/// The slug of each result, and why it is one.
fn matched(answer: &Value) -> Vec<(String, String)> {
    let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    results.iter().map(|one| (text(&one["slug"]), text(&one["matched"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(slug, matched)| ((*slug).to_owned(), (*matched).to_owned())).collect()
}

const BY_MEANING: [(&str, &str); 4] =
    [("boats", "meaning"), ("regatta", "meaning"), ("pier", "meaning"), ("coast", "meaning")];
const BY_BOTH: [(&str, &str); 5] = [
    ("boats", "words"),
    ("chapel", "words"),
    ("regatta", "meaning"),
    ("pier", "meaning"),
    ("coast", "meaning"),
];

#[tokio::test]
async fn what_is_near_in_meaning_is_found_without_its_words() {
    let node = node().await;
    let reply = node.get("/v1/search?q=boat&mode=meaning").await;
    let answer = reply.json();
    assert_eq!(reply.status, 200, "{answer}");
    assert_eq!(matched(&answer), pairs(&BY_MEANING));
    let members: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "query",
            "count",
            "total",
            "approximate",
            "missing_words",
            "replaced",
            "did_you_mean",
            "note",
            "results",
            "next_cursor"
        ]
    );
    for (name, expected) in [
        ("query", json!("boat")),
        ("count", json!(4)),
        ("total", json!(4)),
        ("approximate", json!(true)),
        ("note", Value::Null),
        ("next_cursor", Value::Null),
    ] {
        assert_eq!(answer[name], expected, "{name}");
    }
    let scores: Vec<f64> =
        answer["results"].as_array().unwrap().iter().map(|one| one["score"].as_f64().unwrap()).collect();
    assert!(
        scores.is_sorted_by(|a, b| a > b) && scores[0] > 0.99 && (scores[3] - 0.707).abs() < 0.01,
        "{scores:?}"
    );
    let result = answer["results"][0].as_object().unwrap();
    let summary = node.get("/v1/search?q=boat").await.json()["results"][0].clone();
    let (result, summary) = (result.clone(), summary.as_object().unwrap().clone());
    let others = |mut object: serde_json::Map<String, Value>| {
        object.remove("score");
        object.remove("matched");
        object
    };
    assert_eq!((others(result), summary.get("matched")), (others(summary.clone()), None));
    let tag = reply.header("etag").unwrap();
    let unchanged =
        node.ask("GET", "/v1/search?q=boat&mode=meaning", &format!("If-None-Match: {tag}\r\n")).await;
    assert_eq!(unchanged.status, 304);
}

#[tokio::test]
async fn projects_with_all_words_come_before_those_that_are_near() {
    let node = node().await;
    for (query, expected) in [
        ("boat", &BY_BOTH[..]),
        ("ship", &[("boats", "meaning"), ("regatta", "meaning"), ("pier", "meaning"), ("coast", "meaning")]),
        ("house+church", &[("chapel", "meaning"), ("nave", "meaning")]),
        ("war+war", &[]),
    ] {
        let answer = node.get(&format!("/v1/search?q={query}&mode=both")).await.json();
        let (mut found, mut expected) = (matched(&answer), pairs(expected));
        if query == "ship" || query.contains("church") {
            // The order of those that are nearly as near does not matter here.
            found.sort();
            expected.sort();
        }
        assert_eq!(
            (found, answer["total"].as_u64().unwrap()),
            (expected.clone(), expected.len() as u64),
            "{query}"
        );
    }
    let words = node.get("/v1/search?q=boat").await.json();
    let plain = node.get("/v1/search?q=boat&mode=words").await;
    assert_eq!((plain.json(), matched(&words)), (words.clone(), pairs(&[("boats", "-"), ("chapel", "-")])));
}

/// Returns the results of all pages.
async fn all_pages(node: &Node, query: &str, mut between: impl AsyncFnMut(usize)) -> Vec<(String, String)> {
    let (mut all, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let reply = node.get(&format!("/v1/search?{query}&cursor={cursor}")).await;
        let answer = reply.json();
        assert_eq!(reply.status, 200, "{query}: {answer}");
        all.extend(matched(&answer));
        pages += 1;
        let Some(next) = answer["next_cursor"].as_str() else { return all };
        assert!(next.len() <= 200, "{next}");
        assert!(reply.header("link").unwrap().contains(next));
        cursor = next.to_owned();
        between(pages).await;
    }
}

#[tokio::test]
async fn pages_follow_each_other_in_each_mode_and_order() {
    let node = node().await;
    for limit in 1..=6 {
        for (mode, expected) in [("meaning", &BY_MEANING[..]), ("both", &BY_BOTH)] {
            let query = format!("q=boat&mode={mode}&limit={limit}");
            assert_eq!(all_pages(&node, &query, async |_| {}).await, pairs(expected), "{query}");
            let whole = node.get(&format!("/v1/search?q=boat&mode={mode}&sort=name")).await.json();
            let sorted = all_pages(&node, &format!("{query}&sort=name"), async |_| {}).await;
            assert_eq!(sorted, matched(&whole), "{query}");
        }
    }
    let names = node.get("/v1/search?q=boat&mode=both&sort=name").await.json();
    let slugs: Vec<String> = matched(&names).into_iter().map(|(slug, _)| slug).collect();
    assert_eq!(slugs, ["boats", "coast", "chapel", "pier", "regatta"]);
    let years = node.get("/v1/search?q=boat&mode=meaning&sort=year_asc").await.json();
    let expected = [("regatta", "meaning"), ("boats", "meaning"), ("pier", "meaning"), ("coast", "meaning")];
    assert_eq!(matched(&years), pairs(&expected));
}

#[tokio::test]
async fn no_project_comes_twice_while_others_are_added() {
    for mode in ["meaning", "both"] {
        let node = node().await;
        let mut count = 7;
        let found = all_pages(&node, &format!("q=boat&mode={mode}&limit=1"), async |page| {
            let slugs = [format!("first-{page}"), format!("last-{page}"), format!("boat-{page}")];
            let [first, last, word] = slugs.each_ref();
            // The nearest, the farthest, and one with the word.
            let added = [
                (first.as_str(), record("Fleet", "art", "2000"), Some("boat")),
                (last.as_str(), record("Bay", "art", "2000"), Some("sea wood")),
                (word.as_str(), record("Boat yard", "art", "2000"), Some("church")),
            ];
            if page < 4 {
                node.add_meanings(count, &added).await;
                count += added.len();
            }
        })
        .await;
        let mut distinct: Vec<&str> = found.iter().map(|(slug, _)| slug.as_str()).collect();
        let length = distinct.len();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), length, "{mode}: {found:?}");
        for slug in ["boats", "regatta", "pier", "coast"] {
            assert!(distinct.contains(&slug), "{mode}: {slug} in {found:?}");
        }
    }
}

#[tokio::test]
async fn a_cursor_belongs_to_its_text_mode_filters_and_order() {
    let node = node().await;
    let next = async |query: &str| {
        let answer = node.get(&format!("/v1/search?limit=1&{query}")).await.json();
        answer["next_cursor"].as_str().unwrap_or_else(|| panic!("{query}: {answer}")).to_owned()
    };
    let queries = [
        "q=boat&mode=words",
        "q=boat&mode=meaning",
        "q=boat&mode=both",
        "q=ship&mode=both",
        "q=boat&mode=meaning&category=art",
        "q=boat&mode=meaning&sort=name",
        "q=boat&mode=both&sort=name",
    ];
    for query in queries {
        let cursor = next(query).await;
        for other in queries {
            let reply = node.get(&format!("/v1/search?limit=1&{other}&cursor={cursor}")).await;
            let status = if other == query { 200 } else { 400 };
            assert_eq!(reply.status, status, "{query} in {other}: {}", reply.text());
        }
    }
    let refused = node.get("/v1/search?q=boat&mode=both&cursor=both-x").await.json();
    assert_eq!(refused["errors"][0]["parameter"], "cursor");
    let said = node
        .tool_refusal(
            "search_projects",
            json!({"query": "ship", "mode": "meaning", "cursor": next(queries[1]).await}),
        )
        .await;
    assert!(said.starts_with("The cursor was given with results of another text, mode or order"), "{said}");
}

#[tokio::test]
async fn filters_and_facets_hold_in_each_mode() {
    let node = node().await;
    for (mode, art, all) in [("words", 1, 2), ("meaning", 2, 4), ("both", 2, 5)] {
        let query = format!("/v1/search?q=boat&mode={mode}&facets=category,year");
        let whole = node.get(&query).await.json();
        assert_eq!(whole["total"], all, "{mode}: {whole}");
        let count = |answer: &Value, facet: &str, value: &str| {
            let values = answer["facets"][facet].as_array().unwrap();
            values.iter().find(|one| one["value"] == value).map_or(0, |one| one["count"].as_u64().unwrap())
        };
        assert_eq!(count(&whole, "category", "art"), art, "{mode}");
        let filtered = node.get(&format!("{query}&category=art")).await.json();
        assert_eq!(filtered["total"], art, "{mode}: {filtered}");
        assert_eq!(
            filtered["facets"]["category"], whole["facets"]["category"],
            "{mode}: without the own filter"
        );
        let years: u64 = ["1999", "2003"].iter().map(|year| count(&filtered, "year", year)).sum();
        assert_eq!(years, art, "{mode}: {filtered}");
    }
    let none = node.get("/v1/search?q=boat&mode=meaning&year_to=1900").await.json();
    let note = none["note"].as_str().unwrap();
    assert!(note.starts_with("No project that is near in meaning matches all of these filters."), "{note}");
    assert!(note.contains("Without year_to"), "{note}");
    let none = node.get("/v1/search?q=war&mode=meaning&category=art").await.json();
    assert_eq!(
        (&none["total"], &none["note"]),
        (&json!(0), &json!("No project is near to this in meaning."))
    );
}

#[tokio::test]
async fn details_and_highlights_are_those_of_other_searches() {
    let node = node().await;
    let concise = node.get("/v1/search?q=boat&mode=both&detail=concise&limit=3&highlights=true").await.json();
    let result = |slug: &str| {
        let results = concise["results"].as_array().unwrap();
        results.iter().find(|one| one["slug"] == slug).unwrap().clone()
    };
    assert_eq!(result("boats")["highlights"], json!({"name": "<mark>Boat</mark>"}));
    assert_eq!(result("regatta")["highlights"], json!({}));
    let members: Vec<String> = result("regatta").as_object().unwrap().keys().cloned().collect();
    assert!(!members.contains(&"intro".to_owned()) && members.contains(&"matched".to_owned()), "{members:?}");
    let taste = node.get("/v1/search?q=boat&mode=meaning&detail=taste&limit=1").await.json();
    assert!(taste["results"][0]["taste"].is_object(), "{taste}");
}

#[tokio::test]
async fn withdrawn_projects_are_not_near() {
    let node = node().await;
    let withdrawn = || Event::ProjectWithdrawn(ProjectWithdrawn { reason: "It left.".into() });
    let found = async || matched(&node.get("/v1/search?q=boat&mode=meaning").await.json());
    let others =
        |left: &str| pairs(&BY_MEANING).into_iter().filter(|(slug, _)| slug != left).collect::<Vec<_>>();
    node.happens(2, withdrawn(), [false, true]).await;
    assert_eq!(found().await, others("boats"), "the neighbours know it first");
    node.happens(2, Event::ProjectRestored(ProjectRestored {}), [false, true]).await;
    assert_eq!(found().await, pairs(&BY_MEANING));
    node.happens(4, withdrawn(), [true, false]).await;
    assert_eq!(found().await, others("regatta"), "the lists know it first");
    let both = matched(&node.get("/v1/search?q=boat&mode=both").await.json());
    assert!(both.iter().all(|(slug, _)| slug != "regatta"), "{both:?}");
}

const NOT_UNDERSTOOD: &str =
    "The text model knows too few of these words (it knows English), so these are results by words alone.";

#[tokio::test]
async fn a_text_that_is_not_understood_is_answered_by_words() {
    let node = node().await;
    let foreign = ["Silent", "silent+nave+regatta", "美術館", "%F0%9F%9B%B6%F0%9F%8C%8A", "x", "5"];
    for query in foreign {
        let words = node.get(&format!("/v1/search?q={query}")).await.json();
        for mode in ["meaning", "both"] {
            let reply = node.get(&format!("/v1/search?q={query}&mode={mode}")).await;
            let answer = reply.json();
            assert_eq!((reply.status, &answer["total"]), (200, &words["total"]), "{query}: {answer}");
            assert_eq!(slugs(&answer), slugs(&words), "{query}");
            assert!(matched(&answer).iter().all(|(_, matched)| matched == "words"), "{query}: {answer}");
            assert!(answer["note"].as_str().unwrap().ends_with(NOT_UNDERSTOOD), "{query}: {answer}");
        }
    }
    assert_eq!(slugs(&node.get("/v1/search?q=Silent&mode=meaning").await.json()), ["silent"]);
}

#[tokio::test]
async fn parameters_that_cannot_be_used_are_refused() {
    let node = node().await;
    let long = "boat+".repeat(50);
    for (query, parameter, allowed) in [
        ("/v1/search?q=boat&mode=semantic", "mode", "words, meaning, both"),
        ("/v1/search?q=boat&mode=", "mode", "words, meaning, both"),
        (&format!("/v1/search?q={long}&mode=meaning"), "q", "1 to 200 characters of any text"),
        ("/v1/similar", "text", "1 to 200 characters of any text"),
        ("/v1/similar?text=++", "text", "1 to 200 characters of any text"),
        (&format!("/v1/similar?text={long}"), "text", "1 to 200 characters of any text"),
        ("/v1/similar?text=boat&limit=51", "limit", "an integer from 1 to 50"),
        (
            "/v1/similar?text=boat&cursor=x",
            "cursor",
            "next_cursor of the page before, with the same text and filters",
        ),
    ] {
        let reply = node.get(query).await;
        let error = &reply.json()["errors"][0];
        assert_eq!(
            (reply.status, error["parameter"].as_str(), error["allowed"].as_str()),
            (400, Some(parameter), Some(allowed)),
            "{query}"
        );
    }
    let reply = node.get(&format!("/v1/search?q={}&mode=meaning", "boat+".repeat(2_000))).await;
    assert_eq!(reply.status, 414, "{}", reply.text());
    let said = node.tool_refusal("search_projects", json!({"query": "boat", "mode": "near"})).await;
    assert!(said.contains("mode is") && said.contains("words, meaning, both"), "{said}");
    let said =
        node.tool_refusal("search_projects", json!({"query": "b".repeat(10_000), "mode": "both"})).await;
    assert!(said.contains("query has 10000 characters"), "{said}");
}

#[tokio::test]
async fn what_is_near_to_a_text_is_listed() {
    let node = node().await;
    let reply = node.get("/v1/similar?text=+boat+&limit=3").await;
    let answer = reply.json();
    assert_eq!((reply.status, slugs(&answer)), (200, vec!["boats", "regatta", "pier"]));
    let members: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(members, ["text", "count", "total", "results", "next_cursor", "note"]);
    assert_eq!(
        (&answer["text"], &answer["count"], &answer["total"]),
        (&json!(" boat "), &json!(3), &json!(4))
    );
    let result = answer["results"][0].as_object().unwrap();
    assert!(result.contains_key("score") && !result.contains_key("matched") && !result.contains_key("basis"));
    let cursor = answer["next_cursor"].as_str().unwrap();
    let rest = node.get(&format!("/v1/similar?text=boat&cursor={cursor}")).await.json();
    assert_eq!((slugs(&rest), &rest["next_cursor"]), (vec!["coast"], &Value::Null));
    assert_eq!(node.get(&format!("/v1/similar?text=ship&cursor={cursor}")).await.status, 400);
    assert_eq!(slugs(&node.get("/v1/similar?text=boat&category=art").await.json()), ["boats", "coast"]);
    for text in ["Silent", "美術館", "x"] {
        let answer = node.get(&format!("/v1/similar?text={text}")).await.json();
        assert_eq!((slugs(&answer).len(), &answer["total"]), (0, &json!(0)));
        assert!(answer["note"].as_str().unwrap().starts_with("The text model knows too few"), "{answer}");
    }
    assert_eq!(node.get("/v1/similar/boats").await.json()["slug"], "boats", "a slug is answered as before");
}

#[tokio::test]
async fn a_node_without_a_text_model_says_what_to_do() {
    let node = Node::start().await;
    for path in ["/v1/search?q=house&mode=meaning", "/v1/similar?text=house", "/v1/terms?near=calm"] {
        let reply = node.get(path).await;
        let problem = reply.json();
        assert_eq!(
            (reply.status, &problem["type"]),
            (503, &json!("https://catalog.example.org/problems/unavailable"))
        );
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("bin/setup") && detail.contains("loggia models fetch"), "{detail}");
    }
    let words = node.get("/v1/search?q=house").await.json();
    let both = node.get("/v1/search?q=house&mode=both").await.json();
    assert_eq!((slugs(&both), &both["total"]), (slugs(&words), &words["total"]));
    assert!(matched(&both).iter().all(|(_, matched)| matched == "words"));
    let note = both["note"].as_str().unwrap();
    assert!(note.ends_with("This node has no text model, so these are results by words alone."), "{note}");
    for (tool, arguments) in [
        ("search_projects", json!({"query": "house", "mode": "meaning"})),
        ("list_taste_terms", json!({"near": "calm"})),
    ] {
        let said = node.tool_refusal(tool, arguments).await;
        assert!(said.contains("bin/setup"), "{said}");
    }
}

#[tokio::test]
async fn before_meanings_are_computed_words_are_found() {
    let node = Node::start_with_meanings(&[("boats", record("Boat", "art", "1999"), None)]).await;
    let note = "The meanings of the projects have not been computed yet; they come with their vectors.";
    for (mode, expected) in [("meaning", &[][..]), ("both", &[("boats", "words")])] {
        let answer = node.get(&format!("/v1/search?q=boat&mode={mode}")).await.json();
        assert_eq!((matched(&answer), &answer["note"]), (pairs(expected), &json!(note)), "{mode}");
    }
    assert!(!node.get("/?q=boat").await.text().contains("Near in meaning"));
}

#[tokio::test]
async fn the_tool_answers_as_rest_does() {
    let node = node().await;
    for (mode, query) in [("meaning", "boat"), ("both", "boat"), ("both", "Silent"), ("words", "boat")] {
        let rest =
            node.get(&format!("/v1/search?q={query}&mode={mode}&limit=3&facets=category")).await.json();
        let arguments = json!({"query": query, "mode": mode, "limit": 3, "facets": "category"});
        let tool = node.tool("search_projects", arguments).await;
        for member in ["query", "count", "total", "results", "next_cursor", "facets", "facet_totals"] {
            assert_eq!(rest[member], tool[member], "{query} {mode}: {member}");
        }
        assert_eq!(rest["note"], tool.get("note").cloned().unwrap_or_default(), "{query} {mode}");
    }
    let next = node.tool("search_projects", json!({"query": "boat", "mode": "both", "limit": 3})).await;
    let arguments = json!({"query": "boat", "mode": "both", "limit": 3, "cursor": next["next_cursor"]});
    assert_eq!(slugs(&node.tool("search_projects", arguments).await), ["pier", "coast"]);
}

#[tokio::test]
async fn a_search_with_few_words_names_the_mode_that_finds_more() {
    let node = node().await;
    let advice = "mode=both also finds what is near in meaning.";
    let none = node.get("/v1/search?q=ship+harbour").await.json();
    assert!(none["note"].as_str().unwrap().ends_with(advice), "{none}");
    let tool = node.tool("search_projects", json!({"query": "ship harbour"})).await;
    assert!(tool["note"].as_str().unwrap().ends_with(advice), "{tool}");
    assert_eq!(node.get("/v1/search?q=boat").await.json()["note"], Value::Null);
    // A text that the model does not know is answered by words in each mode.
    let unknown = node.get("/v1/search?q=zzz+qqq").await.json();
    assert!(unknown["total"] == 0 && !unknown["note"].as_str().unwrap().contains("mode=both"), "{unknown}");
}

#[tokio::test]
async fn the_results_page_shows_what_is_near_below_few_results() {
    let node = node().await;
    let page = node.get("/?q=boat").await;
    assert_eq!(page.status, 200);
    let (results, near) =
        page.text().split_once("<h2 class=\"section-heading\">Near in meaning</h2>").unwrap();
    let shown = |part: &str, slug: &str| part.contains(&format!("/projects/{slug}"));
    assert!(shown(results, "boats") && shown(results, "chapel") && !shown(results, "regatta"));
    assert!(!shown(near, "boats") && shown(near, "regatta") && shown(near, "pier") && shown(near, "coast"));
    let filtered = node.get("/?q=boat&city=Nowhere").await;
    assert!(!filtered.text().contains("Near in meaning"));
    for without in ["/", "/?q=Silent", "/?q=x", "/art"] {
        assert!(!node.get(without).await.text().contains("Near in meaning"), "{without}");
    }
    assert!(!Node::start().await.get("/?q=house").await.text().contains("Near in meaning"));
}
