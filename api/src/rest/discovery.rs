//! What the node says of itself: the OpenAPI document, and one in version 3.0 for generators that support only that; for agents and
//! registries an MCP server card (SEP-2127), the AI catalog that lists it, and a manifest for the MCP registry; `/llms.txt` for
//! language models, and `/robots.txt` for crawlers.

use std::net::IpAddr;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Uri};
use read::archive::Listing;
use schemas::contract;
use serde_json::{Value, json};

use answers::catalog::about::{self, NEVER_RECORDED};
use answers::route::{self, SERVER_CARD, SITEMAP};
use answers::site::{DESCRIPTION, Site};
use answers::state::ApiState;

/// What agents have without a key, and how they get one.
const WITH_KEYS: &str = "It works without a key, with at most 5 results a call; with `Authorization: Bearer log_live_…`, or `?key=` where a \
client has no field for headers, up to 20. `get_api_key` gives a free key for the user's own email address.";

/// The same where the service runs without keys.
const WITHOUT_KEYS: &str = "It works without a key.";

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// Returns the host of the site if it has a name: a plain address is not a domain.
fn domain(site: &Site) -> String {
    let uri: Option<Uri> = site.as_str().parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default().trim_matches(['[', ']']);
    let is_name = !host.is_empty() && host.parse::<IpAddr>().is_err();
    if is_name { host.to_ascii_lowercase() } else { "localhost".to_owned() }
}

/// Returns the name in reverse-DNS form: `org.example.catalog/loggia` for `catalog.example.org`.
fn name(site: &Site) -> String {
    let domain = domain(site);
    let parts: Vec<&str> = domain.split('.').rev().collect();
    format!("{}/loggia", parts.join("."))
}

fn described(schema: &str, site: &Site, remote: Value) -> Value {
    json!({
        "$schema": schema,
        "name": name(site),
        "title": site.name(),
        "description": DESCRIPTION,
        "version": env!("CARGO_PKG_VERSION"),
        "websiteUrl": site.as_str(),
        "remotes": [remote],
    })
}

fn remote(site: &Site) -> Value {
    json!({
        "type": "streamable-http",
        "url": format!("{site}/mcp"),
        "headers": [{
            "name": "Authorization",
            "description": "Bearer and a key, for up to 20 results a call. Without it at most 5; the tool get_api_key gives a free one.",
            "placeholder": "Bearer log_live_…",
            "isRequired": false,
            "isSecret": true,
        }],
    })
}

fn card(site: &Site) -> Value {
    let mut remote = remote(site);
    remote["supportedProtocolVersions"] = json!(mcp::REVISIONS);
    described("https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json", site, remote)
}

fn manifest(site: &Site) -> Value {
    described(
        "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        site,
        remote(site),
    )
}

fn catalog(site: &Site) -> Value {
    json!({
        "specVersion": "1.0",
        "host": {"displayName": site.name()},
        "entries": [
            {
                "identifier": format!("urn:air:{}:mcp:loggia", domain(site)),
                "displayName": site.name(),
                "type": "application/mcp-server-card+json",
                "url": format!("{site}{SERVER_CARD}"),
            },
            {
                "identifier": format!("urn:air:{}:api:loggia", domain(site)),
                "displayName": format!("{} over REST", site.name()),
                "type": "application/vnd.oai.openapi+json",
                "url": format!("{site}/openapi.json"),
            },
        ],
    })
}

