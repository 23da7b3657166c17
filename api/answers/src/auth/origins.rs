//! Which web pages may use the MCP endpoint. Agents send no `Origin`; a browser does, and a page must not reach a node on its
//! reader's own machine or network under a name that resolves to it (DNS rebinding).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

use crate::error::ApiError;
use crate::site::Site;

/// The origins that are allowed beside the site's own and those of the machine itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origins {
    /// No other origins.
    #[default]
    Own,
    /// All origins.
    Any,
    /// These origins, for example `https://agent.example.org`.
    Also(Vec<String>),
}

/// A text that is not a list of origins.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is not an origin; write own, any, or origins such as https://agent.example.org with commas")]
pub struct InvalidOrigin(String);

impl FromStr for Origins {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Origins, InvalidOrigin> {
        match text.trim() {
            "own" => Ok(Origins::Own),
            "any" => Ok(Origins::Any),
            list => list
                .split(',')
                .map(|one| origin(one.trim()).ok_or_else(|| InvalidOrigin(one.trim().to_owned())))
                .collect::<Result<_, _>>()
                .map(Origins::Also),
        }
    }
}

impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origins::Own => f.write_str("own"),
            Origins::Any => f.write_str("any"),
            Origins::Also(origins) => f.write_str(&origins.join(",")),
        }
    }
}

/// Returns scheme, host and port in lower case.
fn origin(text: &str) -> Option<String> {
    let uri: Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    (matches!(scheme, "http" | "https") && is_bare)
        .then(|| format!("{scheme}://{authority}").to_ascii_lowercase())
}

/// Returns the origin of a site, which may be below a path.
fn of_site(site: &Site) -> Option<String> {
    origin(site.as_str().strip_suffix(site.path())?)
}

impl Origins {
    /// Returns whether an origin is allowed: the site's own, one of the machine itself, or one of these.
    pub fn allow(&self, site: &Site, sent: &str) -> bool {
        let listed = match self {
            Origins::Any => true,
            Origins::Own => false,
            Origins::Also(others) => origin(sent).is_some_and(|sent| others.contains(&sent)),
        };
        listed || origin(sent).is_some_and(|sent| Some(&sent) == of_site(site).as_ref() || is_local(&sent))
    }

    /// Returns whether a host is that of the site or of one of these origins.
    fn name(&self, site: &Site, host: &str) -> bool {
        let others: &[String] = if let Origins::Also(others) = self { others } else { &[] };
        let names = others.iter().map(String::as_str).chain([site.as_str()]);
        names.filter_map(host_of).any(|name| Some(name) == host_of(&format!("http://{host}")))
    }
}

/// Refuses requests of pages whose origin is not allowed.
pub fn check(origins: &Origins, site: &Site, headers: &HeaderMap) -> Result<(), ApiError> {
    match headers.get(ORIGIN) {
        Some(sent) if !origins.allow(site, sent.to_str().unwrap_or_default()) => {
            Err(ApiError::foreign_origin())
        }
        _ => Ok(()),
    }
}

/// Refuses requests under a host name that is not this node's, if a page whose name resolves to this node could read what is not
/// public: on a node without a public address, and on one without keys.
pub(crate) fn check_host(
    origins: &Origins,
    site: &Site,
    asks_for_keys: bool,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    // A node with keys and a public address is reached under any name that its proxies use.
    let is_private = of_site(site).is_none_or(|site| is_local(&site));
    let is_open_to_all = asks_for_keys || *origins == Origins::Any;
    if !is_private && is_open_to_all {
        return Ok(());
    }
    let Some(host) = headers.get(HOST) else { return Ok(()) };
    let host = host.to_str().unwrap_or_default();
    if is_plain(host) || origins.name(site, host) { Ok(()) } else { Err(ApiError::foreign_host()) }
}

/// Returns whether a `Host` header names the machine itself or is a plain address, which no name server can redirect.
pub fn is_plain(host: &str) -> bool {
    let address = format!("http://{host}");
    is_local(&address) || host_of(&address).is_some_and(|host| host.parse::<IpAddr>().is_ok())
}

/// Returns the host of a URL in lower case, that of IPv6 without brackets.
fn host_of(address: &str) -> Option<String> {
    let uri: Uri = address.parse().ok()?;
    uri.host().map(|host| host.trim_matches(['[', ']']).to_ascii_lowercase())
}

/// Returns whether a URL names the machine itself.
fn is_local(address: &str) -> bool {
    host_of(address).is_some_and(|host| {
        host == "localhost"
            || host.ends_with(".localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use schemas::api::problem::ProblemKind;

    use super::*;

    fn checked(origins: &str, site: &str, sent: &[(http::HeaderName, &str)]) -> Option<ProblemKind> {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.insert(name, value.parse().unwrap());
        }
        check(&origins.parse().unwrap(), &site.parse().unwrap(), &headers).err().map(|fault| fault.kind())
    }

    fn is_host(origins: &str, site: &str, asks_for_keys: bool, host: &str) -> bool {
        let headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
        check_host(&origins.parse().unwrap(), &site.parse().unwrap(), asks_for_keys, &headers).is_ok()
    }

    #[test]
    fn a_page_of_another_origin_is_refused() {
        let foreign = Some(ProblemKind::Forbidden);
        let (site, page) = ("https://catalog.example.org", "https://agent.example.org");
        for (origins, sent, expected) in [
            ("own", site, None),
            ("own", "http://localhost:6274", None),
            ("own", "http://127.0.0.1", None),
            ("own", page, foreign),
            ("own", "null", foreign),
            ("own", "https://catalog.example.org.evil.example", foreign),
            ("any", page, None),
            ("any", "null", None),
            ("https://agent.example.org", page, None),
            ("https://agent.example.org", "https://AGENT.example.org", None),
            ("https://agent.example.org", "http://agent.example.org", foreign),
        ] {
            assert_eq!(checked(origins, site, &[(ORIGIN, sent)]), expected, "{origins} {sent}");
        }
        assert_eq!(checked("own", site, &[]), None);
    }

    #[test]
    fn a_private_node_answers_only_under_its_own_names() {
        let (local, public) = ("http://127.0.0.1:8080", "https://catalog.example.org");
        for (host, expected) in [
            ("127.0.0.1:8080", true),
            ("localhost:8080", true),
            ("[::1]:8080", true),
            ("192.168.1.5:8080", true),
            ("evil.example:8080", false),
            ("localhost.evil.example", false),
            ("", false),
        ] {
            assert_eq!(is_host("own", local, true, host), expected, "{host}");
            assert_eq!(is_host("own", "http://0.0.0.0:8080", false, host), expected, "{host}");
            assert_eq!(is_host("own", public, false, host), expected, "{host}");
        }
        assert!(is_host("own", public, false, "Catalog.example.org:443"));
        assert!(is_host("https://agent.example.org", public, false, "agent.example.org"));
        assert!(!is_host("https://agent.example.org", public, false, "evil.example"));
        assert!(is_host("any", public, false, "evil.example"), "the operator allows every page");
        assert!(is_host("own", public, true, "inside:8080"), "keys protect it");
    }

    #[test]
    fn origins_are_parsed() {
        assert_eq!(
            "https://a.example, http://b.example:81".parse(),
            Ok(Origins::Also(vec!["https://a.example".into(), "http://b.example:81".into()]))
        );
        for text in ["", "agent.example.org", "https://a.example/path", "ftp://a.example", "*"] {
            assert!(text.parse::<Origins>().is_err(), "{text}");
        }
    }
}
