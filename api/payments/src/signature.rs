//! Verifies the signature of a payment notice. Stripe signs the time and the raw bytes of the body with HMAC-SHA-256, and with both
//! secrets while a secret is being replaced. This is all of Stripe's interface that is used here, so the verification is our own: its
//! client crate is a hundred times as large and brings an HTTP client of its own.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

/// The maximum difference in seconds between the time of a signature and now, in either direction.
const TOLERANCE: i64 = 300;

/// The maximum number of signatures of one notice that are compared.
const MOST_SIGNATURES: usize = 16;

/// The secrets that a provider signs with, at least one. `Debug` shows only their number.
#[derive(Clone)]
pub struct Secrets(Vec<String>);

/// Why a signature is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureError {
    /// There is no signature, or none that is well-formed.
    Missing,
    /// No signature was made with one of the secrets over these bytes.
    Mismatch,
    /// It was made more than five minutes ago, or that far in the future.
    Expired,
}

impl Secrets {
    /// Verifies the header `Stripe-Signature` against the raw bytes of the body.
    ///
    /// # Errors
    ///
    /// If no signature in it is valid at `now`.
    pub fn verify(&self, header: &str, body: &[u8], now: Timestamp) -> Result<(), SignatureError> {
        let mut parts = header.split(',').filter_map(|part| part.trim().split_once('='));
        let (_, time) = parts.clone().find(|(name, _)| *name == "t").ok_or(SignatureError::Missing)?;
        let signed_at: i64 = time.parse().map_err(|_| SignatureError::Missing)?;
        let signatures: Vec<[u8; 32]> = parts
            .by_ref()
            .filter(|(name, _)| *name == "v1")
            .take(MOST_SIGNATURES)
            .filter_map(|(_, signature)| decoded(signature))
            .collect();
        if signatures.is_empty() {
            return Err(SignatureError::Missing);
        }
        if !self.0.iter().any(|secret| signs(secret, time, body, &signatures)) {
            return Err(SignatureError::Mismatch);
        }
        // Checked last: only a sender who has a secret learns that the time is wrong.
        if now.as_second().abs_diff(signed_at) > TOLERANCE.unsigned_abs() {
            return Err(SignatureError::Expired);
        }
        Ok(())
    }
}

/// Returns whether one of the signatures was made with this secret, in a time that does not depend on the secret.
fn signs(secret: &str, time: &str, body: &[u8], signatures: &[[u8; 32]]) -> bool {
    // HMAC takes keys of any length.
    let Ok(mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()) else { return false };
    let mac = mac.chain_update(time).chain_update(".").chain_update(body);
    signatures.iter().any(|signature| mac.clone().verify_slice(signature).is_ok())
}

fn decoded(text: &str) -> Option<[u8; 32]> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok()
}

impl FromStr for Secrets {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let secrets: Vec<String> = text.split(',').map(|secret| secret.trim().to_owned()).collect();
        let plain = |secret: &String| secret.len() >= 8 && secret.bytes().all(|byte| byte.is_ascii_graphic());
        if secrets.iter().all(plain) {
            Ok(Secrets(secrets))
        } else {
            Err("expected signing secrets such as whsec_…, of at least 8 characters, separated by commas")
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests;
