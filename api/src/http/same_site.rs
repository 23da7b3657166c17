//! Whether a form was filled in here. Nothing on this site hangs on cookies; but a page elsewhere must not send its readers'
//! forms, and so spend what their address may ask for.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, Uri};

use answers::error::ApiError;
use answers::site::Site;

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses a form that a browser sends for a page of another site. Browsers say so themselves; older ones, and those that
/// came over plain HTTP, only name the page's origin. What says neither is no browser.
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

/// Host and port of an address, in small letters.
fn authority(address: &[u8]) -> Option<String> {
    let uri = Uri::try_from(address).ok()?;
    uri.authority().map(|authority| authority.as_str().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_let_in(headers: &[(&'static str, &'static str)]) -> bool {
        let site = "https://catalog.example.org".parse().unwrap();
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        check(&site, &headers).is_ok()
    }

    #[test]
    fn a_form_of_this_site_is_let_in() {
        assert!(is_let_in(&[]));
        assert!(is_let_in(&[("sec-fetch-site", "same-origin"), ("origin", "null")]));
        assert!(is_let_in(&[("sec-fetch-site", "none")]));
        assert!(is_let_in(&[("origin", "https://catalog.example.org")]));
        assert!(is_let_in(&[("origin", "http://10.0.0.7:8080"), ("host", "10.0.0.7:8080")]));
    }

    #[test]
    fn a_form_of_another_site_is_not() {
        assert!(!is_let_in(&[("sec-fetch-site", "cross-site"), ("origin", "https://catalog.example.org")]));
        assert!(!is_let_in(&[("sec-fetch-site", "same-site")]));
        assert!(!is_let_in(&[("origin", "https://evil.example"), ("host", "catalog.example.org")]));
        assert!(!is_let_in(&[("origin", "null"), ("host", "catalog.example.org")]));
        assert!(!is_let_in(&[("origin", "https://catalog.example.org.evil.example")]));
    }
}
