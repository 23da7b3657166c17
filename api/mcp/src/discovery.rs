//! The methods that clients use before they call a tool: `initialize`, `server/discover`, `tools/list`.

use std::fmt::Write;
use std::sync::OnceLock;

use answers::catalog::about::{self, NEVER_RECORDED};
use answers::catalog::examples::Examples;
use answers::site::{DESCRIPTION, Site};
use answers::state::ApiState;
use schemas::taste::Dimension;

use super::tools::TOOLS;
use crate::protocol::era::{NEWEST_LEGACY, SUPPORTED};
use crate::protocol::params::Params;

/// How long clients may cache results: five minutes.
const KEPT_FOR: &str = r#""ttlMs":300000,"cacheScope":"public""#;

const CAPABILITIES: &str = r#""capabilities":{"tools":{}}"#;

/// How agents use the tools.
const USE: &str = "Find projects with search_projects (words) or search_by_taste (looks and moods), look around with browse and discover, \
go on with similar_projects, read with get_project, see a picture with fetch, up to ten with get_project {slugs, pictures: true}. \
list_taste_terms shows the words in use and, without arguments, how many projects have what. Always name the project's revision_url as the source (citation_url may be another site's). Null means unrecorded.";

/// What agents have without a key, and how they get one.
const KEYS: &str = "Without a key at most 5 results a call; get_api_key gives a free key, for up to 20, when the user offers an email address.";

/// The same where the service runs without keys.
const NO_KEYS: &str = "No key is needed.";

/// Writes the members of the result of `initialize`: with the requested revision, or else the newest that has `initialize`.
pub(super) fn initialize(params: &Params<'_>, state: &ApiState, into: &mut Vec<u8>) {
    let asked = params.protocol_version();
    let spoken = SUPPORTED[1..].iter().find(|version| asked.as_deref() == Some(**version));
    let version = spoken.copied().unwrap_or(NEWEST_LEGACY);
    into.extend_from_slice(
        format!(r#""protocolVersion":"{version}",{CAPABILITIES},"serverInfo":"#).as_bytes(),
    );
    server_info(state.site(), into);
    instructions(state, into);
}

/// Writes the members of the result of `server/discover`.
pub(super) fn discover(state: &ApiState, into: &mut Vec<u8>) {
    into.extend_from_slice(br#""supportedVersions":"#);
    let _ = serde_json::to_writer(&mut *into, &SUPPORTED);
    into.push(b',');
    into.extend_from_slice(CAPABILITIES.as_bytes());
    instructions(state, into);
    into.push(b',');
    into.extend_from_slice(KEPT_FOR.as_bytes());
}

/// Writes the instructions for agents, which say only what holds for this catalog.
fn instructions(state: &ApiState, into: &mut Vec<u8>) {
    let (name, kind) = (state.site().name(), about::kind(state.listing().ok().as_ref()));
    let keys = if state.access().keys().is_some() { KEYS } else { NO_KEYS };
    into.extend_from_slice(br#","instructions":"#);
    let _ = serde_json::to_writer(into, &format!("{name} is a {kind}. {USE} {NEVER_RECORDED} {keys}"));
}

/// Writes the members of the result of `tools/list`, with examples of this catalog; `has_ttl` adds how long it may be cached, which the
/// modern era defines.
pub(super) fn tools(examples: &Examples, has_ttl: bool, into: &mut Vec<u8>) {
    into.extend_from_slice(br#""tools":"#);
    fill(table(), examples, into);
    if has_ttl {
        into.push(b',');
        into.extend_from_slice(KEPT_FOR.as_bytes());
    }
}

/// Returns all tools as a JSON array. In descriptions a name in braces, such as `{city}`, stands for an example.
fn table() -> &'static str {
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
                tool.output,
                quoted(tool.title),
                !tool.writes,
                !tool.writes,
            );
        }
        table.push(']');
        table
    })
}

/// Writes JSON with examples in place of their names in braces; other braces stay. Examples are the same in JSON.
fn fill(mut json: &str, examples: &Examples, into: &mut Vec<u8>) {
    while let Some((before, from)) = json.split_once('{') {
        into.extend_from_slice(before.as_bytes());
        let named = from.split_once('}').and_then(|(name, rest)| Some((example(examples, name)?, rest)));
        json = match named {
            Some((value, rest)) => {
                into.extend_from_slice(value.as_bytes());
                rest
            }
            None => {
                into.push(b'{');
                from
            }
        };
    }
    into.extend_from_slice(json.as_bytes());
}

fn example<'e>(examples: &'e Examples, name: &str) -> Option<&'e str> {
    Some(match name {
        "city" => &examples.city,
        "place" => &examples.place,
        "studio" => &examples.studio,
        "curator" => &examples.curator,
        "year" => &examples.year,
        "day" => &examples.day,
        name => {
            let at = Dimension::NAMES.iter().position(|known| *known == name)?;
            &examples.words[at]
        }
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
