//! The MCP endpoint over real sockets.

mod cited;
mod described;
mod generated;
mod keys;
mod odd;
mod protocol;
mod tools;

use serde_json::{Value, json};

use super::{Node, Reply};

/// The names of all tools, in the order in which they are listed.
fn tool_names() -> Vec<&'static str> {
    ::mcp::described_tools().map(|(name, _)| name).collect()
}

/// What a request of 2026-07-28 says of itself.
fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The headers that go with it.
fn modern_headers(method: &str, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("Mcp-Name: {name}\r\n") };
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

/// A call of a tool without any ceremony.
pub(super) fn call(name: &str, arguments: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        .to_string()
}

/// The structured content of a good answer, once its text says the same.
pub(super) fn content(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    let answer = reply.json();
    let result = &answer["result"];
    assert_eq!(result["isError"], false, "{}", reply.text());
    let text = result["content"][0]["text"].as_str().expect("a text");
    let said: Value = serde_json::from_str(text).expect("the text is JSON");
    assert_eq!(said, result["structuredContent"]);
    said
}

/// What a tool says of what it cannot do.
pub(super) fn refusal(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{reply:?}");
    let answer = reply.json();
    let result = &answer["result"];
    assert_eq!(
        *result,
        json!({"content": [{"type": "text", "text": result["content"][0]["text"]}], "isError": true}),
        "{}",
        reply.text()
    );
    result["content"][0]["text"].as_str().unwrap().to_owned()
}
