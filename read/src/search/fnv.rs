//! A hash that is the same in every process and version: FNV-1a.

use std::hash::Hasher;

/// The hash that stands for queries and words in cursors: FNV-1a, which is the same in every process.
pub(crate) struct Fnv(u64);

impl Fnv {
    /// Returns what a cursor holds of its other bytes, which tells it from one that was cut or altered on its way. A cursor
    /// that was made up harms only the pages of its maker.
    pub(crate) fn checksum(bytes: &[u8]) -> [u8; 4] {
        let mut hash = Fnv::default();
        hash.write(bytes);
        let [first, second, third, fourth, ..] = hash.finish().to_be_bytes();
        [first, second, third, fourth]
    }
}

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.write(&number.to_be_bytes());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
