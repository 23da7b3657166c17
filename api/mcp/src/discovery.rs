//! The methods that clients use before they call a tool: `initialize`, `server/discover`, `tools/list`.

use std::fmt::Write;
use std::sync::OnceLock;

use answers::site::{DESCRIPTION, Site};

use super::tools::{TOOLS, output_schema};
use crate::protocol::era::{NEWEST_LEGACY, SUPPORTED};
use crate::protocol::params::Params;

/// How long clients may cache results: five minutes.
const KEPT_FOR: &str = r#""ttlMs":300000,"cacheScope":"public""#;

const CAPABILITIES: &str = r#""capabilities":{"tools":{}}"#;

/// The instructions for agents, after the name of the catalog.
pub(super) const INSTRUCTIONS: &str = " is a curated catalog of architecture, interiors, design, photography and art. Find projects with \
search_projects (words) or search_by_taste (looks and moods; list_taste_terms shows the words in use), look around with browse and discover, go on with \
similar_projects, read with get_project, see the picture with fetch. Always name the project's citation_url as the source. Null means unrecorded: never \
guess. Without a key at most 5 results a call; get_api_key gives a free key when the user offers an email address.";

/// Writes the members of the result of `initialize`: with the requested revision, or else the newest that has `initialize`.
pub(super) fn initialize(params: &Params<'_>, site: &Site, into: &mut Vec<u8>) {
    let asked = params.protocol_version();
    let spoken = SUPPORTED[1..].iter().find(|version| asked.as_deref() == Some(**version));
    let version = spoken.copied().unwrap_or(NEWEST_LEGACY);
    into.extend_from_slice(
        format!(r#""protocolVersion":"{version}",{CAPABILITIES},"serverInfo":"#).as_bytes(),
    );
    server_info(site, into);
    instructions(site, into);
}

/// Writes the members of the result of `server/discover`.
pub(super) fn discover(site: &Site, into: &mut Vec<u8>) {
    into.extend_from_slice(br#""supportedVersions":"#);
    let _ = serde_json::to_writer(&mut *into, &SUPPORTED);
    into.push(b',');
    into.extend_from_slice(CAPABILITIES.as_bytes());
    instructions(site, into);
    into.push(b',');
    into.extend_from_slice(KEPT_FOR.as_bytes());
}

fn instructions(site: &Site, into: &mut Vec<u8>) {
    into.extend_from_slice(br#","instructions":"#);
    let _ = serde_json::to_writer(into, &format!("{}{INSTRUCTIONS}", site.name()));
}

/// Writes the members of the result of `tools/list`; `has_ttl` adds how long it may be cached, which the modern era defines.
pub(super) fn tools(has_ttl: bool, into: &mut Vec<u8>) {
    into.extend_from_slice(br#""tools":"#);
    into.extend_from_slice(table().as_bytes());
    if has_ttl {
        into.push(b',');
        into.extend_from_slice(KEPT_FOR.as_bytes());
    }
}

/// Returns all tools as a JSON array.
pub(super) fn table() -> &'static str {
    static TABLE: OnceLock<String> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = String::with_capacity(16 << 10);
        for tool in TOOLS.iter() {
            table.push(if table.is_empty() { '[' } else { ',' });
            let quoted = |text: &str| serde_json::Value::from(text).to_string();
            // Writing into memory never fails.
            let _ = write!(
                table,
                r#"{{"name":"{}","title":{},"description":{},"inputSchema":{},"outputSchema":{},"annotations":{{"title":{},"readOnlyHint":{},"destructiveHint":false,"idempotentHint":{},"openWorldHint":false}}}}"#,
                tool.name,
                quoted(tool.title),
                quoted(tool.description),
                (tool.input)(),
                output_schema(tool),
                quoted(tool.title),
                !tool.writes,
                !tool.writes,
            );
        }
        table.push(']');
        table
    })
}

/// Writes the object that describes this server.
pub(super) fn server_info(site: &Site, into: &mut Vec<u8>) {
    into.extend_from_slice(br#"{"name":"loggia","title":"#);
    // Writing into memory never fails.
    let _ = serde_json::to_writer(&mut *into, site.name());
    for part in [
        r#","version":""#,
        env!("CARGO_PKG_VERSION"),
        r#"","description":""#,
        DESCRIPTION,
        r#"","websiteUrl":""#,
        site.as_str(),
        r#""}"#,
    ] {
        into.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests;
