//! Which web pages may speak to the MCP endpoint. Agents send no Origin; a browser does, and a page must not reach a node on
//! its reader's own machine or network by a name that it lets point there (DNS rebinding).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

use crate::fault::Fault;
use crate::site::Site;

/// The origins that are let in beside the site's own and those of the machine itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origins {
    /// No others.
    #[default]
    Own,
    /// Every page of the web.
    Any,
    /// These too, for example `https://agent.example.org`.
    Also(Vec<String>),
}

/// A text that is no list of origins.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("“{0}” is no origin; write own, any, or origins such as https://agent.example.org with commas")]
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

/// Scheme, host and port, in small letters.
fn origin(text: &str) -> Option<String> {
    let uri: Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let is_bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
    (matches!(scheme, "http" | "https") && is_bare)
        .then(|| format!("{scheme}://{authority}").to_ascii_lowercase())
}

/// Refuses what a page of another origin sends, and what comes by a name that is not this node's.
pub(crate) fn check(origins: &Origins, site: &Site, headers: &HeaderMap) -> Result<(), Fault> {
    if let Some(sent) = headers.get(ORIGIN) {
        let sent = sent.to_str().unwrap_or_default();
        let own = origin(site.as_str());
        let allowed = match origins {
            Origins::Any => true,
            Origins::Own => false,
            Origins::Also(others) => origin(sent).is_some_and(|sent| others.contains(&sent)),
        };
        let is_own = origin(sent).is_some_and(|sent| Some(&sent) == own.as_ref() || is_local(&sent));
        if !allowed && !is_own {
            return Err(Fault::foreign_origin());
        }
    }
    // A node with a public address is reached by whatever names its proxies use, and has nothing that the web must not see.
    let is_private = origin(site.as_str()).is_none_or(|site| is_local(&site));
    if is_private && let Some(host) = headers.get(HOST) {
        let host = host.to_str().unwrap_or_default();
        if !is_local(&format!("http://{host}")) && !is_address(host) {
            return Err(Fault::foreign_host());
        }
    }
    Ok(())
}

/// Whether an address names the machine itself.
fn is_local(address: &str) -> bool {
    let Ok(uri) = address.parse::<Uri>() else { return false };
    let Some(host) = uri.host() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a Host header holds a plain address, which no name server can point elsewhere.
fn is_address(host: &str) -> bool {
    let uri: Option<Uri> = format!("http://{host}").parse().ok();
    let name = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
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
    fn a_private_node_goes_by_its_own_names_only() {
        let local = "http://127.0.0.1:8080";
        for (host, expected) in [
            ("127.0.0.1:8080", None),
            ("localhost:8080", None),
            ("[::1]:8080", None),
            ("192.168.1.5:8080", None),
            ("evil.example:8080", Some(ProblemKind::Forbidden)),
            ("localhost.evil.example", Some(ProblemKind::Forbidden)),
        ] {
            assert_eq!(checked("own", local, &[(HOST, host)]), expected, "{host}");
        }
        assert_eq!(checked("own", "https://catalog.example.org", &[(HOST, "inside:8080")]), None);
    }

    #[test]
    fn origins_are_read() {
        assert_eq!(
            "https://a.example, http://b.example:81".parse(),
            Ok(Origins::Also(vec!["https://a.example".into(), "http://b.example:81".into()]))
        );
        for text in ["", "agent.example.org", "https://a.example/path", "ftp://a.example", "*"] {
            assert!(text.parse::<Origins>().is_err(), "{text}");
        }
    }
}
