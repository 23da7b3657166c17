//! Each client lists the tools, calls all of them, reads a picture, is rejected once, and calls again with a key.

use kit::ProgramOutput;
use serde_json::json;

use crate::installed::{Clients, SCRIPTS};
use crate::served::Served;

/// Compares the line that a client's script prints with the expected one.
fn assert_visited(output: ProgramOutput, client: &str, revision: Option<&str>) {
    let seen = output.success();
    let called = [
        "browse",
        "discover",
        "fetch",
        "get_api_key",
        "get_project",
        "list_taste_terms",
        "search",
        "search_by_taste",
        "search_projects",
        "similar_projects",
    ];
    let expected = json!({
        "client": client,
        "revision": revision,
        "called": called,
        "pictures": ["image/jpeg"],
        "refused": true,
        "results": {"anonymous": 5, "keyed": 8},
    });
    assert_eq!(seen.json(), expected, "{seen}");
}

#[tokio::test]
async fn clients_in_javascript_use_every_tool() {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let url = served.mcp_url();
    let visit = async |script: &str, email: &str, more: &[&str], client: &str, revision: Option<&str>| {
        let args: Vec<&str> = [url.as_str(), email].iter().chain(more).copied().collect();
        assert_visited(clients.script(script, &args).await, client, revision);
    };
    let (legacy, modern) = (Some("2025-11-25"), Some("2026-07-28"));
    visit("sdk_1.mjs", "one@example.org", &[], "@modelcontextprotocol/sdk 1.32.2", legacy).await;
    let second = "@modelcontextprotocol/client 2.4.0";
    visit("sdk_2.mjs", "two@example.org", &[], second, legacy).await;
    visit("sdk_2.mjs", "three@example.org", &["2026-07-28"], second, modern).await;
    visit("mcp_remote.mjs", "four@example.org", &[], "mcp-remote 0.15.1", None).await;
    visit("mcporter.mjs", "five@example.org", &[], "mcporter 0.12.3", None).await;
}

/// Visits with a client in Python and the packages of a list. Each has a test of its own, so that they run at the same time.
async fn visit_in_python(list: &str, script: &str, email: &str, client: &str, revision: Option<&str>) {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let output = clients.python(list, script, &[&served.mcp_url(), email]).await;
    assert_visited(output, client, revision);
}

#[tokio::test]
async fn the_first_python_sdk_uses_every_tool() {
    visit_in_python("mcp-1", "python_sdk_1.py", "six@example.org", "mcp 1.30.0", Some("2025-11-25")).await;
}

#[tokio::test]
async fn langchain_uses_every_tool() {
    let client = "langchain-mcp-adapters 0.3.2";
    visit_in_python("mcp-1", "langchain_adapters.py", "seven@example.org", client, None).await;
}

#[tokio::test]
async fn the_second_python_sdk_uses_every_tool() {
    visit_in_python("mcp-2", "python_sdk_2.py", "eight@example.org", "mcp 2.3.0", Some("2026-07-28")).await;
}

#[tokio::test]
async fn fastmcp_uses_every_tool() {
    visit_in_python("mcp-2", "fastmcp_client.py", "nine@example.org", "fastmcp 4.1.0", None).await;
}

#[tokio::test]
async fn openai_agents_use_every_tool() {
    visit_in_python("mcp-2", "openai_agents.py", "ten@example.org", "openai-agents 0.24.0", None).await;
}

/// Only in the newer revision: each call is a separate process, and its SDK is tested above in both.
#[tokio::test]
async fn the_inspector_uses_every_tool() {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let output = clients.script("inspector.mjs", &[&served.mcp_url(), "eleven@example.org", "modern"]).await;
    assert_visited(output, "@modelcontextprotocol/inspector 2.12.0", None);
}

#[test]
fn every_script_is_run() {
    let files =
        std::fs::read_dir(SCRIPTS).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let scripts = files.filter(|file| file.ends_with(".py") || file.ends_with(".mjs"));
    let forgotten: Vec<String> = scripts
        .filter(|file| {
            !file.starts_with("visit.")
                && ![include_str!("visits.rs"), include_str!("openapi.rs")].concat().contains(file)
        })
        .collect();
    assert_eq!(forgotten, [""; 0], "no test runs these");
}
