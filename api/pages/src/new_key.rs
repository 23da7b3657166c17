//! What a new key can be used for: a call in each language and the set-up of each client, with the key in them. It is shown with
//! the key, once, by the page and by the command line.

use answers::route;
use answers::site::Site;

use super::client_setups::{ClientSetup, client_setups};
use super::code::{Body, Code, CodedCall};

/// The uses of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUses {
    /// A search, in each language.
    pub calls: Vec<Code>,
    /// The clients of MCP.
    pub clients: Vec<ClientSetup>,
}

impl KeyUses {
    /// Returns the uses of a key of a site.
    pub fn of(site: &Site, key: &str) -> KeyUses {
        let query = [("q", "brick library".to_owned())];
        let url = format!("{site}{}", route::SEARCH);
        let call = CodedCall { url, query: &query, key: Some(key), body: Body::Json };
        KeyUses { calls: call.all(), clients: client_setups(site, key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_in_each_of_its_uses() {
        let uses = KeyUses::of(&"https://a.org".parse().unwrap(), "log_live_1");
        assert_eq!(
            uses.calls[0].text,
            "curl -H \"Authorization: Bearer log_live_1\" \\\n  \"https://a.org/v1/search?q=brick+library\""
        );
        let languages: Vec<&str> = uses.calls.iter().map(|code| code.language).collect();
        assert_eq!((languages, uses.clients.len()), (vec!["curl", "Python", "JavaScript"], 8));
        assert!(uses.calls.iter().all(|code| code.text.contains("Bearer log_live_1")));
    }
}
