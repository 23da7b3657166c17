//! SHA-256 values: of events in the hash chain, of keys, of pictures and of other files.

use std::fmt;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Serialize};

use crate::ids::InvalidId;
use crate::text_form::string_conversions;

/// A SHA-256: 32 bytes, displayed as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first event of a log: 32 zero bytes.
    pub const GENESIS: Hash = Hash([0; 32]);
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(f)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(Hash)
            .ok_or_else(|| InvalidId { text: text.to_owned(), expected: "a hash: 64 hexadecimal digits" })
    }
}

string_conversions!(Hash);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_hash_round_trips_through_text(bytes in any::<[u8; 32]>()) {
            prop_assert_eq!(Hash(bytes).to_string().parse::<Hash>(), Ok(Hash(bytes)));
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["", "0", &"g".repeat(64), &"é".repeat(32)] {
            assert!(text.parse::<Hash>().is_err(), "{text:?}");
        }
    }
}
