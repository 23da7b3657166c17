//! Credentials in URLs of records: detecting and removing them.

use std::borrow::Cow;
use std::ops::Range;

/// Returns whether a URL has a user name or a password.
pub fn has_login(address: &str) -> bool {
    login(address).is_some()
}

/// Returns a URL without its user name and password, for display and logs.
pub fn without_login(address: &str) -> Cow<'_, str> {
    match login(address) {
        None => Cow::Borrowed(address),
        Some(Range { start, end }) => Cow::Owned(format!("{}{}", &address[..start], &address[end..])),
    }
}

/// Returns the range of user name and password with the `@` after them. Browsers read a backslash in a URL as a slash.
fn login(address: &str) -> Option<Range<usize>> {
    let start = address.find("://")? + "://".len();
    let authority = &address[start..];
    let authority = &authority[..authority.find(['/', '\\', '?', '#']).unwrap_or(authority.len())];
    authority.rfind('@').map(|at| start..start + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_only_before_the_host() {
        for (address, shown) in [
            ("https://me:secret@example.org/a.jpg", "https://example.org/a.jpg"),
            ("https://me@example.org", "https://example.org"),
            ("https://:secret@example.org:8443?x", "https://example.org:8443?x"),
            ("http://a@b:c@example.org\\x@y", "http://example.org\\x@y"),
        ] {
            assert!(has_login(address), "{address}");
            assert_eq!(without_login(address), shown);
        }
        for address in [
            "https://example.org/@me",
            "https://example.org?to=a@b.c",
            "https://e.org#a@b",
            "me@example.org/a.jpg",
        ] {
            assert!(!has_login(address), "{address}");
            assert_eq!(without_login(address), address);
        }
    }
}
