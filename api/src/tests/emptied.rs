//! Lists that find nothing: what their notes say, over REST, MCP and on pages, and that they are not counted.

use serde_json::{Value, json};

use super::keyed::KEY;
use super::*;
use crate::{Limits, RateLimits};

/// Four houses beside the small catalog, which has a house in Zürich of 2019 and four projects without a city and a year.
async fn node() -> Node {
    let house = |name: &str, city: &str, studio: &str, curator: &str, material: &str| {
        json!({
            "name": name, "city": city, "studio": studio, "category": "interiors",
            "provenance": {"curated_by": curator}, "taste": {"material": material},
        })
    };
    let mut tea =
        house("Tea house", "Tokyo, Japan", "Kengo Kuma and Associates", "Ada Lovelace", "Larch, cedar");
    tea["year"] = "2012".into();
    tea["provenance"]["selected"] = "2021-03-04".into();
    tea["taste"]["mood"] = "calm".into();
    let bath = house("Bath house", "Tokyo, Japan", "Studio Nendo", "Bo", "Pine");
    let mut kiosk = house("Kiosk house", "Kyoto, Japan", "Studio Nendo", "Bo", "Larch");
    kiosk["year"] = "2005".into();
    kiosk["provenance"]["selected"] = "2020-01-01".into();
    kiosk["pictures"] = json!([{"source": "a.png"}]);
    let mut barn = house("Timber barn house", "Ulm, Germany", "Studio B", "Bo", "Timber");
    barn["year"] = "1999".into();
    barn["category"] = "art".into();
    barn["taste"]["mood"] = "calm".into();
    Node::start_with_records(&[
        ("tea-house", tea, &[]),
        ("bath-house", bath, &[]),
        ("kiosk", kiosk, &[[200, 30, 30]]),
        ("barn", barn, &[]),
    ])
    .await
}

const TOKYO: &str = "No city is “Tokyo”; near: Tokyo, Japan (2). A part of a city goes in `place`.";

/// Asserts that a list is empty over REST and MCP, and that both say the same.
async fn assert_empty(node: &Node, path: &str, (tool, arguments): (&str, Value), note: &str) {
    let rest = node.get(path).await;
    let answer = rest.json();
    assert_eq!((rest.status, &answer["total"], &answer["results"]), (200, &json!(0), &json!([])), "{path}");
    assert_eq!(answer["note"], note, "{path}");
    let called = node.tool(tool, arguments).await;
    assert_eq!((&called["total"], &called["results"]), (&json!(0), &json!([])), "{path}");
    assert_eq!(called["note"], note, "{tool} as {path}");
}

#[tokio::test]
async fn a_value_that_no_project_has_is_named_with_recorded_ones_that_are_near() {
    let node = node().await;
    for (query, arguments, note) in [
        ("city=Tokyo", json!({"city": "Tokyo"}), TOKYO.to_owned()),
        (
            "city=TOKIO,+japan",
            json!({"city": "TOKIO, japan"}),
            "No city is “TOKIO, japan”; near: Tokyo, Japan (2).".into(),
        ),
        ("city=Nowhere", json!({"city": "Nowhere"}), "No city is “Nowhere”.".into()),
        (
            "city=Tokyo&city=Ulm",
            json!({"city": ["Tokyo", "Ulm"]}),
            "No city is “Tokyo” or “Ulm”; near: Tokyo, Japan (2), Ulm, Germany (1). A part of a city goes in `place`."
                .into(),
        ),
        ("place=Tokio", json!({"place": "Tokio"}), "No place is “Tokio”; near: Tokyo (2).".into()),
        ("place=Europe", json!({"place": "Europe"}), "No place is “Europe”: place is a town or country.".into()),
        (
            "place=the+Nordics&place=Tokio",
            json!({"place": ["the Nordics", "Tokio"]}),
            "No place is “Tokio”; near: Tokyo (2). Nor is “the Nordics”: place is a town or country.".into(),
        ),
        (
            "studio=Kengo+Kumma",
            json!({"studio": "Kengo Kumma"}),
            "No studio is “Kengo Kumma”; near: Kengo Kuma and Associates (1).".into(),
        ),
        (
            "curator=Lovelace",
            json!({"curator": "Lovelace"}),
            "No curator is “Lovelace”; near: Ada Lovelace (1).".into(),
        ),
        (
            "category=photography",
            json!({"category": "photography"}),
            "No project is in the category photography; there are design (4), interiors (3), architecture (1), art (1)."
                .into(),
        ),
    ] {
        assert_empty(&node, &format!("/v1/projects?{query}"), ("browse", arguments), &note).await;
    }
}

