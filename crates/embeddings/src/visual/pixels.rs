//! A picture scaled to a square of 64 x 64 Oklab pixels. Oklab is perceptually uniform.

use std::sync::LazyLock;

use image::RgbImage;

/// Pixels per side of the square.
pub(super) const SIDE: usize = 64;
/// Samples per side that are averaged for one pixel: enough against aliasing, at a cost that does not grow with the picture.
const SAMPLES: usize = 4;

/// A colour: lightness from 0 to 1, then green to red and blue to yellow, each within about ±0.4.
pub(super) type Oklab = [f32; 3];

/// The scaled picture, `[SIDE x SIDE]` in rows; the aspect ratio is not kept.
pub(super) struct Pixels(Vec<Oklab>);

impl Pixels {
    /// Scales and converts a picture; `None` if it has no pixels.
    pub(super) fn of(picture: &RgbImage) -> Option<Pixels> {
        if picture.width() == 0 || picture.height() == 0 {
            return None;
        }
        let (columns, rows) = (samples(picture.width()), samples(picture.height()));
        let mut pixels = Vec::with_capacity(SIDE * SIDE);
        for rows in rows.as_chunks::<SAMPLES>().0 {
            for columns in columns.as_chunks::<SAMPLES>().0 {
                pixels.push(oklab(average(picture, columns, rows)));
            }
        }
        Some(Pixels(pixels))
    }

    /// Returns the colour at a column and a row, each below [`SIDE`].
    pub(super) fn at(&self, column: usize, row: usize) -> Oklab {
        self.0[row * SIDE + column]
    }
}

/// Returns the midpoints of `SIDE * SAMPLES` equal sections of a side.
fn samples(length: u32) -> Vec<u32> {
    let count = (SIDE * SAMPLES) as u64;
    (0..count).map(|at| ((2 * at + 1) * u64::from(length) / (2 * count)) as u32).collect()
}

/// Averages linear light, not sRGB levels: a fine pattern of black and white becomes the grey that it looks like from afar.
fn average(picture: &RgbImage, columns: &[u32; SAMPLES], rows: &[u32; SAMPLES]) -> [f32; 3] {
    static LINEAR: LazyLock<[f32; 256]> =
        LazyLock::new(|| std::array::from_fn(|level| linear(level as f32 / 255.0)));
    let linear = &*LINEAR;
    let mut sum = [0.0; 3];
    for &row in rows {
        for &column in columns {
            let pixel = picture.get_pixel(column, row).0;
            for (sum, level) in sum.iter_mut().zip(pixel) {
                *sum += linear[usize::from(level)];
            }
        }
    }
    sum.map(|sum| sum / (SAMPLES * SAMPLES) as f32)
}

/// Converts an sRGB level of 0 to 1 to linear light.
fn linear(level: f32) -> f32 {
    if level <= 0.040_45 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
}

/// Converts linear red, green and blue to Oklab (Ottosson 2020).
fn oklab([red, green, blue]: [f32; 3]) -> Oklab {
    let long = (0.412_221_46 * red + 0.536_332_55 * green + 0.051_445_995 * blue).cbrt();
    let medium = (0.211_903_5 * red + 0.680_699_5 * green + 0.107_396_96 * blue).cbrt();
    let short = (0.088_302_46 * red + 0.281_718_85 * green + 0.629_978_7 * blue).cbrt();
    [
        0.210_454_26 * long + 0.793_617_8 * medium - 0.004_072_047 * short,
        1.977_998_5 * long - 2.428_592_2 * medium + 0.450_593_7 * short,
        0.025_904_037 * long + 0.782_771_77 * medium - 0.808_675_77 * short,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oklab_of(pixel: [u8; 3]) -> Oklab {
        Pixels::of(&RgbImage::from_pixel(3, 5, image::Rgb(pixel))).unwrap().at(SIDE - 1, 0)
    }

    #[test]
    fn known_colours_have_their_published_coordinates() {
        let near = |found: Oklab, expected: Oklab| {
            assert!(
                found.iter().zip(expected).all(|(f, w)| (f - w).abs() < 0.001),
                "{found:?} is not {expected:?}"
            );
        };
        near(oklab_of([255, 255, 255]), [1.0, 0.0, 0.0]);
        near(oklab_of([0, 0, 0]), [0.0, 0.0, 0.0]);
        near(oklab_of([255, 0, 0]), [0.628, 0.225, 0.126]);
        near(oklab_of([0, 0, 255]), [0.452, -0.032, -0.312]);
    }

    #[test]
    fn samples_stay_inside_and_cover_the_side() {
        for length in [1, 2, 64, 255, 256, 257, 8_000] {
            let samples = samples(length);
            assert_eq!(samples.len(), SIDE * SAMPLES);
            assert!(samples.is_sorted() && samples.iter().all(|at| *at < length), "{length}");
        }
        assert_eq!(samples(256), (0..256).collect::<Vec<_>>());
    }
}
