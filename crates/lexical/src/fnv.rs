//! The hash in cursors.

use std::hash::Hasher;

/// FNV-1a of 64 bits. Unlike the hashers of the standard library it is the same in every process, so cursors may contain it.
#[derive(Debug)]
pub struct Fnv(u64);

impl Fnv {
    /// Returns the first four bytes of the hash, which reveal a cursor that was cut or altered by accident. It is no
    /// signature: a forged cursor can only spoil the pages of its sender.
    pub fn checksum(bytes: &[u8]) -> [u8; 4] {
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
