//! API keys: `log_live_`, 8 characters of key id, 32 of secret, 6 of CRC-32, all base62. Only the SHA-256 of the whole
//! is ever stored or sent on; the text exists where it is made and where it is presented.

mod name;

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::Hash;
use crate::ids::InvalidId;

pub use name::SealedName;

/// How every key begins.
pub const PREFIX: &str = "log_live_";
const ID: usize = 8;
const SECRET: usize = 32;
const CHECK: usize = 6;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many characters a key has.
pub const KEY_LENGTH: usize = PREFIX.len() + ID + SECRET + CHECK;

/// Names a key in public: 8 base62 characters that also stand in the key's own text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId([u8; ID]);

/// A key as its holder has it. It is never stored, logged or sent on; its `Debug` form shows only its id.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// SHA-256 of a presented text: all that is ever compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyHash(pub Hash);

impl Key {
    /// A new key. `random` fills a slice with unpredictable bytes; some 190 bits of them end up in the secret.
    pub fn generate(random: impl FnMut(&mut [u8])) -> Key {
        let mut text = PREFIX.to_owned() + &unguessable(ID + SECRET, random);
        text.push_str(&check(&text));
        Key(text)
    }

    /// The text for its holder.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Its name in public.
    pub fn id(&self) -> KeyId {
        let mut id = [0; ID];
        id.copy_from_slice(&self.0.as_bytes()[PREFIX.len()..PREFIX.len() + ID]);
        KeyId(id)
    }

    /// What is stored of it.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(self.0.as_bytes())
    }

    /// Its last four characters, by which its holder recognises it.
    pub fn hint(&self) -> String {
        self.0[KEY_LENGTH - 4..].to_owned()
    }
}

impl KeyHash {
    /// Of any text that is presented as a key, whatever it looks like.
    pub fn of(presented: &[u8]) -> KeyHash {
        KeyHash(Hash(Sha256::digest(presented).into()))
    }
}

impl FromStr for Key {
    type Err = InvalidId;

    /// Reads a key that was typed or configured. What is not one is not repeated in the error.
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

/// So many characters in base62. `random` fills a slice with unpredictable bytes.
pub(crate) fn unguessable(length: usize, mut random: impl FnMut(&mut [u8])) -> String {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut byte = [0];
        random(&mut byte);
        // 248 is the greatest multiple of 62: what lies beyond would make some characters likelier.
        if byte[0] < 248 {
            text.push(char::from(ALPHABET[usize::from(byte[0] % 62)]));
        }
    }
    text
}

/// CRC-32 of the text before it, in base62 with leading zeros.
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
    /// The 8 characters.
    pub fn as_str(&self) -> &str {
        // The alphabet is ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The 8 characters as bytes.
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
                expected: "a key id: the 8 characters behind log_live_",
            }),
        }
    }
}

impl TryFrom<String> for KeyId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        KeyId::try_from(text.as_bytes())
    }
}

impl FromStr for KeyId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        KeyId::try_from(text.as_bytes())
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> String {
        id.as_str().to_owned()
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

impl JsonSchema for KeyId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "KeyId".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[0-9A-Za-z]{8}$"})
    }
}

impl JsonSchema for KeyHash {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "KeyHash".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^[0-9a-f]{64}$"})
    }
}

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
    fn a_key_has_its_form_and_reads_back() {
        let key = key(7);
        assert_eq!(key.expose().len(), 55);
        assert_eq!(key.expose().parse::<Key>().unwrap(), key);
        assert_eq!(&key.expose()[9..17], key.id().as_str());
        assert_eq!(key.hint(), &key.expose()[51..]);
        assert_eq!(key.hash(), KeyHash::of(key.expose().as_bytes()));
    }

    #[test]
    fn a_key_is_not_shown_by_accident() {
        let key = key(9);
        assert_eq!(format!("{key:?}"), format!("Key({}…)", key.id()));
        let error = "log_live_secret".parse::<Key>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn unlikely_bytes_are_passed_over() {
        let mut bytes = (0..=255u8).rev().cycle();
        let key = Key::generate(|slice| slice[0] = bytes.next().unwrap());
        // 255 down to 248 are left out; 247 is the alphabet's last character.
        assert!(key.expose().starts_with("log_live_zyxw"), "{}", key.expose());
    }

    proptest! {
        #[test]
        fn one_wrong_character_is_noticed(seed: u8, place in 0..KEY_LENGTH, other in 0..62usize) {
            let key = key(seed);
            let mut bytes = key.expose().as_bytes().to_vec();
            prop_assume!(bytes[place] != ALPHABET[other]);
            bytes[place] = ALPHABET[other];
            prop_assert!(String::from_utf8(bytes).unwrap().parse::<Key>().is_err());
        }
    }
}
