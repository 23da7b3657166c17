//! The front page of an empty catalog.

use serde_json::json;

use super::node::Node;

#[tokio::test]
async fn an_empty_catalog_says_how_it_is_filled() {
    let node = Node::start_of(&[]).await;
    let page = node.get("/").await;
    let text = page.text();
    assert!(text.contains("<h2 id=\"first-steps\">Fill this catalog</h2>"), "{text}");
    for (id, command) in [
        ("step-1", "loggia import works.csv --suggest works.toml"),
        ("step-2", "loggia import works.csv --mapping works.toml"),
    ] {
        assert!(text.contains(&format!("<code id=\"{id}\">{command}</code>")), "{text}");
        assert!(text.contains(&format!("data-copy=\"{id}\"")), "{text}");
    }
    assert!(!text.contains("id=\"step-3\""), "this node requires no keys: {text}");
    assert!(text.contains("/services.css\">"), "commands are not wider than a telephone: {text}");
    for path in ["/art", "/?q=house"] {
        let page = node.get(path).await;
        let text = page.text();
        assert!(!text.contains("first-steps") && !text.contains("/services.css"), "{path}: {text}");
    }
}

#[tokio::test]
async fn a_catalog_with_one_project_shows_it_instead() {
    let node = Node::start_of(&[("pier", json!({"name": "Pier", "category": "art"}))]).await;
    assert!(!node.get("/").await.text().contains("first-steps"));
}
