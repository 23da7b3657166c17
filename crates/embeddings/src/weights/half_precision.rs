//! Numbers as IEEE 754 half precision, little-endian: half the size, and the features change in the fourth digit.

/// The difference between the exponents of single and half precision, as a factor.
const EXPONENTS: f32 = f32::from_bits((127 + 127 - 15) << 23);
/// The bits of a fraction that half precision drops.
const DROPPED: u32 = 13;

/// Converts numbers; those beyond ±65,504 are not expected.
pub(super) fn write(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| half(*number).to_le_bytes()).collect()
}

/// Reads numbers.
pub(super) fn read(bytes: &[u8]) -> impl ExactSizeIterator<Item = f32> {
    bytes.as_chunks().0.iter().map(|bytes| {
        let half = u32::from(u16::from_le_bytes(*bytes));
        // Subnormal numbers are right too: the product is exact.
        let magnitude = f32::from_bits((half & 0x7fff) << DROPPED) * EXPONENTS;
        f32::from_bits(magnitude.to_bits() | (half & 0x8000) << 16)
    })
}

/// Rounds to the nearest number of half precision, a tie to the even one.
fn half(number: f32) -> u16 {
    let sign = (number.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = number.abs();
    let bits = if magnitude < f32::from_bits((127 - 14) << 23) {
        // Subnormal: multiples of 2^-24.
        (magnitude * (1 << 24) as f32).round_ties_even() as u32
    } else {
        let bits = magnitude.to_bits() - ((127 - 15) << 23);
        (bits + ((1 << (DROPPED - 1)) - 1) + (bits >> DROPPED & 1)) >> DROPPED
    };
    sign | bits as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_read_and_written_again() {
        let numbers = (0..=u16::MAX).filter(|bits| bits & 0x7c00 != 0x7c00);
        for bits in numbers {
            let number = read(&bits.to_le_bytes()).next().unwrap();
            assert_eq!(half(number), bits, "{number}");
        }
        assert_eq!([1.0, -2.0, 65_504.0, 5.960_464_5e-8].map(half), [0x3c00, 0xc000, 0x7bff, 1]);
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_and_ties_to_even() {
        let step = 2.0_f32.powi(-10);
        for (number, rounded) in [
            (1.0 + step * 0.49, 1.0),
            (1.0 + step * 0.5, 1.0),
            (1.0 + step * 1.5, 1.0 + step * 2.0),
            (2.0 - step * 0.25, 2.0),
            (2.0_f32.powi(-14) - 2.0_f32.powi(-26), 2.0_f32.powi(-14)),
            (2.0_f32.powi(-26), 0.0),
        ] {
            let bytes = write(&[number, -number]);
            assert_eq!(read(&bytes).collect::<Vec<_>>(), [rounded, -rounded], "{number}");
        }
    }
}
