//! The hash chain of the ledger: as in the event log, the hash of each entry covers the one before.

use schemas::hash::Hash;
use schemas::usage::{Call, Surface};
use sha2::{Digest, Sha256};

/// The stored values that a hash covers besides the previous hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link<'a> {
    pub(super) position: i64,
    pub(super) id: &'a [u8],
    pub(super) key: &'a [u8],
    pub(super) month: i32,
    pub(super) tier: &'a str,
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    pub(super) time: i64,
    pub(super) surface: i64,
    pub(super) operation: &'a str,
    pub(super) source: Source<'a>,
    pub(super) sequence: i64,
}

/// The stream that an entry was copied from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) stream: &'a str,
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    pub(super) created: i64,
}

impl<'a> Link<'a> {
    /// Returns the link of a call that was copied from a source; `time` is the call's, as stored.
    pub(super) fn of(
        call: &'a Call,
        position: i64,
        time: i64,
        source: Source<'a>,
        sequence: i64,
    ) -> Link<'a> {
        Link {
            position,
            id: call.id.0.as_bytes(),
            key: call.key_id.as_bytes(),
            month: call.month.number(),
            tier: call.tier.as_str(),
            time,
            surface: number(call.surface),
            operation: &call.operation,
            source,
            sequence,
        }
    }

    /// Returns the hash of this entry after the given previous hash. Values of variable length are prefixed with their length, so that
    /// different entries never have the same bytes.
    pub(super) fn hash_after(&self, previous: Hash) -> Hash {
        let mut sha = Sha256::new();
        sha.update(previous.0);
        sha.update(self.position.to_be_bytes());
        sha.update(self.month.to_be_bytes());
        sha.update(self.time.to_be_bytes());
        sha.update(self.surface.to_be_bytes());
        sha.update(self.sequence.to_be_bytes());
        sha.update(self.source.created.to_be_bytes());
        let texts = [self.tier, self.operation, self.source.stream].map(str::as_bytes);
        for part in [self.id, self.key].into_iter().chain(texts) {
            sha.update((part.len() as u64).to_be_bytes());
            sha.update(part);
        }
        Hash(sha.finalize().into())
    }
}

/// Returns the stored form of a surface.
pub(super) fn number(surface: Surface) -> i64 {
    match surface {
        Surface::Rest => 1,
        Surface::Mcp => 2,
    }
}

/// Parses a stored surface.
pub(super) fn surface(number: i64) -> Option<Surface> {
    [Surface::Rest, Surface::Mcp].into_iter().find(|surface| self::number(*surface) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link<'_> = Link {
        position: 1,
        id: &[7; 16],
        key: b"Ab3dEf9h",
        month: 24_322,
        tier: "free",
        time: 1_795_163_400_123_456_000,
        surface: 1,
        operation: "search",
        source: Source { stream: "USAGE_FREE", created: 1_795_163_300_000_000_001 },
        sequence: 41,
    };

    #[test]
    fn the_hash_of_an_entry_is_stable() {
        assert_eq!(
            LINK.hash_after(Hash::GENESIS).to_string(),
            "7b426ce469ba84ce545dc9c0ec52be4623dd17023f886fef33538775261d278b"
        );
    }

    #[test]
    fn the_hash_covers_every_part() {
        let hash = LINK.hash_after(Hash::GENESIS);
        for changed in [
            Link { position: 2, ..LINK },
            Link { id: &[8; 16], ..LINK },
            Link { key: b"Ab3dEf9i", ..LINK },
            Link { month: 24_323, ..LINK },
            Link { tier: "fre", operation: "esearch", ..LINK },
            Link { time: 1_795_163_400_123_456_001, ..LINK },
            Link { surface: 2, ..LINK },
            Link { operation: "get_project", ..LINK },
            Link { source: Source { stream: "USAGE_OVERRUN", ..LINK.source }, ..LINK },
            Link { source: Source { created: 1, ..LINK.source }, ..LINK },
            Link { sequence: 42, ..LINK },
        ] {
            assert_ne!(changed.hash_after(Hash::GENESIS), hash, "{changed:?}");
        }
        assert_ne!(LINK.hash_after(hash), hash);
    }
}
