//! What the listing of the tools says of their arguments, with examples of the catalog.

use super::*;

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// Returns the descriptions of arguments of a tool.
fn described<'t>(tools: &'t Value, tool: &str, names: &[&str]) -> Vec<&'t str> {
    let tool = tools.as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
    let description = |name: &&str| tool["inputSchema"]["properties"][*name]["description"].as_str().unwrap();
    names.iter().map(description).collect()
}

async fn listed(node: &Node) -> Value {
    let reply = node.post("", LIST).await;
    assert!(reply.text().chars().count() < 16_000, "{} characters", reply.text().chars().count());
    reply.json()["result"]["tools"].take()
}

#[tokio::test]
async fn examples_are_values_of_the_catalog() {
    let node = Node::start().await;
    let tools = listed(&node).await;
    assert_eq!(
        described(
            &tools,
            "search_projects",
            &["city", "place", "studio", "curator", "year_from", "year_to", "added_since", "sort", "facets"]
        ),
        [
            "Whole value, e.g. Zürich, Switzerland; alternatives with |",
            "Town or country, e.g. Switzerland",
            "Whole name, e.g. Atelier Łoś",
            "Who selected it, e.g. Ada",
            "e.g. 2019",
            "e.g. 2019",
            "Day, e.g. 2026-11-20",
            "newest, oldest: by day of publication; year_asc, year_desc: by the project's year, unknown last",
            "To count, e.g. city,year,material",
        ]
    );
    // Of the dimensions only one has words.
    assert_eq!(
        described(&tools, "search_by_taste", &["material", "color", "mood"]),
        ["e.g. larch", "e.g. grey, or #rrggbb: a filter", "e.g. calm"]
    );
    // What the examples name is found.
    for arguments in [
        json!({"city": "Zürich, Switzerland"}),
        json!({"place": "Switzerland"}),
        json!({"studio": "Atelier Łoś"}),
        json!({"curator": "Ada"}),
        json!({"year_from": 2019, "year_to": 2019}),
    ] {
        let found = node.tool("browse", arguments.clone()).await;
        assert_eq!(found["results"][0]["slug"], "haus-am-see", "{arguments}");
    }
}

#[tokio::test]
async fn without_a_catalog_examples_show_the_form() {
    let tools = listed(&Node::start_empty().await).await;
    assert_eq!(
        described(&tools, "search_projects", &["city", "place", "studio", "curator", "added_since"]),
        [
            "Whole value, e.g. that of a result; alternatives with |",
            "Town or country, e.g. Germany",
            "Whole name, e.g. that of a result",
            "Who selected it, e.g. that of a result",
            "Day, e.g. 2026-01-31",
        ]
    );
    assert_eq!(described(&tools, "search_by_taste", &["material", "mood"]), ["e.g. oak", "e.g. calm"]);
}
