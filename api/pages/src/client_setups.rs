//! How the common clients of MCP are set up for a site, without a key and with one.

use answers::route;
use answers::site::Site;
use schemas::slug::Slug;
use serde_json::{Value, json};

/// What stands for a key.
pub(crate) const KEY: &str = "YOUR_KEY";

/// The set-up of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSetup {
    /// The client.
    pub name: &'static str,
    /// The id of its part of a page.
    pub id: &'static str,
    /// Where the blocks belong.
    pub place: &'static str,
    /// The block of a client without a key.
    pub without_key: String,
    /// The block of a client with the key.
    pub with_key: String,
}

/// Returns the set-up of each client for a site, with a key or what stands for it.
pub(crate) fn client_setups(site: &Site, key: &str) -> Vec<ClientSetup> {
    let url = &format!("{site}{}", route::MCP);
    let name = &Slug::from_name(site.name()).map_or_else(|| "loggia".to_owned(), |slug| slug.to_string());
    let header = format!("Authorization: Bearer {key}");
    let headers = json!({"Authorization": format!("Bearer {key}")});
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
    let client = |name, id, place, (without_key, with_key): (String, String)| ClientSetup {
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
            (url.to_owned(), format!("{url}?key={key}")),
        ),
        client(
            "Codex",
            "codex",
            "In ~/.codex/config.toml; with a key, which the variable LOGGIA_KEY holds:",
            codex(name, url, key),
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

/// Returns the two blocks of Codex, which reads a key from a variable: a known key is set in a comment.
fn codex(name: &str, url: &str, key: &str) -> (String, String) {
    let server = format!("[mcp_servers.{name}]\nurl = \"{url}\"");
    let set = if key == KEY { String::new() } else { format!("# In the shell: export LOGGIA_KEY={key}\n") };
    (server.clone(), format!("{set}{server}\nbearer_token_env_var = \"LOGGIA_KEY\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_the_key_that_is_given() {
        let site: Site = "https://a.org".parse().unwrap();
        let setups = client_setups(&site, "log_live_1");
        assert_eq!(setups.len(), 8);
        for setup in &setups {
            assert!(
                setup.with_key.contains("log_live_1") && !setup.without_key.contains("log_live_1"),
                "{setup:?}"
            );
            assert!(setup.with_key.contains("https://a.org/mcp"), "{setup:?}");
        }
        assert_eq!(
            setups[2].with_key,
            "# In the shell: export LOGGIA_KEY=log_live_1\n[mcp_servers.a-org]\nurl = \"https://a.org/mcp\"\n\
             bearer_token_env_var = \"LOGGIA_KEY\""
        );
        assert!(!client_setups(&site, KEY)[2].with_key.contains("export"), "there is nothing to set yet");
    }
}
