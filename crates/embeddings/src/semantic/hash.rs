//! The hashes of words. They define the components of recorded vectors, so they are written out here, and a change needs another
//! encoder name.

use super::DIMENSIONS;

/// The hash of a word, or of a word in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Feature(u64);

/// FNV-1a over the bytes, then mixed.
pub(super) fn feature(bytes: &[u8]) -> Feature {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Feature(mix(hash))
}

impl Feature {
    /// Returns the feature of this one followed by `next`; the order matters.
    pub(super) fn then(self, next: Feature) -> Feature {
        Feature(mix(self.0.rotate_left(25).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ next.0))
    }

    /// Calls `visit` `count` times with an index below [`DIMENSIONS`] and a sign of 1 or -1.
    pub(super) fn components(self, count: u32, mut visit: impl FnMut(usize, f32)) {
        let mut state = self.0;
        for _ in 0..count {
            state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            let sign = if state >> 63 == 0 { 1.0 } else { -1.0 };
            visit(state as usize % DIMENSIONS, sign);
        }
    }
}

/// The finaliser of SplitMix64: each input bit flips about half of the output bits.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_stable() {
        assert_eq!(feature(b"oak"), Feature(0xf7c0_cf25_8b6b_d7bb));
        let mut components = Vec::new();
        feature(b"oak").components(3, |index, sign| components.push((index, sign)));
        assert_eq!(components, [(143, 1.0), (31, -1.0), (68, 1.0)]);
    }

    #[test]
    fn the_order_of_features_matters() {
        let (pale, oak) = (feature(b"pale"), feature(b"oak"));
        assert_ne!(pale.then(oak), oak.then(pale));
        assert_ne!(pale.then(pale), oak.then(oak));
    }
}
