//! `GET /connect`: how clients of MCP are set up for this site, with and without a key.

use answers::error::ApiError;
use answers::route;
use answers::state::ApiState;
use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::client_setups::{ClientSetup, KEY, client_setups};
use super::layout::Layout;
use super::page;

#[derive(Template)]
#[template(path = "connect.html")]
struct Connect {
    layout: Layout,
    url: String,
    clients: Vec<ClientSetup>,
    tools: usize,
    check: String,
}

pub(super) async fn connect(State(state): State<ApiState>) -> Result<Response, ApiError> {
    let site = state.site();
    let url = format!("{site}{}", route::MCP);
    let layout = Layout::new(&state, route::CONNECT, "Connect an agent").describing(
        format!("Set up Claude, Codex, Cursor, VS Code and other clients of MCP for {}.", site.name()),
        route::CONNECT,
    );
    let check = format!(
        "curl {url} -H \"Content-Type: application/json\" \\\n  -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}'"
    );
    page(&Connect {
        clients: client_setups(site, KEY),
        tools: mcp::described_tools().count(),
        check,
        url,
        layout,
    })
}
