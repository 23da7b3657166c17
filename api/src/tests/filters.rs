//! Filters, facets and orders, over REST and MCP.

use serde_json::{Value, json};

use super::*;

/// A record that names a picture if it has colours.
fn record(name: &str, city: &str, studio: &str, year: &str, curator: &str, has_picture: bool) -> Value {
    let pictures = if has_picture { json!([{"source": "a.png"}]) } else { json!([]) };
    json!({
        "name": name, "city": city, "studio": studio, "year": year, "category": "interiors",
        "provenance": {"curated_by": curator}, "pictures": pictures, "taste": {"material": "oak"},
    })
}

async fn node() -> Node {
    let mut tower = record("Tower Lodge", "Ulm, Germany", "Studio B", "2003", "Bo", true);
    tower["category"] = "art".into();
    tower["published"] = "2020-01-03".into();
    let mut barn = record("Barn lodge", "ULM, Germany", "Ålto", "1999", "Ada", true);
    barn["published"] = "2020-01-02".into();
    let mut annex = record("Ännex Lodge", "Berlin, Germany", "ALTO", "2001", "Ada", false);
    annex["published"] = "2020-01-01".into();
    let mut pier = record("Pier lodge", "Zürich", "Studio B", "2001", "Ada", true);
    pier["taste"] = json!({"material": "Oaks, pine"});
    pier["published"] = "2020-01-04".into();
    Node::start_with_records(&[
        ("tower", tower, &[[200, 30, 30]]),
        ("barn", barn, &[[30, 60, 150], [190, 25, 40]]),
        ("annex", annex, &[[200, 30, 30]]),
        ("pier", pier, &[[20, 60, 160]]),
    ])
    .await
}

async fn found(node: &Node, query: &str) -> (Vec<String>, u64) {
    let reply = node.get(&format!("/v1/search?q=lodge&{query}")).await;
    let answer = reply.json();
    assert_eq!(reply.status, 200, "{query}: {answer}");
    let mut found: Vec<String> = slugs(&answer).into_iter().map(str::to_owned).collect();
    if !query.contains("sort") {
        found.sort_unstable();
    }
    (found, answer["total"].as_u64().unwrap())
}

