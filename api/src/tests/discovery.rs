//! The documents by which agents find a node.

use serde_json::json;

use super::Node;

#[tokio::test]
async fn a_host_leads_to_the_card_and_the_card_to_the_endpoint() {
    let node = Node::start_empty().await;
    let site = "https://catalog.example.org";
    let catalog = node.get("/.well-known/ai-catalog.json").await;
    assert_eq!((catalog.status, catalog.header("content-type")), (200, Some("application/ai-catalog+json")));
    let entry = &catalog.json()["entries"][0];
    assert_eq!(entry["identifier"], "urn:air:catalog.example.org:mcp:loggia");
    assert_eq!(entry["type"], "application/mcp-server-card+json");
    let path = entry["url"].as_str().unwrap().strip_prefix(site).unwrap().to_owned();

    let card = node.get(&path).await;
    assert_eq!((card.status, card.header("content-type")), (200, Some("application/mcp-server-card+json")));
    for (name, value) in [("cache-control", "public, max-age=3600"), ("access-control-allow-origin", "*")] {
        assert_eq!(card.header(name), Some(value));
    }
    let tag = card.header("etag").unwrap();
    assert_eq!(node.ask("GET", &path, &format!("If-None-Match: {tag}\r\n")).await.status, 304);

    // What the card says is what the endpoint says of itself.
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    let discovered = node.post("", body).await.json()["result"].take();
    let initialized =
        node.post("", r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#).await.json()["result"].take();
    let (card, info) = (card.json(), &initialized["serverInfo"]);
    assert_eq!(card["remotes"][0]["supportedProtocolVersions"], discovered["supportedVersions"]);
    assert_eq!(card["remotes"][0]["url"], format!("{site}/mcp"));
    for member in ["title", "version", "description", "websiteUrl"] {
        assert_eq!(card[member], info[member], "{member}");
    }
    assert_eq!(card["name"], "org.example.catalog/loggia");
}

#[tokio::test]
async fn the_registry_and_readers_get_theirs() {
    let node = Node::start_empty().await;
    let manifest = node.get("/server.json").await.json();
    assert_eq!(
        manifest["$schema"],
        "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    );
    assert_eq!(manifest["name"], "org.example.catalog/loggia");
    let remote = &manifest["remotes"][0];
    assert_eq!(
        (&remote["type"], &remote["url"]),
        (&json!("streamable-http"), &json!("https://catalog.example.org/mcp"))
    );
    assert_eq!(
        (&remote["headers"][0]["isSecret"], &remote["headers"][0]["isRequired"]),
        (&json!(true), &json!(false))
    );
    let llms = node.get("/llms.txt").await;
    assert_eq!(llms.header("content-type"), Some("text/plain; charset=utf-8"));
    let text = llms.text();
    assert!(text.starts_with("# catalog.example.org\n\n> A curated catalog"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("- `")).count(), 10 + 6, "{text}");
    assert!(text.contains("https://catalog.example.org/mcp") && !text.contains('\u{1}'), "{text}");
}
