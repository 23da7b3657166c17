//! The key that a request presents, in a header or in its query. Its hash decides everything; its text only decrypts the name of the
//! key and is never stored or sent on.

use std::borrow::Cow;

use http::header::AUTHORIZATION;
use http::request::Parts;
use schemas::key::{Key, KeyHash};

use crate::error::{ApiError, fault};
use crate::query;

/// Returns the hash of the presented key, well-formed or not; `None` if there is none.
///
/// # Errors
///
/// If several keys are presented.
pub fn hash(parts: &Parts) -> Result<Option<KeyHash>, ApiError> {
    Ok(text(parts)?.map(|text| KeyHash::of(&text)))
}

/// Returns the key of a request that was admitted with it; `None` if it is not well-formed.
pub fn key(parts: &Parts) -> Option<Key> {
    let text = text(parts).ok()??;
    std::str::from_utf8(&text).ok()?.parse().ok()
}

fn text(parts: &Parts) -> Result<Option<Cow<'_, [u8]>>, ApiError> {
    let mut bearers =
        parts.headers.get_all(AUTHORIZATION).iter().filter_map(|value| bearer(value.as_bytes()));
    let in_header = bearers.next();
    let mut parameters = query::values(parts.uri.query().unwrap_or_default(), "key");
    let in_query = parameters.next();
    if bearers.next().is_some() || (in_header.is_some() && in_query.is_some()) {
        return Err(ApiError::ambiguous_key());
    }
    if parameters.next().is_some() {
        let fault = fault("key", "It is given more than once.", "one value");
        return Err(ApiError::invalid_parameters(vec![fault]));
    }
    Ok(match (in_header, in_query) {
        (Some(key), _) => Some(Cow::Borrowed(key)),
        // A value that is not UTF-8 is treated like any other invalid key.
        (None, Some(value)) => {
            Some(Cow::Owned(query::decode(value).unwrap_or_default().into_owned().into_bytes()))
        }
        (None, None) => None,
    })
}

/// Returns the value of an `Authorization` header with the scheme Bearer.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, key) = match value.iter().position(|byte| *byte == b' ') {
        Some(at) => (&value[..at], value[at..].trim_ascii()),
        None => (value, &[][..]),
    };
    scheme.eq_ignore_ascii_case(b"Bearer").then_some(key)
}

#[cfg(test)]
mod tests {
    use http::Request;
    use schemas::api::problem::ProblemKind;

    use super::*;

    fn presented(uri: &str, authorization: &[&str]) -> Result<Option<KeyHash>, ProblemKind> {
        let mut request = Request::builder().uri(uri);
        for value in authorization {
            request = request.header(AUTHORIZATION, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        hash(&parts).map_err(|fault| fault.kind())
    }

    #[test]
    fn a_key_is_found_in_either_place() {
        let hash = Ok(Some(KeyHash::of(b"log_live_x")));
        assert_eq!(presented("/v1/search", &["Bearer log_live_x"]), hash);
        assert_eq!(presented("/v1/search", &["bearer   log_live_x "]), hash);
        assert_eq!(presented("/v1/search?q=a&key=log_live_x", &[]), hash);
        assert_eq!(presented("/v1/search?k%65y=log%5Flive_x", &["Basic abc"]), hash);
    }

    #[test]
    fn a_malformed_key_counts_as_presented() {
        assert_eq!(presented("/v1/search?key=", &[]), Ok(Some(KeyHash::of(b""))));
        assert_eq!(presented("/v1/search?key=%ff", &[]), Ok(Some(KeyHash::of(b""))));
        assert_eq!(presented("/v1/search", &["Bearer"]), Ok(Some(KeyHash::of(b""))));
        assert_eq!(presented("/v1/search?keys=x", &["Basic log_live_x"]), Ok(None));
    }

    #[test]
    fn two_keys_are_refused() {
        let ambiguous = Err(ProblemKind::AmbiguousKey);
        assert_eq!(presented("/v1/search?key=a", &["Bearer a"]), ambiguous);
        assert_eq!(presented("/v1/search", &["Bearer a", "Bearer b"]), ambiguous);
        assert_eq!(presented("/v1/search?key=a&key=a", &[]), Err(ProblemKind::InvalidParameters));
    }
}