#[tokio::test]
async fn a_range_that_no_project_is_in_is_named_with_what_is_beside_it() {
    let node = node().await;
    let left_out = "5 projects without a year are left out.";
    for (query, arguments, note) in [
        (
            "year_from=2030",
            json!({"year_from": 2030}),
            format!("No project is from 2030 or later; nearest: 2019 (1). {left_out}"),
        ),
        (
            "year_to=1900",
            json!({"year_to": 1900}),
            format!("No project is from 1900 or earlier; nearest: 1999 (1). {left_out}"),
        ),
        (
            "year_from=2006&year_to=2010",
            json!({"year_from": 2006, "year_to": 2010}),
            format!("No project is from 2006 to 2010; nearest: 2005 (1), 2012 (1). {left_out}"),
        ),
        (
            "selected_from=2025-01-01",
            json!({"selected_from": "2025-01-01"}),
            "No project is selected on 2025-01-01 or later; nearest: 2024-04-01 (1). 6 projects without a day of selection \
             are left out."
                .into(),
        ),
        (
            "added_since=2027-01-01",
            json!({"added_since": "2027-01-01"}),
            "No project was added since 2027-01-01; the last on 2026-11-20.".into(),
        ),
        (
            "color=%2300ff00",
            json!({"color": "#00ff00"}),
            "No project has a color like #00ff00; nearest: #c81e1e (1).".into(),
        ),
    ] {
        assert_empty(&node, &format!("/v1/projects?{query}"), ("browse", arguments), &note).await;
    }
}

#[tokio::test]
async fn of_several_filters_what_each_leaves_is_said_and_which_excludes_most() {
    let node = node().await;
    for (query, arguments, note) in [
        (
            "studio=studio+nendo&place=Germany",
            json!({"studio": "studio nendo", "place": "Germany"}),
            "No project matches all of these filters: place “Germany” alone leaves 1, studio “studio nendo” alone 2; together \
             none. Without place 2 projects remain.",
        ),
        (
            "has_picture=true&place=Germany",
            json!({"has_picture": true, "place": "Germany"}),
            "No project matches all of these filters: place “Germany” alone leaves 1, has_picture alone 1; together none. \
             Without place one project remains.",
        ),
        (
            "category=interiors&place=Japan&studio=Studio+Nendo&year_from=2010",
            json!({"category": "interiors", "place": "Japan", "studio": "Studio Nendo", "year_from": 2010}),
            "No project matches all of these filters: category interiors alone leaves 3, place “Japan” alone 3, studio “Studio \
             Nendo” alone 2, year_from 2010 alone 2; together none. Without year_from 2 projects remain. One project without a \
             year is left out.",
        ),
        (
            "category=design&place=Germany&studio=Studio+Nendo",
            json!({"category": "design", "place": "Germany", "studio": "Studio Nendo"}),
            "No project matches all of these filters: category design alone leaves 4, place “Germany” alone 1, studio “Studio \
             Nendo” alone 2; together none. Leave out more than one.",
        ),
        (
            "city=Tokyo&year_from=2010",
            json!({"city": "Tokyo", "year_from": 2010}),
            "No city is “Tokyo”; near: Tokyo, Japan (2). A part of a city goes in `place`. Without city 2 projects remain.",
        ),
    ] {
        assert_empty(&node, &format!("/v1/projects?{query}"), ("browse", arguments), note).await;
    }
}