#[tokio::test]
async fn a_search_has_only_what_matches_all_filters() {
    let node = node().await;
    for (query, expected) in [
        ("city=ulm,+germany", &["barn", "tower"][..]),
        ("city=Ulm,+Germany&city=ZURICH", &["barn", "pier", "tower"]),
        ("city=Ulm", &[]),
        ("place=germany", &["annex", "barn", "tower"]),
        ("place=Berlin&place=Zürich", &["annex", "pier"]),
        ("studio=alto", &["annex", "barn"]),
        ("studio=and+ALTO+%26", &["annex", "barn"]),
        ("curator=ADA&year_from=2000", &["annex", "pier"]),
        ("year_from=1999&year_to=2001", &["annex", "barn", "pier"]),
        ("has_picture=true", &["barn", "pier", "tower"]),
        ("color=%23c81e1e", &["barn", "tower"]),
        ("color=143ca0&color=C81E1E&category=interiors", &["barn", "pier"]),
        ("category=art,architecture", &["tower"]),
        ("category=art&category=interiors&studio=Studio+B", &["pier", "tower"]),
        ("added_since=2026-11-20", &["annex", "barn", "pier", "tower"]),
        ("added_since=2026-11-21", &[]),
        ("material=pine", &["pier"]),
        ("material=Oak&studio=alto", &["annex", "barn"]),
        ("material=oak&mood=calm", &[]),
        ("sort=newest", &["pier", "tower", "barn", "annex"]),
        ("sort=oldest", &["annex", "barn", "tower", "pier"]),
        ("sort=name", &["annex", "barn", "pier", "tower"]),
        ("sort=name&place=germany", &["annex", "barn", "tower"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|slug| (*slug).to_owned()).collect();
        assert_eq!(found(&node, query).await, (expected.clone(), expected.len() as u64), "{query}");
    }
}

#[tokio::test]
async fn symbols_tell_studios_apart_and_commas_of_any_script_divide_places() {
    let node = Node::start_with_records(&[
        ("plain", record("Plain lodge", "Ulm, Germany", "C", "2001", "Ada", false), &[]),
        ("plus", record("Plus lodge", "Ulm；Germany", "C++", "2001", "Ada", false), &[]),
        ("sharp", record("Sharp lodge", "東京、日本", "C#", "2001", "Ada", false), &[]),
        ("cairo", record("Cairo lodge", "القاهرة، مصر", "c", "2001", "Ada", false), &[]),
    ])
    .await;
    for (query, expected) in [
        ("studio=c", &["cairo", "plain"][..]),
        ("studio=c%2B%2B", &["plus"]),
        ("studio=C%23", &["sharp"]),
        ("studio=%EF%BC%A3%23", &["sharp"]),
        ("studio=C*", &[]),
        ("studio=C%2B%2B&studio=C%23", &["plus", "sharp"]),
        ("place=germany", &["plain", "plus"]),
        ("place=日本", &["sharp"]),
        ("place=東京", &["sharp"]),
        ("place=مصر", &["cairo"]),
        ("city=Ulm,+Germany", &["plain", "plus"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|slug| (*slug).to_owned()).collect();
        assert_eq!(found(&node, query).await, (expected.clone(), expected.len() as u64), "{query}");
    }
    let counted = node.get("/v1/search?q=lodge&facets=studio").await.json()["facets"]["studio"].clone();
    assert_eq!(
        counted,
        json!([{"value": "C", "count": 2}, {"value": "C#", "count": 1}, {"value": "C++", "count": 1}])
    );
}

#[tokio::test]
async fn a_page_that_is_cut_says_so_in_every_order_and_names_are_compared_whole() {
    let long = "Lodge of many rooms ".repeat(90);
    let names: Vec<String> = (23_805..23_811).rev().map(|number| format!("{long}{number}")).collect();
    let slugs_of: Vec<String> = (23_805..23_811).rev().map(|number| format!("lodge-{number}")).collect();
    let of_art = |name: &String| json!({"name": name, "category": "art"});
    let records: Vec<(&str, Value, &[[u8; 3]])> =
        slugs_of.iter().zip(&names).map(|(slug, name)| (slug.as_str(), of_art(name), &[][..])).collect();
    let node = Node::start_with_records(&records).await;
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let asked = json!({"query": "lodge", "category": "art", "sort": "name", "cursor": cursor});
        let found = node.tool("search_projects", asked).await;
        let shown = slugs(&found).len();
        seen.extend(slugs(&found).into_iter().map(str::to_owned));
        let note = format!(
            "Only the first {shown} results of this page are shown, since their texts are long; next_cursor leads on behind them."
        );
        assert_eq!(found["note"], if seen.len() < 6 { json!(note) } else { Value::Null }, "{found}");
        assert_eq!((&found["total"], &found["count"]), (&json!(6), &json!(shown)));
        if cursor.is_null() {
            let browsed = node.tool("browse", json!({"category": "art", "sort": "name"})).await;
            assert_eq!((slugs(&browsed), &browsed["note"]), (slugs(&found), &found["note"]));
        }
        cursor = found["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    let in_order: Vec<String> = (23_805..23_811).map(|number| format!("lodge-{number}")).collect();
    assert_eq!(seen, in_order);
}

#[tokio::test]
async fn facets_count_all_pages_and_ignore_their_own_filter() {
    let node = node().await;
    let facets = |query: &'static str| {
        let node = &node;
        async move { node.get(&format!("/v1/search?q=lodge&limit=1&{query}")).await.json()["facets"].clone() }
    };
    assert_eq!(
        facets("facets=category,city&facets=studio,curator,year,material,mood").await,
        json!({
            "category": [{"value": "interiors", "count": 3}, {"value": "art", "count": 1}],
            "city": [
                {"value": "ULM, Germany", "count": 2}, {"value": "Berlin, Germany", "count": 1}, {"value": "Zürich", "count": 1},
            ],
            "studio": [{"value": "ALTO", "count": 2}, {"value": "Studio B", "count": 2}],
            "curator": [{"value": "Ada", "count": 3}, {"value": "Bo", "count": 1}],
            "year": [{"value": "2001", "count": 2}, {"value": "1999", "count": 1}, {"value": "2003", "count": 1}],
            "material": [{"value": "oak", "count": 4}, {"value": "pine", "count": 1}],
            "mood": [],
        })
    );
    assert_eq!(
        facets("facets=city,curator&city=Z%C3%BCrich&year_from=2001").await,
        json!({
            "city": [
                {"value": "Berlin, Germany", "count": 1}, {"value": "Ulm, Germany", "count": 1}, {"value": "Zürich", "count": 1},
            ],
            "curator": [{"value": "Ada", "count": 1}],
        })
    );
    assert_eq!(facets("city=Zürich").await, Value::Null, "what is not asked for is not answered");
}

#[tokio::test]
async fn cursors_belong_to_query_filters_and_order() {
    let node = node().await;
    for query in ["place=Germany", "place=Germany&sort=name", "sort=oldest&facets=city"] {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let reply = node.get(&format!("/v1/search?q=lodge&limit=2&{query}&cursor={after}")).await;
            let page = reply.json();
            seen.extend(slugs(&page).into_iter().map(str::to_owned));
            let Some(next) = page["next_cursor"].as_str() else { break };
            assert!(reply.header("link").unwrap().contains(&format!("cursor={next}>; rel=\"next\"")));
            for other in
                ["place=Ulm", "place=Germany&sort=newest", "studio=Alto", "sort=relevance", "sort=newest"]
            {
                let path = format!("/v1/search?q=lodge&limit=2&{other}&cursor={next}");
                let refused = node.get(&path).await;
                assert_eq!(refused.status, 400, "{query} continued as {other}");
                assert!(
                    refused.text().contains("with the same q, mode, category, filters and sort"),
                    "{refused:?}"
                );
            }
            let other_words = node.get(&format!("/v1/search?q=barn&limit=2&{query}&cursor={next}")).await;
            assert_eq!(other_words.status, 400, "{query}");
            after = next.to_owned();
        }
        let all = found(&node, query).await;
        if !query.contains("sort") {
            seen.sort_unstable();
        }
        assert_eq!((seen.len() as u64, seen), (all.1, all.0), "{query}");
    }
}

#[tokio::test]
async fn options_that_cannot_be_used_are_all_told() {
    let node = node().await;
    let many: String = (0..21).map(|number| format!("&city=c{number}")).collect();
    let query =
        format!("year_from=2005&year_to=20x5&color=teal-ish&facets=shape&sort=best&category=music{many}");
    let reply = node.get(&format!("/v1/search?q=lodge&{query}")).await;
    assert_eq!(reply.status, 400);
    let errors = &reply.json()["errors"];
    let named: Vec<&str> =
        errors.as_array().unwrap().iter().map(|one| one["parameter"].as_str().unwrap()).collect();
    assert_eq!(named, ["category", "city", "year_to", "color", "sort", "facets"]);
    assert_eq!(errors[1]["allowed"], "at most 20 values");
    let arguments = json!({
        "query": "lodge", "year_from": 2005, "year_to": "2001", "color": "teal-ish", "facets": ["city", "shape"],
        "sort": "best", "city": (0..21).map(|number| format!("c{number}")).collect::<Vec<_>>(),
    });
    let refused = node.tool_refusal("search_projects", arguments).await;
    for phrase in [
        "city has 21 values; allowed: at most 20 values",
        "color is “teal-ish”, it must be #rrggbb or rrggbb, such as #a0522d",
        "year_from is “2005”, it must be a year up to 2001",
        "sort is “best”, it must be one of relevance, newest, oldest, name",
        "facets is “shape”, it must be one of category, city, studio, curator, year, material, light, color, mood, composition, subject",
    ] {
        assert!(refused.contains(phrase), "{phrase}: {refused}");
    }
}

#[tokio::test]
async fn tools_take_the_same_options() {
    let node = node().await;
    for (query, arguments) in [
        ("city=Ulm,+Germany&has_picture=true", json!({"city": "Ulm, Germany", "has_picture": true})),
        ("place=Zürich&place=Berlin&sort=name", json!({"place": "zurich|Berlin", "sort": "name"})),
        (
            "year_from=2001&facets=city,material",
            json!({"year_from": 2001, "facets": ["city", "material"], "has_picture": false}),
        ),
        ("studio=Alto&sort=oldest&limit=1", json!({"studio": "alto", "sort": "oldest", "limit": 1})),
        ("studio=%26+Alto&place=Germany", json!({"studio": "Alto and", "place": "and Germany"})),
        ("color=%23c81e1e&category=art,interiors", json!({"colour": "#c81e1e", "category": "art|interiors"})),
        // Some clients send a list as JSON in a text.
        (
            "city=Ulm,+Germany&city=Z%C3%BCrich&category=art,interiors&facets=city,year",
            json!({"city": "[\"Ulm, Germany\", \"Zürich\"]", "category": "[\"art\",\"interiors\"]", "facets": "[\"city\",\"year\"]"}),
        ),
        (
            "color=143ca0&color=c81e1e&place=Germany&place=Zürich&studio=Studio+B&curator=Ada&year_from=1999&detail=concise&sort=name",
            json!({
                "color": "[\"#143ca0\",\"#c81e1e\"]", "place": " [\"Germany\",\"Zürich\"] ", "studio": "[\"Studio B\"]",
                "curator": "[\"Ada\"]", "year_from": "[1999]", "detail": "[\"concise\"]", "sort": "[\"name\"]",
            }),
        ),
    ] {
        let rest = node.get(&format!("/v1/search?q=lodge&{query}")).await.json();
        let mut asked = arguments.clone();
        asked["query"] = "lodge".into();
        let tool = node.tool("search_projects", asked).await;
        assert_eq!(slugs(&tool), slugs(&rest), "{query}");
        for member in ["total", "facets", "next_cursor"] {
            assert_eq!(tool[member], rest[member], "{member} of {query}");
        }
    }
    let asked = json!({"query": "lodge", "curator": "Cy"});
    let reply = node.post("", mcp::call("search_projects", asked)).await;
    assert!(reply.text().contains("No curator is “Cy”. Without curator 4 projects remain."), "{reply:?}");
}

async fn listed(node: &Node, path: &str) -> (Vec<String>, Value) {
    let reply = node.get(path).await;
    assert_eq!(reply.status, 200, "{path}: {reply:?}");
    let answer = reply.json();
    assert_eq!(answer["count"], answer["results"].as_array().unwrap().len());
    (slugs(&answer).into_iter().map(str::to_owned).collect(), answer)
}

#[tokio::test]
async fn browsing_takes_the_same_options() {
    let node = node().await;
    for (query, expected, arguments) in [
        ("place=Germany", &["tower", "barn", "annex"][..], json!({"place": "Germany"})),
        ("color=%23c81e1e", &["tower", "barn"], json!({"color": "#c81e1e"})),
        ("color=143ca0", &["pier", "barn"], json!({"color": "143ca0"})),
        ("color=143ca0&sort=name", &["barn", "pier"], json!({"color": "143ca0", "sort": "name"})),
        (
            "studio=Alto&sort=oldest&facets=year",
            &["annex", "barn"],
            json!({"studio": "alto", "sort": "oldest", "facets": "year"}),
        ),
        ("curator=Cy", &[], json!({"curator": "Cy"})),
    ] {
        let (found, rest) = listed(&node, &format!("/v1/projects?{query}")).await;
        assert_eq!(
            (&found[..], &rest["total"]),
            (&expected.iter().map(|slug| (*slug).to_owned()).collect::<Vec<_>>()[..], &json!(expected.len())),
            "{query}"
        );
        let tool = node.tool("browse", arguments).await;
        assert_eq!(
            (slugs(&tool), &tool["total"], &tool["facets"]),
            (slugs(&rest), &rest["total"], &rest["facets"]),
            "{query}"
        );
    }
    let (_, answer) = listed(&node, "/v1/projects?city=Zürich&facets=city,category&limit=1").await;
    assert_eq!(answer["facets"]["category"], json!([{"value": "interiors", "count": 1}]));
    assert_eq!(answer["facets"]["city"].as_array().unwrap().len(), 4, "{answer}");
    let (_, none) = listed(&node, "/v1/projects?curator=Cy").await;
    assert_eq!(none["note"], "No curator is “Cy”.");
    let (_, page) = listed(&node, "/v1/projects?place=Germany&limit=2").await;
    let next = page["next_cursor"].as_str().unwrap();
    let (rest, _) = listed(&node, &format!("/v1/projects?place=Germany&limit=2&cursor={next}")).await;
    assert_eq!(rest, ["annex"]);
    for other in ["", "place=Ulm&", "place=Germany&sort=name&"] {
        assert_eq!(
            node.get(&format!("/v1/projects?{other}limit=2&cursor={next}")).await.status,
            400,
            "{other}"
        );
    }
    let refused = node.get("/v1/projects?sort=relevance&year_from=x&slugs=pier&city=Ulm").await;
    let errors = refused.json()["errors"].clone();
    let named: Vec<&str> =
        errors.as_array().unwrap().iter().map(|one| one["parameter"].as_str().unwrap()).collect();
    assert_eq!(refused.status, 400);
    assert!(["city", "year_from", "sort"].iter().all(|name| named.contains(name)), "{named:?}");
}

#[tokio::test]
async fn taste_takes_the_same_options_and_colours_with_a_number_sign() {
    let node = node().await;
    for (query, expected, arguments) in [
        ("material=oak", &["pier", "tower", "barn", "annex"][..], json!({"material": "oak"})),
        (
            "material=oak&place=germany&sort=name",
            &["annex", "barn", "tower"],
            json!({"material": "oak", "place": "germany", "sort": "name"}),
        ),
        (
            "material=oak&color=%23c81e1e&facets=city",
            &["tower", "barn"],
            json!({"material": "oak", "color": "#c81e1e", "facets": "city"}),
        ),
        (
            "material=oak&color=facade",
            &["pier", "tower", "barn", "annex"],
            json!({"material": "oak", "color": "facade"}),
        ),
        ("material=pine&year_to=2000", &[], json!({"material": "pine", "year_to": 2000})),
        (
            "material=pine&material=slate&color=facade",
            &["pier"],
            json!({"material": "[\"pine\",\"slate\"]", "color": "[\"facade\"]"}),
        ),
    ] {
        let (found, rest) = listed(&node, &format!("/v1/taste?{query}")).await;
        assert_eq!(
            (&found[..], &rest["total"]),
            (&expected.iter().map(|slug| (*slug).to_owned()).collect::<Vec<_>>()[..], &json!(expected.len())),
            "{query}"
        );
        let tool = node.tool("search_by_taste", arguments).await;
        for member in ["total", "matches", "facets"] {
            assert_eq!(tool[member], rest[member], "{member} of {query}");
        }
        assert_eq!(slugs(&tool), slugs(&rest), "{query}");
    }
    let both = node.get("/v1/taste?color=red&color=%23c81e1e&color=blue").await.json();
    assert_eq!(both["note"], "No project matches color “red” or “blue”; /v1/terms shows the words in use.");
    assert_eq!(node.get("/v1/taste?color=%23c81e1e").await.status, 400, "no dimension");
}

#[tokio::test]
async fn similar_projects_are_filtered() {
    let node = Node::start().await;
    let (all, answer) = listed(&node, "/v1/similar/haus-am-see?limit=1").await;
    assert_eq!(all, ["street-house-1"]);
    let (filtered, answer_filtered) = listed(&node, "/v1/similar/haus-am-see?category=design&limit=1").await;
    assert_eq!((filtered, &answer_filtered["total"]), (all, &answer["total"]));
    let (none, answer_none) = listed(&node, "/v1/similar/haus-am-see?studio=Nobody&sort=name").await;
    assert_eq!((none.len(), answer_none["total"].as_u64()), (0, Some(0)));
    assert_eq!(
        answer_none["note"],
        "None of the nearest projects matches all of these filters. No studio is “Nobody”. Without studio 3 projects remain."
    );
    assert_eq!(answer_none["ignored_parameters"], json!(["sort"]));
    let next = answer_filtered["next_cursor"].as_str().unwrap();
    let status = |query: String| {
        let node = &node;
        async move { node.get(&format!("/v1/similar/haus-am-see?limit=1&{query}cursor={next}")).await.status }
    };
    assert_eq!(status("category=design&".into()).await, 200);
    assert_eq!(status(String::new()).await, 400, "a cursor belongs to its filters");
    let arguments = json!({"slug": "haus-am-see", "category": "design", "limit": 1});
    let tool = node.tool("similar_projects", arguments).await;
    assert_eq!(
        (slugs(&tool), &tool["next_cursor"]),
        (slugs(&answer_filtered), &answer_filtered["next_cursor"])
    );
    let arguments = json!({"slug": "haus-am-see", "year_from": "20x5"});
    let refused = node.tool_refusal("similar_projects", arguments).await;
    assert!(refused.contains("year_from is “20x5”, it must be four digits, such as 1998"), "{refused}");
}
