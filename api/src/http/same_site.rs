//! Refuses forms of other sites. The site uses no cookies, but a page of another site must not send forms for its readers and so use
//! up the rate limit of their addresses.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, Uri};

use answers::error::ApiError;
use answers::site::Site;

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses a form that a browser sends for a page of another site. Browsers state that in `Sec-Fetch-Site`; older ones, and those over
/// plain HTTP, only send `Origin`. A client that sends neither is not a browser.
pub(super) fn check(site: &Site, headers: &HeaderMap) -> Result<(), ApiError> {
    let is_here = match (headers.get(&SEC_FETCH_SITE), headers.get(ORIGIN)) {
        (Some(from), _) => from == "same-origin" || from == "none",
        (None, Some(origin)) => authority(origin.as_bytes()).is_some_and(|origin| {
            Some(&origin) == own(site).as_ref() || Some(&origin) == host(headers).as_ref()
        }),
        (None, None) => true,
    };
    if is_here { Ok(()) } else { Err(ApiError::foreign_form()) }
}

fn own(site: &Site) -> Option<String> {
    authority(site.as_str().as_bytes())
}

fn host(headers: &HeaderMap) -> Option<String> {
    headers.get(HOST).and_then(|host| host.to_str().ok()).map(str::to_ascii_lowercase)
}

/// Returns host and port of a URL in lower case.
fn authority(address: &[u8]) -> Option<String> {
    let uri = Uri::try_from(address).ok()?;
    uri.authority().map(|authority| authority.as_str().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_accepted(headers: &[(&'static str, &'static str)]) -> bool {
        let site = "https://catalog.example.org".parse().unwrap();
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        check(&site, &headers).is_ok()
    }

    #[test]
    fn a_form_of_this_site_is_accepted() {
        assert!(is_accepted(&[]));
        assert!(is_accepted(&[("sec-fetch-site", "same-origin"), ("origin", "null")]));
        assert!(is_accepted(&[("sec-fetch-site", "none")]));
        assert!(is_accepted(&[("origin", "https://catalog.example.org")]));
        assert!(is_accepted(&[("origin", "http://10.0.0.7:8080"), ("host", "10.0.0.7:8080")]));
    }

    #[test]
    fn a_form_of_another_site_is_refused() {
        assert!(!is_accepted(&[("sec-fetch-site", "cross-site"), ("origin", "https://catalog.example.org")]));
        assert!(!is_accepted(&[("sec-fetch-site", "same-site")]));
        assert!(!is_accepted(&[("origin", "https://evil.example"), ("host", "catalog.example.org")]));
        assert!(!is_accepted(&[("origin", "null"), ("host", "catalog.example.org")]));
        assert!(!is_accepted(&[("origin", "https://catalog.example.org.evil.example")]));
    }
}
