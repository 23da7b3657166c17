//! Entity tags of answers. They are weak: the same for every encoding of the bytes.

use std::hash::{BuildHasher, Hasher};

use bytes::Bytes;
use foldhash::quality::FixedState;
use http::HeaderValue;

use crate::http::request_id::hexadecimal;

/// Returns the tag of a body.
pub(super) fn of(body: &[u8]) -> HeaderValue {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(body);
    let mut tag = [0; 20];
    tag[..3].copy_from_slice(b"W/\"");
    tag[3..19].copy_from_slice(&hexadecimal(hasher.finish()));
    tag[19] = b'"';
    HeaderValue::from_maybe_shared(Bytes::copy_from_slice(&tag)).unwrap_or(HeaderValue::from_static("W/\"\""))
}

/// Returns whether `If-None-Match` has this tag, by the weak comparison of RFC 9110.
pub(super) fn is_known(tag: &HeaderValue, if_none_match: &HeaderValue) -> bool {
    let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_vec();
    let known = if_none_match.as_bytes().trim_ascii();
    // Our tags contain no commas, so splitting a foreign one cannot produce ours.
    known == b"*"
        || known.split(|byte| *byte == b',').any(|one| opaque(one.trim_ascii()) == opaque(tag.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_weakly() {
        let tag = HeaderValue::from_static("W/\"0123456789abcdef\"");
        for (header, known) in [
            ("*", true),
            (" * ", true),
            ("W/\"0123456789abcdef\"", true),
            ("\"0123456789abcdef\"", true),
            ("\"x\", W/\"y,z\" ,W/\"0123456789abcdef\"", true),
            ("\"x\",\"y\"", false),
            ("0123456789abcdef", false),
            ("", false),
            ("\"*\"", false),
        ] {
            assert_eq!(is_known(&tag, &HeaderValue::from_static(header)), known, "{header}");
        }
    }

    #[test]
    fn another_body_has_another_tag() {
        let tags: std::collections::HashSet<HeaderValue> =
            (0..1_000).map(|n| of(format!("{{\"n\":{n}}}").as_bytes())).collect();
        assert_eq!(tags.len(), 1_000);
        assert_eq!(of(b"a"), of(b"a"));
        assert_ne!(of(b""), of(b"\0"));
    }
}
