//! Digests for looking up addresses, and the encryption of stored texts.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hmac::{Hmac, Mac};
use rand::TryRng;
use rand::rngs::SysRng;
use schemas::email::Email;
use schemas::ids::AccountId;
use sha2::Sha256;

use super::VaultError;
use super::secret::Secret;

/// The length in bytes of the nonce at the start of an encrypted text.
const NONCE: usize = 24;

/// One key for each use, all derived from the secret.
pub(super) struct VaultCipher {
    digest: [u8; 32],
    names: [u8; 32],
    cipher: XChaCha20Poly1305,
    fingerprint: [u8; 32],
}

impl VaultCipher {
    pub(super) fn new(secret: &Secret) -> VaultCipher {
        let key = |label: &str| hmac(&secret.0, label.as_bytes());
        VaultCipher {
            digest: key("loggia vault v1: digests of addresses"),
            names: key("loggia vault v1: digests of names in notices"),
            cipher: XChaCha20Poly1305::new(&key("loggia vault v1: encryption of addresses").into()),
            fingerprint: key("loggia vault v1: recognising the secret"),
        }
    }

    /// Returns a fingerprint of the secret, which reveals nothing else about it.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// Returns the digests under which an address may be stored, the present form first.
    pub(super) fn digests(&self, email: &Email) -> impl Iterator<Item = [u8; 32]> {
        email.spellings().into_iter().map(|spelling| hmac(&self.digest, spelling.as_bytes()))
    }

    /// Returns the digest under which an address is stored, the same for upper and lower case.
    pub(super) fn digest(&self, email: &Email) -> [u8; 32] {
        hmac(&self.digest, email.folded().as_bytes())
    }

    /// Returns the digest of an id that payment notices name, such as a subscription or customer.
    pub(super) fn digest_name(&self, name: &str) -> [u8; 32] {
        hmac(&self.names, name.as_bytes())
    }

    /// Encrypts an address, bound to its account.
    pub(super) fn seal(&self, email: &Email, account: AccountId) -> Result<Vec<u8>, VaultError> {
        self.seal_text(email.as_str().as_bytes(), &account.to_string())
    }

    /// Decrypts an address.
    pub(super) fn open(&self, sealed: &[u8], account: AccountId) -> Result<Email, VaultError> {
        let damaged = || VaultError::corrupt(format!("the address of account {account} does not open"));
        let text = self.open_text(sealed, &account.to_string()).ok_or_else(damaged)?;
        String::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or_else(damaged)
    }

    /// Encrypts a text with associated data, without which it cannot be decrypted.
    pub(super) fn seal_text(&self, text: &[u8], associated_data: &str) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE];
        SysRng.try_fill_bytes(&mut nonce).map_err(|error| {
            VaultError::unavailable(format!("the system gives no random bytes ({error}); try again"))
        })?;
        let payload = Payload { msg: text, aad: associated_data.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| VaultError::unavailable("a text cannot be encrypted"))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts a text; `None` if the secret or the associated data differ or the text is damaged.
    pub(super) fn open_text(&self, sealed: &[u8], associated_data: &str) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: associated_data.as_bytes() };
        self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()
    }
}

fn hmac(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    // HMAC pads a short key with zeros to the block size of its hash.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    <Hmac<Sha256> as KeyInit>::new(&block.into()).chain_update(text).finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    use super::*;

    fn cipher(byte: u8) -> VaultCipher {
        VaultCipher::new(&Secret([byte; 32]))
    }

    fn account(number: u128) -> AccountId {
        AccountId(ulid::Ulid(number))
    }

    #[test]
    fn digests_are_hmac_sha_256() {
        // RFC 4231, test case 1, whose key of 20 bytes is padded with zeros.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let digest = HEXLOWER.encode(&hmac(&key, b"Hi There"));
        assert_eq!(digest, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    }

    #[test]
    fn digests_and_fingerprints_depend_on_the_secret_and_not_on_case() {
        let (email, shouted) = ("ada@example.org".parse().unwrap(), "ADA@Example.ORG".parse().unwrap());
        assert_eq!(cipher(1).digest(&email), cipher(1).digest(&shouted));
        assert_ne!(cipher(1).digest(&email), cipher(2).digest(&email));
        assert_ne!(cipher(1).digest(&email), cipher(1).digest(&"ada+1@example.org".parse().unwrap()));
        assert_ne!(cipher(1).fingerprint(), cipher(2).fingerprint());
    }

    #[test]
    fn an_address_can_be_decrypted_for_its_account_and_with_its_secret_only() {
        let email: Email = "Ada@example.org".parse().unwrap();
        let sealed = cipher(1).seal(&email, account(7)).unwrap();
        assert_eq!(cipher(1).open(&sealed, account(7)).unwrap().as_str(), "Ada@example.org");
        assert_ne!(cipher(1).seal(&email, account(7)).unwrap(), sealed, "each nonce is new");
        let mut changed = sealed.clone();
        changed[30] ^= 1;
        let none = Vec::new();
        for (cipher, sealed, account) in [
            (cipher(2), &sealed, account(7)),
            (cipher(1), &sealed, account(8)),
            (cipher(1), &changed, account(7)),
            (cipher(1), &none, account(7)),
        ] {
            assert_eq!(
                cipher.open(sealed, account).unwrap_err().to_string(),
                format!(
                    "the vault of addresses is damaged: the address of account {account} does not open; \
                     restore the last backup"
                )
            );
        }
    }
}
