//! Orders by year, filters by the day of selection, and what is said of facets as a whole, over REST and MCP.

use serde_json::{Value, json};

use super::*;

fn record(number: u32, year: Option<&str>, selected: Option<&str>, curator: &str) -> Value {
    json!({
        "name": format!("Lodge {number}"), "category": "art", "city": "Ulm, Germany", "year": year,
        "published": format!("2020-01-{number:02}"), "provenance": {"curated_by": curator, "selected": selected},
        "taste": {"material": "oak"},
    })
}

async fn node() -> Node {
    Node::start_with_records(&[
        ("tower", record(3, Some("2003"), Some("2021-03-01"), "Bo"), &[]),
        ("barn", record(5, None, None, "Ada"), &[]),
        ("annex", record(1, Some("2001"), Some("2021-12-31"), "Ada"), &[]),
        ("pier", record(4, Some("2001"), Some("2022-01-01"), "Ada"), &[]),
        ("hall", record(2, None, Some("2020-12-31"), "Bo"), &[]),
    ])
    .await
}

/// Every list that takes an order and facets, without the small catalog, which has no art: its path, its tool, and the tool's arguments.
fn lists() -> [(&'static str, &'static str, Value); 3] {
    [
        ("/v1/search?q=lodge&category=art&", "search_projects", json!({"query": "lodge", "category": "art"})),
        ("/v1/projects?category=art&", "browse", json!({"category": "art"})),
        (
            "/v1/taste?material=oak&category=art&",
            "search_by_taste",
            json!({"material": "oak", "category": "art"}),
        ),
    ]
}

/// Returns the answers of every list to the same options: over REST, then of its tool.
async fn answers(node: &Node, query: &str, options: Value) -> Vec<Value> {
    let mut all = Vec::new();
    for (path, tool, mut arguments) in lists() {
        let reply = node.get(&format!("{path}{query}")).await;
        assert_eq!(reply.status, 200, "{path}{query}: {reply:?}");
        arguments.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        all.extend([reply.json(), node.tool(tool, arguments).await]);
    }
    all
}

#[tokio::test]
async fn every_list_is_ordered_by_year_with_unknown_ones_last() {
    let node = node().await;
    for (sort, expected) in [
        ("year_asc", ["pier", "annex", "tower", "barn", "hall"]),
        ("year_desc", ["tower", "pier", "annex", "barn", "hall"]),
        ("newest", ["barn", "pier", "tower", "hall", "annex"]),
        ("oldest", ["annex", "hall", "tower", "pier", "barn"]),
    ] {
        for answer in answers(&node, &format!("sort={sort}"), json!({"sort": sort})).await {
            assert_eq!(
                (slugs(&answer), &answer["total"]),
                (expected.to_vec(), &json!(5)),
                "{sort}: {answer}"
            );
        }
        for (path, ..) in lists() {
            let (mut seen, mut next) = (Vec::<String>::new(), String::new());
            loop {
                let page = node.get(&format!("{path}sort={sort}&limit=2&cursor={next}")).await.json();
                seen.extend(slugs(&page).into_iter().map(str::to_owned));
                let Some(cursor) = page["next_cursor"].as_str() else { break };
                let other = node.get(&format!("{path}sort=name&limit=2&cursor={cursor}")).await;
                assert_eq!(other.status, 400, "{path}: a cursor belongs to its order");
                next = cursor.to_owned();
            }
            assert_eq!(seen, expected, "{path}{sort}");
        }
    }
}

#[tokio::test]
async fn a_catalog_without_years_is_ordered_by_year_as_by_newest() {
    let node = Node::start_with_records(&[
        ("one", record(1, None, None, "Ada"), &[]),
        ("two", record(3, None, None, "Ada"), &[]),
        ("three", record(2, None, None, "Ada"), &[]),
    ])
    .await;
    for sort in ["year_asc", "year_desc"] {
        for answer in answers(&node, &format!("sort={sort}"), json!({"sort": sort})).await {
            assert_eq!(slugs(&answer), ["two", "three", "one"], "{sort}: {answer}");
        }
    }
}

