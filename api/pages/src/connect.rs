//! `GET /connect`: how clients of MCP are set up for this site, with and without a key.

use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use schemas::slug::Slug;
use serde_json::{Value, json};

use super::layout::Layout;
use super::page;

/// What stands for the key.
const KEY: &str = "YOUR_KEY";

#[derive(Template)]
#[template(path = "connect.html")]
struct Connect {
    layout: Layout,
    url: String,
    clients: Vec<Client>,
    tools: usize,
    check: String,
}

/// The set-up of a client.
struct Client {
    name: &'static str,
    /// The id of its part of the page.
    id: &'static str,
    /// Where the blocks belong.
    place: &'static str,
    without_key: String,
    with_key: String,
}

pub(super) async fn connect(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let site = state.site();
    let url = format!("{site}{}", route::MCP);
    let name = Slug::from_name(site.name()).map_or_else(|| "loggia".to_owned(), |slug| slug.to_string());
    let layout = Layout::new(&state, route::CONNECT, "Connect an agent").describing(
        format!("Set up Claude, Codex, Cursor, VS Code and other clients of MCP for {}.", site.name()),
        route::CONNECT,
    );
    let check = format!(
        "curl {url} -H \"Content-Type: application/json\" \\\n  -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}'"
    );
    page(&Connect {
        clients: clients(&name, &url),
        tools: mcp::described_tools().count(),
        check,
        url,
        layout,
    })
}

fn clients(name: &str, url: &str) -> Vec<Client> {
    let header = format!("Authorization: Bearer {KEY}");
    let headers = json!({"Authorization": format!("Bearer {KEY}")});
    // A configuration file whose member `servers` has this server, with and without the key.
    let file = |servers: &str, server: Value| {
        let pretty = |server: Value| {
            let file = json!({servers: {name: server}});
            serde_json::to_string_pretty(&file).unwrap_or_else(|_| file.to_string())
        };
        let mut keyed = server.clone();
        keyed["headers"] = headers.clone();
        (pretty(server), pretty(keyed))
    };
    let client = |name, id, place, (without_key, with_key): (String, String)| Client {
        name,
        id,
        place,
        without_key,
        with_key,
    };
    let bridge = format!("npx -y mcp-remote {url}");
    vec![
        client("Claude Code", "claude-code", "In a terminal:", {
            let add = format!("claude mcp add --transport http {name} {url}");
            (add.clone(), format!("{add} \\\n  --header \"{header}\""))
        }),
        client(
            "Claude and Claude Desktop",
            "claude",
            "In Settings, Connectors, Add custom connector, as the URL. It must be reachable from the internet:",
            (url.to_owned(), format!("{url}?key={KEY}")),
        ),
        client(
            "Codex",
            "codex",
            "In ~/.codex/config.toml; with a key, which the variable LOGGIA_KEY holds:",
            {
                let server = format!("[mcp_servers.{name}]\nurl = \"{url}\"");
                (server.clone(), format!("{server}\nbearer_token_env_var = \"LOGGIA_KEY\""))
            },
        ),
        client("Cursor", "cursor", "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project:", {
            file("mcpServers", json!({"url": url}))
        }),
        client(
            "VS Code",
            "vscode",
            "In .vscode/mcp.json of a project, or with MCP: Open User Configuration:",
            file("servers", json!({"type": "http", "url": url})),
        ),
        client("Gemini CLI", "gemini", "In a terminal:", {
            let add = "gemini mcp add --transport http".to_owned();
            (format!("{add} {name} {url}"), format!("{add} \\\n  --header \"{header}\" {name} {url}"))
        }),
        client("Windsurf", "windsurf", "In ~/.codeium/windsurf/mcp_config.json:", {
            file("mcpServers", json!({"serverUrl": url}))
        }),
        client(
            "Clients that only start programs",
            "stdio",
            "As the command of the server; it needs Node.js:",
            (bridge.clone(), format!("{bridge} --header \"{header}\"")),
        ),
    ]
}
