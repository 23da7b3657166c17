//! Links that are mailed to an address: whoever opens one shows that the address is theirs. Only the SHA-256 of a
//! link's token is ever stored or sent on; the text stands in the mail, and in the address that a browser asks for.

use std::fmt;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::Hash;
use crate::key::unguessable;

/// How long a link can be used.
pub const GOOD_FOR: SignedDuration = SignedDuration::from_mins(30);

/// How many characters a token has: some 190 bits.
const LENGTH: usize = 32;

/// What makes a link a secret. It is never stored, logged or sent on; its `Debug` form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkToken(String);

/// SHA-256 of a presented token: all that is ever compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinkHash(pub Hash);

impl LinkToken {
    /// A new token. `random` fills a slice with unpredictable bytes.
    pub fn generate(random: impl FnMut(&mut [u8])) -> LinkToken {
        LinkToken(unguessable(LENGTH, random))
    }

    /// Returns whether a text has the form of a token. One that has not was never made here.
    pub fn is_formed(text: &str) -> bool {
        text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }

    /// The address that is mailed: `site` is the site's own, as it is configured, without a slash at its end.
    pub fn at(&self, site: &str) -> String {
        format!("{site}/claim/{}", self.0)
    }

    /// What is stored of it.
    pub fn hash(&self) -> LinkHash {
        LinkHash::of(&self.0)
    }
}

impl LinkHash {
    /// Of any text that is presented as a token, whatever it looks like.
    pub fn of(presented: &str) -> LinkHash {
        LinkHash(Hash(Sha256::digest(presented).into()))
    }
}

impl fmt::Debug for LinkToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stands_in_its_link_and_is_not_shown_by_accident() {
        let mut next = 7_u8;
        let token = LinkToken::generate(|bytes| {
            for byte in bytes {
                next = next.wrapping_mul(73).wrapping_add(41);
                *byte = next;
            }
        });
        let link = token.at("https://catalog.example.org");
        let text = link.strip_prefix("https://catalog.example.org/claim/").unwrap();
        assert_eq!(text.len(), 32);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{text}");
        assert_eq!(token.hash(), LinkHash::of(text));
        assert_eq!(format!("{token:?}"), "LinkToken(…)");
    }
}
