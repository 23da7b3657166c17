//! The last steps: haze, grain, vignette and JPEG encoding.

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType, RgbImage, RgbaImage};

use super::canvas::{Canvas, Fill};
use super::drawing::Drawing;
use super::style::{Material, Mood};
use crate::rng::mix;

/// The JPEG quality without visible artefacts, and lower ones for files that are too large.
const QUALITIES: [u8; 3] = [85, 76, 64];

/// The largest file, in bytes, below the documented 200 KB.
const MAX_BYTES: usize = 190_000;

/// The period of the grain; a prime, so that no columns are visible.
const GRAIN_PERIOD: usize = 4093;

impl Drawing<'_> {
    /// Draws haze for a dreamy mood.
    pub(super) fn finish(&mut self) {
        let palette = self.palette;
        if self.style.mood == Mood::Dreamy {
            let haze = palette.backdrop_bottom.lighter(0.05);
            self.canvas.fill_all(Fill::Linear((0.0, 30.0), (0.0, 100.0), (haze, 0.05), (haze, 0.22)));
        }
    }

    /// Returns how much darker the corners are, from 0 to 1.
    pub(super) fn vignette(&self) -> f32 {
        match (self.style.material, self.style.mood) {
            (Material::Film, _) => 0.3,
            (_, Mood::Melancholy | Mood::Stern) => 0.22,
            _ if self.palette.lamps_on => 0.26,
            _ => 0.1,
        }
    }
}

/// Returns the picture without alpha, with a grain of this amplitude and a vignette.
pub(super) fn with_grain_and_vignette(drawing: Canvas, grain: i32, corners: f32, seed: u64) -> RgbImage {
    let (width, height, pixels) = drawing.into_pixels();
    let Some(pixels) = RgbaImage::from_raw(width, height, pixels) else {
        return RgbImage::new(width, height);
    };
    let mut picture = DynamicImage::ImageRgba8(pixels).to_rgb8();
    let steps: Vec<i32> = (0..GRAIN_PERIOD as u64)
        .map(|at| {
            let chance = mix(seed ^ at);
            // The sum of two uniform numbers: most grains are weak.
            let sum = (chance % 64) as i32 + (chance >> 32) as i32 % 64 - 63;
            sum * grain / 64
        })
        .collect();
    // The loss at the edges, of 256; both directions add up in the corners.
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

/// Encodes the picture as JPEG, at the best quality that is small enough.
pub(super) fn jpeg(picture: &RgbImage) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1 << 17);
    let (width, height) = picture.dimensions();
    for quality in QUALITIES {
        bytes.clear();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
        // Writing to memory cannot fail, and JPEG supports the size.
        if let Err(error) = encoder.encode(picture.as_raw(), width, height, ExtendedColorType::Rgb8) {
            tracing::error!(%error, "a demo picture could not be encoded");
        }
        if bytes.len() < MAX_BYTES {
            break;
        }
    }
    bytes
}
