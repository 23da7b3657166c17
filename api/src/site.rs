//! The address under which the world reaches this node's site.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// An http or https address without a slash at its end. It needs no escaping in JSON, HTML and headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site(Arc<str>);

/// A text that is no such address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no public address: it begins with http:// or https://, names a host, and has no blanks, quotes, ? or #; \
     for example https://catalog.example.org"
)]
pub struct InvalidSite(String);

impl Site {
    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path that it lives below, without a slash at its end; empty where it has a host of its own.
    pub(crate) fn path(&self) -> &str {
        let host = self.0.find("://").map_or(0, |scheme| scheme + 3);
        self.0[host..].find('/').map_or("", |path| &self.0[host + path..])
    }
}

impl FromStr for Site {
    type Err = InvalidSite;

    fn from_str(text: &str) -> Result<Site, InvalidSite> {
        let address = text.trim_end_matches('/');
        let host = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
        let legal = |byte: u8| byte.is_ascii_graphic() && !br#""\<>?#&'`{}|^"#.contains(&byte);
        if host.is_some_and(|host| !host.is_empty() && !host.starts_with('/')) && address.bytes().all(legal) {
            Ok(Site(address.into()))
        } else {
            Err(InvalidSite(text.to_owned()))
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_loses_its_last_slash_and_nothing_else() {
        for (text, address) in [
            ("https://catalog.example.org/", "https://catalog.example.org"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://example.org/catalog/", "https://example.org/catalog"),
            ("http://[::1]:80", "http://[::1]:80"),
        ] {
            assert_eq!(text.parse::<Site>().unwrap().as_str(), address);
        }
    }

    #[test]
    fn it_may_live_below_a_path() {
        for (text, path) in [("https://a.org", ""), ("http://[::1]:80/", ""), ("https://a.org/b/c/", "/b/c")]
        {
            assert_eq!(text.parse::<Site>().unwrap().path(), path);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "example.org", "ftp://x", "https://", "https:///x", "http://a b", "http://a\"", "http://a?b"]
        {
            assert_eq!(text.parse::<Site>(), Err(InvalidSite(text.into())), "{text:?}");
        }
    }
}
