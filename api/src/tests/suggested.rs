//! Suggestions of another query, over REST, MCP and on the page: one that finds what is already shown is not made.

use serde_json::{Value, json};

use super::*;

#[tokio::test]
async fn what_is_already_shown_is_not_suggested() {
    let node = Node::start().await;
    // The mill is the one result, since “mill” is the rarer word; “mill” alone would find the same.
    let found = node.get("/v1/search?q=mill+street").await.json();
    let note =
        "No project has all of these words. Shown are projects with “mill”. None of them has “street”.";
    assert_eq!((slugs(&found), &found["approximate"]), (vec!["new-mill"], &json!(true)), "{found}");
    assert_eq!((&found["did_you_mean"], &found["note"]), (&Value::Null, &json!(note)));
    for tool in ["search_projects", "search"] {
        assert_eq!(node.tool(tool, json!({"query": "mill street"})).await["note"], note, "{tool}");
    }
    let page = node.get("/?q=mill+street").await;
    assert!(page.text().contains("None of them has “street”."), "{}", page.text());
    assert!(!page.text().contains("Did you mean"), "{}", page.text());

    // Another query finds more.
    let nothing = node.get("/v1/search?q=street+1964").await.json();
    assert_eq!((&nothing["total"], &nothing["did_you_mean"]), (&json!(0), &json!("street")), "{nothing}");
}
