//! The MCP inspector's check of the tools: names, schemas and annotations.

use crate::installed::Clients;
use crate::served::Served;

#[tokio::test]
async fn the_inspector_reports_no_issue_with_the_tools() {
    let Some(clients) = Clients::find() else { return };
    let Some(served) = Served::shared().await else { return };
    let url = served.mcp_url();
    let mut lists = Vec::new();
    for era in ["legacy", "modern"] {
        let args = ["--cli", &url, "--transport", "http", "--protocol-era", era, "--method", "tools/list"];
        let args: Vec<&str> = args.iter().chain(&["--strict", "--format", "json"]).copied().collect();
        let output = clients.npm_program(".bin/mcp-inspector", &args).await;
        // It recommends `anyOf` for nullable types; a list of two types says the same in half the tokens.
        let issues = output.stderr.lines().filter(|line| line.trim_start().starts_with("Issue:"));
        let others: Vec<&str> = issues
            .filter(|issue| !issue.contains("`type` is an array ([") || !issue.contains("\"null\"])"))
            .collect();
        assert_eq!(others, [""; 0], "{output}");
        let list = output.success().json();
        assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(10), "{list}");
        lists.push(list["result"]["tools"].clone());
    }
    assert_eq!(lists[0], lists[1], "both eras are offered the same tools");
}