/// Returns what language models read first: it says only what holds for this catalog at present.
fn llms(state: &ApiState) -> String {
    let (site, now) = (state.site(), state.listing().ok());
    let tools: String = mcp::described_tools().map(|(name, text)| format!("- `{name}`: {text}\n")).collect();
    let name = site.name();
    let about = site.described().map_or_else(|| format!("A {}.", about::kind(now.as_ref())), str::to_owned);
    let counts = now.as_ref().map(Listing::catalog_counts);
    let curators = counts.map(|counts| format!(" {}", about::curators(counts))).unwrap_or_default();
    let recorded: String =
        counts.iter().flat_map(|counts| about::recorded(counts)).map(|line| format!("- {line}\n")).collect();
    let has_keys = state.access().keys().is_some();
    let (access, pages) = if has_keys {
        (WITH_KEYS, format!(" [keys]({site}/keys), [pricing]({site}/pricing),"))
    } else {
        (WITHOUT_KEYS, String::new())
    };
    format!(
        "# {name}\n\n> {about}{curators} Each record has `revision_url`, its address to cite.\n\n\
         ## What is recorded\n\n{recorded}- {NEVER_RECORDED}\n\n\
         ## For agents: MCP\n\nPOST JSON-RPC to {site}/mcp (Streamable HTTP, no session, no OAuth). {access}\n\n{tools}\n\
         ## For programs: REST\n\n\
         - [OpenAPI]({site}/openapi.json): every endpoint, parameter and error\n\
         - `GET {site}/v1/search?q=…`: projects by words\n\
         - `GET {site}/v1/project/{{slug}}`: the full record; `?revision=N` and `?as_of=DATE` say what it said, `?compare_to=N` what differs, \
         and `?cite=apa` adds a citation (also chicago, mla, bibtex, ris, csl)\n\
         - `GET {site}/v1/projects`: the newest; `?slugs=a,b` gives several records; `{site}/v1/taste?material=oak`: by looks and \
         moods; `{site}/v1/terms`: what is recorded, and the words in use; `{site}/v1/discover`: one at random; `{site}/v1/suggest?q=…`: completions\n\
         - `GET {site}/v1/changes`: what happened since a cursor, to keep a copy\n\
         - `GET {site}/v1/similar/{{slug}}`: the nearest by looks and text\n\
         - `{site}/cite/{{slug}}/{{revision}}`: the citation, by `Accept` or `?format=` as JSON-LD, BibTeX, RIS, CSL-JSON or text, by \
         `?format=` in APA, Chicago or MLA too\n\n\
         ## For people\n\n\
         - [Search]({site}/), [reference]({site}/docs),{pages} [status]({site}/status)\n\
         - [Atom feed]({site}/feed.atom) and [JSON feed]({site}/feed.json) of the latest additions; `?category=art` gives those of one category\n\n\
         ## Rules\n\n\
         - Name `revision_url` as the source; what it shows never changes. `citation_url` may lead to another site, for which nobody here \
         can speak.\n\
         - Null means unrecorded: never guess.\n"
    )
}

async fn llms_document(State(state): State<ApiState>) -> Response {
    ([(CONTENT_TYPE, TEXT), (CACHE_CONTROL, HOUR)], llms(&state)).into_response()
}

/// Returns the OpenAPI document with the site's address.
fn openapi(mut document: Value, site: &Site) -> Value {
    let server = |path: &str| json!([{"url": format!("{site}{path}")}]);
    document["info"]["title"] = site.name().into();
    document["servers"] = server("/v1");
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (_, path) in paths.filter(|(_, path)| path["servers"].is_array()) {
        path["servers"] = server("");
    }
    document
}

/// Returns what crawlers may read. Rules contain paths, and the site may be below one.
fn robots(site: &Site) -> String {
    let below = site.path();
    format!(
        "User-agent: *\nDisallow: {below}/v1/\nDisallow: {below}/claim\nAllow: {below}/\n\nSitemap: {site}{SITEMAP}\n"
    )
}

/// Returns the paths of these documents, which are rendered once, but for the one that says what the catalog has.
pub(super) fn router(site: &Site) -> Router<ApiState> {
    let document = |kind, caching: Option<&HeaderValue>, body: String| {
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        headers.extend(caching.map(|caching| (CACHE_CONTROL, caching.clone())));
        let body = Bytes::from(body);
        get(async move || (headers.clone(), body.clone()))
    };
    let pretty = |value: Value| format!("{value:#}\n");
    let (json, text, hour) = ("application/json", "text/plain; charset=utf-8", Some(&HOUR));
    let (newest, older) = (openapi(contract::openapi(), site), openapi(contract::openapi_3_0(), site));
    Router::new()
        .route(route::OPENAPI, document(json, None, pretty(newest)))
        .route(route::OPENAPI_3_0, document(json, None, pretty(older)))
        .route(route::ROBOTS, document(text, None, robots(site)))
        .route(route::SERVER_CARD, document("application/mcp-server-card+json", hour, pretty(card(site))))
        .route(route::AI_CATALOG, document("application/ai-catalog+json", hour, pretty(catalog(site))))
        .route(route::REGISTRY_MANIFEST, document(json, hour, pretty(manifest(site))))
        .route(route::LLMS, get(llms_document))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_named_after_its_host() {
        for (site, domain, name) in [
            ("https://Catalog.example.org/path", "catalog.example.org", "org.example.catalog/loggia"),
            ("http://127.0.0.1:8080", "localhost", "localhost/loggia"),
            ("http://[::1]:8080", "localhost", "localhost/loggia"),
            ("http://loggia:8080", "loggia", "loggia/loggia"),
        ] {
            let site: Site = site.parse().unwrap();
            assert_eq!((super::domain(&site).as_str(), super::name(&site).as_str()), (domain, name));
        }
    }

    #[test]
    fn the_limits_of_the_schemas_are_observed() {
        assert!(DESCRIPTION.chars().count() <= 100);
        assert!(card(&"https://x.example".parse().unwrap())["remotes"][0]["url"] == "https://x.example/mcp");
    }
}