#[tokio::test]
async fn every_list_is_filtered_by_the_day_of_selection() {
    let node = node().await;
    for (from, to, expected) in [
        (Some("2021-01-01"), Some("2021-12-31"), &["tower", "annex"][..]),
        (Some("2021-12-31"), None, &["pier", "annex"]),
        (None, Some("2021-03-01"), &["tower", "hall"]),
        (None, Some("9999-12-31"), &["pier", "tower", "hall", "annex"]),
        (Some("2022-01-02"), None, &[]),
    ] {
        let mut options = json!({"sort": "newest"});
        let mut query = "sort=newest".to_owned();
        for (name, day) in [("selected_from", from), ("selected_to", to)] {
            if let Some(day) = day {
                options[name] = day.into();
                query += &format!("&{name}={day}");
            }
        }
        for answer in answers(&node, &query, options).await {
            let found = (slugs(&answer), &answer["total"]);
            assert_eq!(found, (expected.to_vec(), &json!(expected.len())), "{query}: {answer}");
        }
    }
    let asked = "selected_from=2021-01-01&selected_to=2021-12-31&facets=curator";
    let options = json!({"selected_from": "2021-01-01", "selected_to": "2021-12-31", "facets": "curator"});
    for answer in answers(&node, asked, options).await {
        assert_eq!(
            answer["facets"]["curator"],
            json!([{"value": "Ada", "count": 1}, {"value": "Bo", "count": 1}]),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn similar_projects_are_filtered_by_the_day_of_selection() {
    let node = Node::start().await;
    let path = "/v1/similar/haus-am-see?selected_to=9999-12-31";
    let arguments = json!({"slug": "haus-am-see", "selected_to": "9999-12-31"});
    for answer in [node.get(path).await.json(), node.tool("similar_projects", arguments).await] {
        let found = (slugs(&answer), &answer["total"]);
        assert_eq!(found, (vec![], &json!(0)), "none of the others has a day of selection");
    }
}

#[tokio::test]
async fn days_that_cannot_be_used_are_refused_with_what_is_allowed() {
    let node = Node::start().await;
    let order = "It is after selected_to, which is 2021-01-01.";
    let cases = [
        (
            "selected_from=2021-01-02&selected_to=2021-01-01",
            "selected_from",
            order,
            "a date up to 2021-01-01",
        ),
        ("selected_from=2021", "selected_from", "It is not a date.", "a date such as 2024-05-31"),
        ("selected_to=2021-02-29", "selected_to", "It is not a date.", "a date such as 2024-05-31"),
        (
            "selected_to=2021-01-01&selected_to=2021-01-02",
            "selected_to",
            "It is given more than once.",
            "one value",
        ),
    ];
    for path in
        ["/v1/search?q=lodge&", "/v1/projects?", "/v1/taste?material=oak&", "/v1/similar/haus-am-see?"]
    {
        for (query, parameter, detail, allowed) in cases {
            let reply = node.get(&format!("{path}{query}")).await;
            let fault = json!([{"parameter": parameter, "detail": detail, "allowed": allowed}]);
            assert_eq!((reply.status, &reply.json()["errors"]), (400, &fault), "{path}{query}");
        }
    }
    for (_, tool, arguments) in lists() {
        for (options, phrase) in [
            (
                json!({"selected_from": "2021-01-02", "selected_to": "2021-01-01"}),
                "selected_from is “2021-01-02”, it must be a date up to 2021-01-01",
            ),
            (json!({"selected_from": 2021}), "selected_from is “2021”, it must be a date such as 2024-05-31"),
            (json!({"sort": "year"}), "newest, oldest, name, year_asc, year_desc"),
        ] {
            let mut arguments = arguments.clone();
            arguments.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
            let refused = node.tool_refusal(tool, arguments).await;
            assert!(refused.contains(phrase), "{tool}, {phrase}: {refused}");
        }
    }
}

#[tokio::test]
async fn a_range_applies_to_its_own_facet_and_a_chosen_value_does_not() {
    let node = node().await;
    let years = |from: &str| {
        let (query, facets) = (format!("year_from={from}&facets=year,curator"), "year,curator");
        (query, json!({"year_from": from.parse::<u32>().unwrap(), "facets": facets}))
    };
    let (query, options) = years("2002");
    for answer in answers(&node, &query, options).await {
        let facets = json!({
            "year": [{"value": "2003", "count": 1}],
            "curator": [{"value": "Bo", "count": 1}],
        });
        let totals = json!({
            "year": {"distinct": 1, "unrecorded": 0},
            "curator": {"distinct": 1, "unrecorded": 0},
        });
        assert_eq!((&answer["facets"], &answer["facet_totals"]), (&facets, &totals), "{answer}");
    }
    for answer in
        answers(&node, "curator=Bo&facets=curator", json!({"curator": "Bo", "facets": "curator"})).await
    {
        let counted = json!([{"value": "Ada", "count": 3}, {"value": "Bo", "count": 2}]);
        assert_eq!(answer["facets"]["curator"], counted, "{answer}");
    }
}

#[tokio::test]
async fn answers_with_facets_say_how_many_values_there_are_and_projects_without_one() {
    let node = node().await;
    let expected = json!({
        "year": {"distinct": 2, "unrecorded": 2},
        "studio": {"distinct": 0, "unrecorded": 5},
        "material": {"distinct": 1, "unrecorded": 0},
        "mood": {"distinct": 0, "unrecorded": 5},
    });
    let options = json!({"facets": "year,studio,material,mood", "limit": 1});
    for answer in answers(&node, "facets=year,studio,material,mood&limit=1", options).await {
        assert_eq!(answer["facet_totals"], expected, "{answer}");
        let members: Vec<&String> = answer.as_object().unwrap().keys().collect();
        let at = members.iter().position(|name| *name == "facets").unwrap();
        assert_eq!(members[at + 1], "facet_totals", "beside the facets");
    }
    for answer in answers(&node, "sort=name", json!({"sort": "name"})).await {
        assert_eq!((answer.get("facets"), answer.get("facet_totals")), (None, None), "{answer}");
    }
    // There are more years than are listed.
    let many: Vec<Value> = (0..25).map(|at| record(1, Some(&(1950 + at).to_string()), None, "Ada")).collect();
    let slugs: Vec<String> = (0..25).map(|at| format!("lodge-{at}")).collect();
    let records: Vec<(&str, Value, &[[u8; 3]])> =
        slugs.iter().zip(many).map(|(slug, record)| (slug.as_str(), record, &[][..])).collect();
    let node = Node::start_with_records(&records).await;
    for answer in answers(&node, "facets=year&limit=1", json!({"facets": "year", "limit": 1})).await {
        let shown = answer["facets"]["year"].as_array().unwrap().len();
        assert_eq!((shown, &answer["facet_totals"]["year"]), (20, &json!({"distinct": 25, "unrecorded": 0})));
    }
}
