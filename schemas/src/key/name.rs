//! The name of a key, encrypted with the key itself. Events are permanent and replicated to every node, so a name is in
//! them only in a form that the presented key decrypts; after its holder is erased, the log reveals nothing.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::Aead;
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Key;
use crate::ids::InvalidId;
use crate::text_form::{string_schema, string_wrapper};

/// The length in bytes of the nonce, which comes first.
const NONCE: usize = 24;
/// The length in bytes of the tag, which comes last.
const TAG: usize = 16;
/// The maximum length of a name of 100 characters, in UTF-8 bytes.
const LONGEST: usize = 400;

/// The encrypted name of a key: nonce and XChaCha20-Poly1305 ciphertext in base64 without padding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SealedName(String);

impl Key {
    /// Encrypts a name with a key derived from the API key. Returns `None` if the name is longer than 400 bytes.
    pub fn seal_name(&self, name: &str) -> Option<SealedName> {
        if name.len() > LONGEST {
            return None;
        }
        // The nonce is derived from the name, so two names never share one.
        let digest: [u8; 32] = self.derived("loggia key name v1: nonce", name.as_bytes());
        let (nonce, _) = digest.split_first_chunk::<NONCE>()?;
        let sealed = self.name_cipher().encrypt(&XNonce::from(*nonce), name.as_bytes()).ok()?;
        Some(SealedName(STANDARD_NO_PAD.encode([nonce.as_slice(), &sealed].concat())))
    }

    /// Decrypts a name; `None` if it was encrypted with another key or is damaged.
    pub fn open_name(&self, sealed: &SealedName) -> Option<String> {
        let bytes = STANDARD_NO_PAD.decode(&sealed.0).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        String::from_utf8(self.name_cipher().decrypt(&XNonce::from(*nonce), sealed).ok()?).ok()
    }

    fn name_cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.derived("loggia key name v1: encryption", b"").into())
    }

    /// Returns SHA-256 of a label, the key and a text. The label makes it differ from the key's hash, which is public.
    fn derived(&self, label: &str, text: &[u8]) -> [u8; 32] {
        // The label is constant and a key has a fixed length, so the concatenation is unambiguous.
        Sha256::new().chain_update(label).chain_update(&self.0).chain_update(text).finalize().into()
    }
}

impl TryFrom<String> for SealedName {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        let is_sealed = text.len() <= (NONCE + LONGEST + TAG).div_ceil(3) * 4
            && STANDARD_NO_PAD.decode(&text).is_ok_and(|bytes| bytes.len() > NONCE + TAG);
        if is_sealed {
            Ok(SealedName(text))
        } else {
            let text = text.chars().take(8).collect();
            Err(InvalidId { text, expected: "an encrypted name: base64 of 41 to 440 bytes" })
        }
    }
}

string_wrapper!(SealedName);
string_schema!(SealedName, inline: false, "pattern": "^[0-9A-Za-z+/]{55,588}$");

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> Key {
        Key::generate(|bytes| bytes.fill(byte))
    }

    #[test]
    fn only_its_key_decrypts_a_name() {
        let sealed = key(1).seal_name("Zürich, laptop").unwrap();
        assert_eq!(key(1).open_name(&sealed).as_deref(), Some("Zürich, laptop"));
        assert_eq!(key(2).open_name(&sealed), None);
        assert_eq!(key(1).seal_name("Zürich, laptop"), Some(sealed.clone()));
        let other = key(1).seal_name("Zürich, laptoq").unwrap();
        assert_ne!(other.as_str()[..32], sealed.as_str()[..32], "another name has another nonce");
        let mut bytes = STANDARD_NO_PAD.decode(sealed.as_str()).unwrap();
        bytes[30] ^= 1;
        assert_eq!(key(1).open_name(&SealedName(STANDARD_NO_PAD.encode(bytes))), None);
    }

    #[test]
    fn a_sealed_name_parses_back_and_other_texts_are_rejected() {
        let longest = key(3).seal_name(&"ÿ".repeat(200)).unwrap();
        let json = serde_json::to_string(&longest).unwrap();
        assert_eq!(serde_json::from_str::<SealedName>(&json).unwrap(), longest);
        assert_eq!(key(3).seal_name(&"a".repeat(401)), None);
        for text in ["", "laptop", &"A".repeat(53), &"A".repeat(600)] {
            assert!(SealedName::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
