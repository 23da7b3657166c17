//! The last touch: a fine grain, darker corners, and the bytes of a JPEG.

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType, RgbImage, RgbaImage};

use super::super::dice::mix;
use super::canvas::{Canvas, Ink};
use super::look::{Material, Mood};
use super::sheet::Sheet;

/// The quality at which a flat drawing shows no fringes, and what is tried when that makes too large a file.
const QUALITIES: [u8; 3] = [85, 76, 64];

/// A picture may be so large, in bytes, with something in hand.
const LARGEST: usize = 190_000;

/// Steps of the grain before it repeats; a prime, so that no columns show.
const GRAIN: usize = 4093;

impl Sheet<'_> {
    /// Haze for dreams.
    pub(super) fn finish(&mut self) {
        let palette = self.palette;
        if self.look.mood == Mood::Dreamy {
            let haze = palette.low.lit(0.05);
            self.canvas.wash(Ink::Fade((0.0, 30.0), (0.0, 100.0), (haze, 0.05), (haze, 0.22)));
        }
    }

    /// How much darker the corners are, as the medium and the mood want them, from 0 to 1.
    pub(super) fn corners(&self) -> f32 {
        match (self.look.material, self.look.mood) {
            (Material::Film, _) => 0.3,
            (_, Mood::Melancholy | Mood::Stern) => 0.22,
            _ if self.palette.lit => 0.26,
            _ => 0.1,
        }
    }
}

/// The picture without its alpha, with a grain of so many steps and corners that are so much darker.
pub(super) fn printed(sheet: Canvas, grain: i32, corners: f32, seed: u64) -> RgbImage {
    let (width, height, pixels) = sheet.into_pixels();
    let Some(pixels) = RgbaImage::from_raw(width, height, pixels) else {
        return RgbImage::new(width, height);
    };
    let mut picture = DynamicImage::ImageRgba8(pixels).to_rgb8();
    let steps: Vec<i32> = (0..GRAIN as u64)
        .map(|at| {
            let chance = mix(seed ^ at);
            // The sum of two throws: most grains hardly show.
            let sum = (chance % 64) as i32 + (chance >> 32) as i32 % 64 - 63;
            sum * grain / 64
        })
        .collect();
    // Of 256, how much is lost at the edges of a line of so many pixels; the two directions add up in the corners.
    let edge = |long: u32| -> Vec<i32> {
        let lost = |at: u32| ((at as f32 / long as f32 - 0.5) * 2.0).powi(4) * corners * 128.0;
        (0..long).map(|at| lost(at) as i32).collect()
    };
    let (across, down) = (edge(width), edge(height));
    let bytes: &mut [u8] = &mut picture;
    let mut steps = steps.iter().cycle();
    for (row, down) in bytes.chunks_exact_mut(width as usize * 3).zip(&down) {
        for ((pixel, across), step) in row.chunks_exact_mut(3).zip(&across).zip(&mut steps) {
            let keep = 256 - down - across;
            for byte in pixel {
                *byte = (((i32::from(*byte) * keep) >> 8) + step).clamp(0, 255) as u8;
            }
        }
    }
    picture
}

/// The picture as JPEG, at the best quality that keeps it small enough.
pub(super) fn jpeg(picture: &RgbImage) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 << 17);
    let (width, height) = picture.dimensions();
    for quality in QUALITIES {
        bytes.clear();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
        // Writing to memory cannot fail, and the size is one that JPEG knows.
        if let Err(error) = encoder.encode(picture.as_raw(), width, height, ExtendedColorType::Rgb8) {
            tracing::error!(%error, "a demo picture could not be encoded");
        }
        if bytes.len() < LARGEST {
            break;
        }
    }
    bytes
}
