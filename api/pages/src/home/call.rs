//! The API call that corresponds to the page.

use answers::route;
use answers::site::Site;
use schemas::taste::Dimension;
use serde_json::{Map, Value, json};

use super::query::{self, HomeQuery};

/// Returns a shell command; `None` if no call asks for the same: the words of colours are no parameter of a search.
pub(super) fn of(query: &HomeQuery, site: &Site) -> Option<String> {
    let path = match (query.q.is_empty(), query.options.only_category()) {
        (false, _) if query.taste.get(Dimension::Color).is_some() => return None,
        (false, _) => route::SEARCH,
        (true, Some(_)) => return Some(tool(query, site)),
        (true, None) if query.is_by_taste() => route::TASTE,
        (true, None) => route::PROJECTS,
    };
    let pairs = query::encoded(query.pairs().into_iter());
    Some(format!("curl -H \"Authorization: Bearer $KEY\" \\\n  '{site}{path}?{}'", quoted(&pairs)))
}

/// Taste and the newest, of one category or of all, are requested over MCP, which needs no key.
fn tool(query: &HomeQuery, site: &Site) -> String {
    let mut arguments: Map<String, Value> = query
        .taste
        .iter()
        .map(|(dimension, text)| (Dimension::as_str(dimension).to_owned(), text.into()))
        .collect();
    if let Some(category) = query.category() {
        arguments.insert("category".into(), category.as_str().into());
    }
    let name = if query.is_by_taste() { "search_by_taste" } else { "browse" };
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}
    });
    let message = quoted(&message.to_string());
    format!("curl -H 'Content-Type: application/json' \\\n  {site}/mcp -d '{message}'")
}

/// Escapes a text for single quotes in a shell.
fn quoted(text: &str) -> String {
    text.replace('\'', "'\\''")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_asks_for_the_same() {
        let site = "https://a.org".parse().unwrap();
        let call = |query| of(&HomeQuery::read(query).unwrap(), &site).unwrap();
        assert_eq!(
            call("q=l%27ombre+%26+more&category=art"),
            "curl -H \"Authorization: Bearer $KEY\" \\\n  'https://a.org/v1/search?q=l%27ombre+%26+more&category=art'"
        );
        assert_eq!(
            call("mood=l%27ombre&category=art"),
            "curl -H 'Content-Type: application/json' \\\n  https://a.org/mcp -d '{\"jsonrpc\":\"2.0\",\"id\":1,\
             \"method\":\"tools/call\",\"params\":{\"name\":\"search_by_taste\",\"arguments\":{\"mood\":\"l'\\''ombre\",\
             \"category\":\"art\"}}}'"
        );
        let keyed =
            |path: &str| format!("curl -H \"Authorization: Bearer $KEY\" \\\n  'https://a.org/v1/{path}'");
        assert_eq!(call("city=Ulm&sort=name"), keyed("projects?city=Ulm&sort=name"));
        assert_eq!(call("mood=calm&has_picture=true"), keyed("taste?mood=calm&has_picture=true"));
        assert_eq!(call("q=a&mood=calm"), keyed("search?q=a&mood=calm"));
        assert_eq!(of(&HomeQuery::read("q=a&color=teal").unwrap(), &site), None);
        assert!(call("").contains("{\"name\":\"browse\",\"arguments\":{}}"));
    }
}
