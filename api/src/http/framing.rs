//! Checks the framing of a request where hyper is more lenient than proxies may be (request smuggling).

use http::header::{HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, Version};

use answers::error::ApiError;

/// Refuses a request without a host or with two different ones, and one whose transfer coding is not just chunked.
pub(super) fn check(parts: &Parts) -> Result<(), ApiError> {
    if let Some(other) = other_coding(&parts.headers) {
        tracing::debug!(coding = other, "a body came in a coding that is not read");
        return Err(ApiError::unknown_coding());
    }
    let mut hosts = parts.headers.get_all(HOST).iter();
    let host = hosts.next();
    // RFC 9112, 3.2: a missing one in HTTP/1.1, and several in any version, must be refused.
    if hosts.next().is_some() || (host.is_none() && parts.version == Version::HTTP_11) {
        return Err(ApiError::malformed_request());
    }
    let is_other = |authority: &str| {
        host.is_some_and(|host| !host.as_bytes().eq_ignore_ascii_case(authority.as_bytes()))
    };
    if parts.uri.authority().is_some_and(|authority| is_other(authority.as_str())) {
        return Err(ApiError::malformed_request());
    }
    Ok(())
}

/// Returns a transfer coding other than just "chunked".
fn other_coding(headers: &HeaderMap) -> Option<&str> {
    let codings = headers.get_all(TRANSFER_ENCODING).iter();
    codings
        .map(|value| value.to_str().unwrap_or_default().trim())
        .find(|coding| !coding.eq_ignore_ascii_case("chunked"))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn checked(version: Version, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().version(version).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        check(&parts).map_or_else(|fault| fault.status().as_u16(), |()| 200)
    }

    #[test]
    fn there_is_exactly_one_host() {
        let (new, old) = (Version::HTTP_11, Version::HTTP_10);
        assert_eq!(checked(new, "/", &[("host", "a")]), 200);
        assert_eq!(checked(new, "/", &[]), 400);
        assert_eq!(checked(old, "/", &[]), 200);
        for version in [new, old] {
            assert_eq!(checked(version, "/", &[("host", "a"), ("host", "a")]), 400);
        }
        assert_eq!(checked(new, "http://A.example/", &[("host", "a.example")]), 200);
        assert_eq!(checked(new, "http://a.example/", &[("host", "b.example")]), 400);
    }

    #[test]
    fn a_body_is_chunked_or_has_no_coding() {
        let coded = |codings: &[&str]| {
            let mut headers = vec![("host", "a")];
            headers.extend(codings.iter().map(|coding| ("transfer-encoding", *coding)));
            checked(Version::HTTP_11, "/", &headers)
        };
        assert_eq!([coded(&[]), coded(&["chunked"]), coded(&["Chunked "])], [200; 3]);
        assert_eq!(
            [coded(&["gzip, chunked"]), coded(&["gzip", "chunked"]), coded(&["chunked, identity"])],
            [501; 3]
        );
    }
}
