//! Mailed links: opening one proves the ownership of an email address. Only the SHA-256 of a link's token is stored or
//! sent over NATS; the token itself is in the mail and in the URL that a browser requests.

use std::fmt;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::Hash;
use crate::key::unguessable;

/// How long a link is valid.
pub const VALIDITY: SignedDuration = SignedDuration::from_mins(30);

/// The length of a token in characters, about 190 bits.
const LENGTH: usize = 32;

/// The secret part of a link. It must not be stored, logged or sent over NATS; its `Debug` form hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkToken(String);

/// SHA-256 of a token, the only form in which tokens are stored and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinkHash(pub Hash);

impl LinkToken {
    /// Generates a token. `random` must fill the slice with unpredictable bytes.
    pub fn generate(random: impl FnMut(&mut [u8])) -> LinkToken {
        LinkToken(unguessable(LENGTH, random))
    }

    /// Returns whether a text has the form of a token.
    pub fn is_formed(text: &str) -> bool {
        text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }

    /// Returns the URL that is mailed. `site` is the configured address of the site, without a slash at its end.
    pub fn at(&self, site: &str) -> String {
        format!("{site}/claim/{}", self.0)
    }

    /// Returns the hash by which the token is stored.
    pub fn hash(&self) -> LinkHash {
        LinkHash::of(&self.0)
    }
}

impl LinkHash {
    /// Returns the hash of any text that is presented as a token, valid or not.
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
    fn a_link_contains_its_token_and_debug_output_hides_it() {
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