#[tokio::test]
async fn a_search_names_the_guilty_filter_and_what_a_place_has_in_place_of_a_word() {
    let node = node().await;
    for (query, arguments, note) in [
        (
            "q=house&studio=Studio+Nendo&place=Germany",
            json!({"query": "house", "studio": "Studio Nendo", "place": "Germany"}),
            "Of the 8 projects without filters place “Germany” alone leaves 1, studio “Studio Nendo” alone 2; together none. \
             Without place 2 projects remain.",
        ),
        (
            "q=house&city=Tokyo",
            json!({"query": "house", "city": "Tokyo"}),
            "No city is “Tokyo”; near: Tokyo, Japan (2). A part of a city goes in `place`. Without city 8 projects remain.",
        ),
        (
            "q=timber&place=Japan",
            json!({"query": "timber", "place": "Japan"}),
            "No project in Japan has “timber”; materials there: larch, cedar, pine. Without place one project remains.",
        ),
        (
            "q=house&material=timbre",
            json!({"query": "house", "material": "timbre"}),
            "No project has “timbre” as its material; near: timber (1). Without material 8 projects remain.",
        ),
    ] {
        let path = format!("/v1/search?{query}");
        // The words of taste are filters of a search over REST alone.
        if query.contains("material") {
            assert_eq!(node.get(&path).await.json()["note"], note, "{query}");
        } else {
            assert_empty(&node, &path, ("search_projects", arguments), note).await;
        }
    }
    let unknown = node.get("/v1/search?q=xyzzyx&city=Tokyo").await.json();
    assert_eq!(unknown["note"], format!("No project has “xyzzyx”. {TOKYO}"));
    let asked = json!({"query": "xyzzyx", "city": "Tokyo"});
    let called = node.tool("search_projects", asked).await["note"].take();
    let said = called.as_str().unwrap();
    assert!(
        said.starts_with(&format!("No project has “xyzzyx”. {TOKYO} Try other or more general words")),
        "{said}"
    );
    let some = node.get("/v1/search?q=timber+house&place=Japan").await.json();
    let said = some["note"].as_str().unwrap();
    assert!(
        said.contains("No project in Japan has “timber”; materials there: larch, cedar, pine."),
        "{said}"
    );
}

#[tokio::test]
async fn a_list_by_taste_says_what_is_there() {
    let node = node().await;
    for (query, arguments, note) in [
        (
            "material=timber&place=Japan",
            json!({"material": "timber", "place": "Japan"}),
            "No project in Japan has “timber”; materials there: larch, cedar, pine. Without place one project remains.",
        ),
        (
            "material=larch&category=art",
            json!({"material": "larch", "category": "art"}),
            "No project in the category art has “larch”; materials there: timber. Without category 3 projects remain.",
        ),
        (
            "material=larch&mood=calm&city=Ulm",
            json!({"material": "larch", "mood": "calm", "city": "Ulm"}),
            "With these filters no project has both, nor one of them. No city is “Ulm”; near: Ulm, Germany (1). A part of a city \
             goes in `place`. Without city 4 projects remain.",
        ),
        (
            "mood=calm&studio=Studio+Nendo",
            json!({"mood": "calm", "studio": "Studio Nendo"}),
            "Without studio 2 projects remain.",
        ),
    ] {
        assert_empty(&node, &format!("/v1/taste?{query}"), ("search_by_taste", arguments), note).await;
    }
    for (filter, note) in [
        ("place=Japan", "No project in Japan has “timber”; materials there: larch, cedar, pine."),
        ("curator=Ada+Lovelace", "None of the projects that the filters leave matches material “timber”."),
    ] {
        let some = node.get(&format!("/v1/taste?material=timber&mood=calm&{filter}")).await.json();
        assert_eq!(slugs(&some), ["tea-house"], "{filter}");
        assert!(some["note"].as_str().unwrap().contains(note), "{filter}: {some}");
    }
}

