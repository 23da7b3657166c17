//! API keys: `log_live_`, 8 characters of key id, 32 of secret and 6 of CRC-32, all in base62. Only the SHA-256 of a
//! key is stored or sent; the key itself exists where it is generated and where it is presented.

mod name;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::Hash;
use crate::ids::InvalidId;
use crate::text_form::{string_conversions, string_schema};

pub use name::SealedName;

/// The prefix of every key.
pub const PREFIX: &str = "log_live_";
const ID: usize = 8;
const SECRET: usize = 32;
const CHECK: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The length of a key in characters.
pub const KEY_LENGTH: usize = PREFIX.len() + ID + SECRET + CHECK;

/// The public id of a key: its 8 base62 characters after the prefix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId([u8; ID]);

/// An API key in plain text. It must not be stored, logged or sent; its `Debug` form shows only its id.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// SHA-256 of a key, the only form in which keys are stored and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyHash(pub Hash);

impl Key {
    /// Generates a key. `random` must fill the slice with unpredictable bytes; the secret has about 190 bits.
    pub fn generate(random: impl FnMut(&mut [u8])) -> Key {
        let mut text = PREFIX.to_owned() + &unguessable(ID + SECRET, random);
        text.push_str(&check(&text));
        Key(text)
    }

    /// Returns the key in plain text, for its holder.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the public id.
    pub fn id(&self) -> KeyId {
        let mut id = [0; ID];
        id.copy_from_slice(&self.0.as_bytes()[PREFIX.len()..PREFIX.len() + ID]);
        KeyId(id)
    }

    /// Returns the hash by which the key is stored.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.0.as_bytes())
    }

    /// Returns the last four characters, by which the holder recognises the key.
    pub fn hint(&self) -> String {
        self.0[KEY_LENGTH - 4..].to_owned()
    }
}

impl KeyHash {
    /// Returns the hash of any text that is presented as a key, valid or not.
    pub fn of(presented: &[u8]) -> KeyHash {
        KeyHash(Hash(Sha256::digest(presented).into()))
    }
}

impl FromStr for Key {
    type Err = InvalidId;

    /// Parses a key. The error does not contain the text, which may be a mistyped key.
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let shaped = text.len() == KEY_LENGTH
            && text.strip_prefix(PREFIX).is_some_and(|rest| rest.bytes().all(|b| ALPHABET.contains(&b)));
        if shaped && check(&text[..KEY_LENGTH - CHECK]) == text[KEY_LENGTH - CHECK..] {
            Ok(Key(text.to_owned()))
        } else {
            Err(InvalidId { text: "…".into(), expected: "a key such as log_live_… with 55 characters" })
        }
    }
}

/// Returns `length` random base62 characters. `random` must fill the slice with unpredictable bytes.
pub(crate) fn unguessable(length: usize, mut random: impl FnMut(&mut [u8])) -> String {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut byte = [0];
        random(&mut byte);
        // Rejection sampling: 248 is the largest multiple of 62, and larger bytes would make some characters likelier.
        if byte[0] < 248 {
            text.push(char::from(ALPHABET[usize::from(byte[0] % 62)]));
        }
    }
    text
}

/// Returns the CRC-32 of a text in base62 with leading zeros.
fn check(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECK];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

impl KeyId {
    /// Returns the 8 characters.
    pub fn as_str(&self) -> &str {
        // The alphabet is ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the 8 characters as bytes.
    pub fn as_bytes(&self) -> &[u8; ID] {
        &self.0
    }
}

impl TryFrom<&[u8]> for KeyId {
    type Error = InvalidId;

    fn try_from(bytes: &[u8]) -> Result<Self, InvalidId> {
        match <[u8; ID]>::try_from(bytes) {
            Ok(id) if id.iter().all(|byte| ALPHABET.contains(byte)) => Ok(KeyId(id)),
            _ => Err(InvalidId {
                text: String::from_utf8_lossy(bytes).chars().take(ID).collect(),
                expected: "a key id: the 8 characters after log_live_",
            }),
        }
    }
}

impl FromStr for KeyId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        KeyId::try_from(text.as_bytes())
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}…)", self.id())
    }
}

string_conversions!(KeyId);
string_schema!(KeyId, inline: true, "pattern": "^[0-9A-Za-z]{8}$");
string_schema!(KeyHash, inline: false, "pattern": "^[0-9a-f]{64}$");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(seed: u8) -> Key {
        let mut next = seed;
        Key::generate(|bytes| {
            for byte in bytes {
                next = next.wrapping_mul(73).wrapping_add(41);
                *byte = next;
            }
        })
    }

    #[test]
    fn a_key_has_its_format_and_parses_back() {
        let key = key(7);
        assert_eq!(key.expose().len(), 55);
        assert_eq!(key.expose().parse::<Key>().unwrap(), key);
        assert_eq!(&key.expose()[9..17], key.id().as_str());
        assert_eq!(key.hint(), &key.expose()[51..]);
        assert_eq!(key.hash(), KeyHash::of(key.expose().as_bytes()));
    }

    #[test]
    fn debug_output_and_errors_hide_the_key() {
        let key = key(9);
        assert_eq!(format!("{key:?}"), format!("Key({}…)", key.id()));
        let error = "log_live_secret".parse::<Key>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn bytes_above_the_largest_multiple_of_62_are_skipped() {
        let mut bytes = (0..=255u8).rev().cycle();
        let key = Key::generate(|slice| slice[0] = bytes.next().unwrap());
        // 255 down to 248 are left out; 247 is the alphabet's last character.
        assert!(key.expose().starts_with("log_live_zyxw"), "{}", key.expose());
    }

    proptest! {
        #[test]
        fn one_wrong_character_is_detected(seed: u8, place in 0..KEY_LENGTH, other in 0..62usize) {
            let key = key(seed);
            let mut bytes = key.expose().as_bytes().to_vec();
            prop_assume!(bytes[place] != ALPHABET[other]);
            bytes[place] = ALPHABET[other];
            prop_assert!(String::from_utf8(bytes).unwrap().parse::<Key>().is_err());
        }
    }
}
