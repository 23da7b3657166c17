//! The page that sets up clients of MCP.

use serde_json::{Value, json};

use super::{Node, Reply};
use crate::{Limits, RateLimits};

/// The text of a block to copy.
fn block(page: &Reply, id: &str) -> String {
    let (_, rest) = page.text().split_once(&format!("<code id=\"{id}\">")).unwrap_or_else(|| panic!("{id}"));
    rest.split_once("</code>").unwrap().0.replace("&#34;", "\"").replace("&#39;", "'")
}

#[tokio::test]
async fn each_client_has_a_block_to_copy_that_leads_to_this_site() {
    let node = Node::start().await;
    let page = node.get("/connect").await;
    let block = |id: &str| block(&page, id);
    let url = "https://catalog.example.org/mcp";
    let name = "catalog-example-org";
    assert_eq!(block("mcp-url"), url);
    for (id, text) in [
        ("claude-code", format!("claude mcp add --transport http {name} {url}")),
        ("claude", url.to_owned()),
        ("codex", format!("[mcp_servers.{name}]\nurl = \"{url}\"")),
        ("gemini", format!("gemini mcp add --transport http {name} {url}")),
        ("stdio", format!("npx -y mcp-remote {url}")),
    ] {
        assert_eq!(block(&format!("{id}-open")), text);
        let button = format!("data-copy=\"{id}-open\"");
        assert!(page.text().contains(&button), "{button}");
    }
    for (id, servers, server) in [
        ("cursor", "mcpServers", json!({"url": url})),
        ("vscode", "servers", json!({"type": "http", "url": url})),
        ("windsurf", "mcpServers", json!({"serverUrl": url})),
    ] {
        let file: Value = serde_json::from_str(&block(&format!("{id}-open"))).unwrap();
        assert_eq!(file, json!({servers: {name: server}}), "{id}");
    }
    // This node requires no keys.
    assert!(!page.text().contains("YOUR_KEY") && !page.text().contains("/keys"));
    // The check is what it says.
    let body = block("check-call").split_once("-d '").unwrap().1.trim_end_matches('\'').to_owned();
    let answer = node.post("Content-Type: application/json\r\n", &body).await.json();
    let tools = answer["result"]["tools"].as_array().unwrap().len();
    assert!(page.text().contains(&format!("It lists {tools} tools.")), "{tools}");
}

#[tokio::test]
async fn where_keys_are_required_each_client_has_a_block_with_a_key_too() {
    let node = Node::start_with_keys(Limits::default(), RateLimits::new(0, 0, 0)).await;
    let page = node.get("/connect").await;
    let url = "https://catalog.example.org/mcp";
    let name = "catalog-example-org";
    let header = "--header \"Authorization: Bearer YOUR_KEY\"";
    for (id, text) in [
        ("claude-code", format!("claude mcp add --transport http {name} {url} \\\n  {header}")),
        ("claude", format!("{url}?key=YOUR_KEY")),
        ("codex", format!("[mcp_servers.{name}]\nurl = \"{url}\"\nbearer_token_env_var = \"LOGGIA_KEY\"")),
        ("gemini", format!("gemini mcp add --transport http \\\n  {header} {name} {url}")),
        ("stdio", format!("npx -y mcp-remote {url} {header}")),
    ] {
        assert_eq!(block(&page, &format!("{id}-keyed")), text);
    }
    let headers = json!({"Authorization": "Bearer YOUR_KEY"});
    for (id, servers, server) in [
        ("cursor", "mcpServers", json!({"url": url, "headers": headers})),
        ("vscode", "servers", json!({"type": "http", "url": url, "headers": headers})),
        ("windsurf", "mcpServers", json!({"serverUrl": url, "headers": headers})),
    ] {
        let file: Value = serde_json::from_str(&block(&page, &format!("{id}-keyed"))).unwrap();
        assert_eq!(file, json!({servers: {name: server}}), "{id}");
    }
    // Each client has both, and both can be copied.
    let copied = |kind: &str| page.text().matches(&format!("-{kind}\">Copy</button>")).count();
    assert_eq!((copied("open"), copied("keyed")), (8, 8));
    assert!(page.text().contains("<a href=\"/keys\">a free key</a>"), "{}", page.text());
}