#[tokio::test]
async fn neighbours_that_filters_exclude_are_counted() {
    let node = node().await;
    let none = "None of the nearest projects matches all of these filters.";
    for (query, arguments, note) in [
        ("studio=Studio+Nendo", json!({"studio": "Studio Nendo"}), "Without studio 3 projects remain."),
        (
            "year_from=2000",
            json!({"year_from": 2000}),
            "Without year_from 3 projects remain. 3 projects without a year are left out.",
        ),
        ("city=Tokyo", json!({"city": "Tokyo"}), &format!("{TOKYO} Without city 3 projects remain.")),
    ] {
        let mut asked = arguments;
        asked["slug"] = "haus-am-see".into();
        let path = format!("/v1/similar/haus-am-see?{query}");
        assert_empty(&node, &path, ("similar_projects", asked), &format!("{none} {note}")).await;
    }
}

/// Asserts the number of results and the note of a list, over REST and MCP.
async fn assert_noted(
    node: &Node,
    path: &str,
    (tool, arguments): (&str, Value),
    total: u64,
    note: Option<&str>,
) {
    let rest = node.get(path).await.json();
    assert_eq!((&rest["total"], &rest["note"]), (&json!(total), &json!(note)), "{path}");
    let called = node.tool(tool, arguments).await;
    assert_eq!((&called["total"], &called["note"]), (&json!(total), &json!(note)), "{tool} as {path}");
}

#[tokio::test]
async fn projects_without_a_year_are_counted_where_they_are_last_or_left_out() {
    let node = node().await;
    for (path, tool, arguments, total, note) in [
        (
            "/v1/projects?sort=year_asc",
            "browse",
            json!({"sort": "year_asc"}),
            9,
            Some("5 projects have no year and come last."),
        ),
        (
            "/v1/projects?sort=year_desc&studio=studio+nendo",
            "browse",
            json!({"sort": "year_desc", "studio": "studio nendo"}),
            2,
            Some("One project has no year and comes last."),
        ),
        (
            "/v1/projects?year_from=2000",
            "browse",
            json!({"year_from": 2000}),
            3,
            Some("5 projects without a year are left out."),
        ),
        (
            "/v1/projects?year_from=2000&sort=year_asc&place=Tokyo",
            "browse",
            json!({"year_from": 2000, "sort": "year_asc", "place": "Tokyo"}),
            1,
            Some("One project without a year is left out."),
        ),
        (
            "/v1/projects?year_to=2000&city=Ulm,+Germany",
            "browse",
            json!({"year_to": 2000, "city": "Ulm, Germany"}),
            1,
            None,
        ),
        (
            "/v1/projects?selected_to=2022-01-01&place=Japan",
            "browse",
            json!({"selected_to": "2022-01-01", "place": "Japan"}),
            2,
            Some("One project without a day of selection is left out."),
        ),
        ("/v1/projects?sort=name", "browse", json!({"sort": "name"}), 9, None),
    ] {
        assert_noted(&node, path, (tool, arguments), total, note).await;
    }
}

#[tokio::test]
async fn searches_count_projects_without_a_year_too() {
    let node = node().await;
    for (path, tool, arguments, total, note) in [
        (
            "/v1/search?q=house&sort=year_desc",
            "search_projects",
            json!({"query": "house", "sort": "year_desc"}),
            8,
            Some("4 projects have no year and come last."),
        ),
        (
            "/v1/search?q=house&year_from=2000",
            "search_projects",
            json!({"query": "house", "year_from": 2000}),
            3,
            Some("4 projects without a year are left out."),
        ),
        (
            "/v1/taste?material=larch&material=pine&year_from=2000",
            "search_by_taste",
            json!({"material": "larch|pine", "year_from": 2000}),
            3,
            Some("One project without a year is left out."),
        ),
        (
            "/v1/taste?material=larch&material=pine&sort=year_asc",
            "search_by_taste",
            json!({"material": "larch|pine", "sort": "year_asc"}),
            4,
            Some("One project has no year and comes last."),
        ),
    ] {
        assert_noted(&node, path, (tool, arguments), total, note).await;
    }
}

