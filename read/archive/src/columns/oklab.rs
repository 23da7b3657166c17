//! Colours in OKLab, in which the distance of two colours is about the difference that is seen.
//!
//! OKLab (Björn Ottosson, "A perceptual color space for image processing", 2020; also in CSS Color 4) and not CIEDE2000: the
//! distance is Euclidean, so that a colour of a palette is compared by three subtractions, and it keeps hues apart where CIELAB
//! turns blue into purple. CIEDE2000 was fitted to small differences of surface colours, costs some hundred operations a pair, and
//! is neither continuous nor a metric; for "a palette with a blue like this one" its greater precision near the threshold of seeing
//! is of no use.

/// The greatest distance at which a colour is near: a tenth of that between black and white, about five just noticeable differences.
/// Pure red and pure orange (`#ff8000`) are 0.20 apart, two neighbouring shades of a paint chart some 0.05.
pub(crate) const NEAR: f32 = 0.1;

/// The length of the unit in stored coordinates.
const UNIT: f32 = 16_384.0;

/// A colour as lightness (0 to 1) and the two axes green to red and blue to yellow (about -0.4 to 0.4), in [`UNIT`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Oklab([i16; 3]);

impl Oklab {
    /// Converts an sRGB colour.
    pub(crate) fn of(rgb: [u8; 3]) -> Oklab {
        let [r, g, b] = rgb.map(|channel| {
            let value = f32::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        let l = (0.412_221_46 * r + 0.536_332_55 * g + 0.051_445_995 * b).cbrt();
        let m = (0.211_903_5 * r + 0.680_699_5 * g + 0.107_396_96 * b).cbrt();
        let s = (0.088_302_46 * r + 0.281_718_85 * g + 0.629_978_7 * b).cbrt();
        let lab = [
            0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
            1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
            0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
        ];
        Oklab(lab.map(|axis| (axis * UNIT).round() as i16))
    }

    /// Converts it back to sRGB; exact but for the rounding of the stored coordinates.
    pub(crate) fn rgb(self) -> [u8; 3] {
        let [lightness, a, b] = self.0.map(|axis| f32::from(axis) / UNIT);
        let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
        let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
        let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
        let linear = [
            4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
            -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
            -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
        ];
        linear.map(|value| {
            let value =
                if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
            (value.clamp(0.0, 1.0) * 255.0).round() as u8
        })
    }

    /// Returns the square of the distance to another colour, in squares of a [`UNIT`]; at most 2^31.
    pub(crate) fn squared_distance(self, other: Oklab) -> u32 {
        let axes = self.0.iter().zip(other.0);
        axes.map(|(a, b)| (i32::from(*a) - i32::from(b)).unsigned_abs().pow(2)).sum()
    }
}

/// Returns the square of the distance of the nearest colour of a palette to the nearest of the wanted ones; `None` if none is near.
pub(crate) fn nearest(palette: &[Oklab], wanted: &[Oklab]) -> Option<u32> {
    let pairs = palette.iter().flat_map(|own| wanted.iter().map(|wanted| own.squared_distance(*wanted)));
    pairs.min().filter(|distance| *distance <= near())
}

fn near() -> u32 {
    (NEAR * UNIT * NEAR * UNIT) as u32
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;

    fn distance(one: [u8; 3], other: [u8; 3]) -> f32 {
        (Oklab::of(one).squared_distance(Oklab::of(other)) as f32).sqrt() / UNIT
    }

    #[test]
    fn colours_are_converted_as_published() {
        // L, a, b of CSS Color 4 for white, black, red, green (lime), blue.
        for (rgb, [l, a, b]) in [
            ([255, 255, 255], [1.0, 0.0, 0.0]),
            ([0, 0, 0], [0.0, 0.0, 0.0]),
            ([255, 0, 0], [0.62796, 0.22486, 0.12585]),
            ([0, 255, 0], [0.86644, -0.23389, 0.17950]),
            ([0, 0, 255], [0.45201, -0.03246, -0.31153]),
        ] {
            let Oklab(found) = Oklab::of(rgb);
            for (found, expected) in found.into_iter().zip([l, a, b]) {
                let found = f32::from(found) / UNIT;
                assert!((found - expected).abs() < 0.0002, "{rgb:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn colours_are_converted_back() {
        for rgb in [[255, 255, 255], [0, 0, 0], [255, 0, 0], [200, 30, 30], [20, 60, 160], [1, 254, 128]] {
            let found = Oklab::of(rgb).rgb();
            let difference = rgb.iter().zip(found).map(|(a, b)| a.abs_diff(b)).max();
            assert!(difference <= Some(1), "{rgb:?} {found:?}");
        }
    }

    #[test]
    fn near_colours_are_those_that_look_alike() {
        for (one, other) in [
            ([0x2b, 0x4c, 0x7e], [0x30, 0x58, 0x8c]),
            ([0xff, 0x00, 0x00], [0xe0, 0x20, 0x10]),
            ([0x80, 0x80, 0x80], [0x96, 0x96, 0x96]),
        ] {
            assert!(distance(one, other) < NEAR, "{one:?} {other:?} {}", distance(one, other));
            assert!(nearest(&[Oklab::of([0; 3]), Oklab::of(other)], &[Oklab::of(one)]).is_some());
        }
        for (one, other) in [
            ([0xff, 0x00, 0x00], [0xff, 0x80, 0x00]),
            ([0x00, 0x00, 0xff], [0x80, 0x00, 0xff]),
            ([0x80, 0x80, 0x80], [0xb0, 0xb0, 0xb0]),
            ([0x2b, 0x4c, 0x7e], [0x7e, 0x2b, 0x4c]),
        ] {
            assert!(distance(one, other) > NEAR, "{one:?} {other:?} {}", distance(one, other));
            assert_eq!(nearest(&[Oklab::of(other)], &[Oklab::of(one)]), None);
        }
        assert_eq!(nearest(&[], &[Oklab::of([0; 3])]), None);
        assert_eq!(nearest(&[Oklab::of([9; 3])], &[Oklab::of([200; 3]), Oklab::of([9; 3])]), Some(0));
    }
}