#[tokio::test]
async fn pages_say_the_same() {
    let node = node().await;
    for (path, note) in [
        ("/?city=Tokyo", TOKYO),
        (
            "/?studio=studio+nendo&place=Germany",
            "place “Germany” alone leaves 1, studio “studio nendo” alone 2; together none.</p><p class=\"soft\">Without place 2 projects remain.",
        ),
        (
            "/?q=house&city=Tokyo",
            "A part of a city goes in `place`.</p><p class=\"soft\">Without city 8 projects remain.",
        ),
        (
            "/?material=timber&place=Japan",
            "No project in Japan has “timber”; materials there: larch, cedar, pine.</p><p class=\"soft\">Without place one \
             project remains.",
        ),
    ] {
        let page = node.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.text().contains("No projects found") && page.text().contains(note),
            "{path}: {}",
            page.text()
        );
    }
}

/// Lists that find nothing in the small catalog: paths, and tools with their arguments.
fn empty_lists() -> ([&'static str; 9], [(&'static str, Value); 7]) {
    let paths = [
        "/v1/search?q=xyzzyx",
        "/v1/search?q=street&city=Nowhere&facets=city,year,category&sort=name",
        "/v1/projects?city=Nowhere",
        "/v1/projects?city=Nowhere&facets=city,studio,year",
        "/v1/projects?changed_since=2026-11-20&kinds=restored",
        "/v1/taste?material=gold",
        "/v1/taste?material=larch&category=design",
        "/v1/similar/haus-am-see?studio=Nobody",
        "/v1/discover?category=art",
    ];
    let tools = [
        ("search", json!({"query": "xyzzyx"})),
        ("search_projects", json!({"query": "street", "city": "Nowhere"})),
        ("browse", json!({"city": "Nowhere"})),
        ("browse", json!({"changed_since": "2026-11-20", "kinds": "restored"})),
        ("search_by_taste", json!({"material": "gold"})),
        ("similar_projects", json!({"slug": "haus-am-see", "studio": "Nobody"})),
        ("discover", json!({"category": "art"})),
    ];
    (paths, tools)
}

/// Asserts that lists which find nothing are answered to a key with so many calls left, and cost none.
async fn assert_uncounted(node: &Node, remaining: u64) {
    let bearer = format!("Authorization: Bearer {KEY}\r\n");
    let (paths, tools) = empty_lists();
    let left = remaining.to_string();
    for path in paths {
        for method in ["GET", "HEAD"] {
            let reply = node.ask(method, path, &bearer).await;
            assert_eq!(reply.status, 200, "{method} {path}: {reply:?}");
            let headers = [reply.header("x-ratelimit-remaining"), reply.header("x-call-id")];
            assert_eq!(headers, [Some(left.as_str()), None], "{method} {path}");
        }
        assert_eq!(node.ask("GET", path, &bearer).await.json()["total"], 0, "{path}");
    }
    for (tool, arguments) in tools {
        let reply = node.post(&bearer, mcp::call(tool, arguments)).await;
        let content = mcp::content(&reply);
        assert_eq!(content["results"], json!([]), "{tool}");
        let meta = reply.json()["result"]["_meta"].take();
        let quota = &meta["quota"];
        assert_eq!((&quota["remaining"], meta.get("call_id")), (&json!(remaining), None), "{tool}: {meta}");
    }
}

#[tokio::test]
async fn a_list_that_finds_nothing_is_not_counted() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    assert_uncounted(&node, 200).await;
    let bearer = format!("Authorization: Bearer {KEY}\r\n");
    let counted = node.ask("GET", "/v1/search?q=street", &bearer).await;
    assert_eq!((counted.status, counted.header("x-ratelimit-remaining")), (200, Some("199")));
}

#[tokio::test]
async fn a_list_that_finds_nothing_is_answered_to_a_key_that_is_used_up() {
    let node = Node::start_used_up(Limits::default(), RateLimits::new(0, 0, 0)).await;
    assert_uncounted(&node, 0).await;
}
