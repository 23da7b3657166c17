//! The last touch: a fine grain, darker corners, and the bytes of a JPEG.

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ExtendedColorType, RgbImage, RgbaImage};

use super::super::dice::mix;
use super::canvas::Ink;
use super::look::{Material, Mood};
use super::sheet::Sheet;

/// The quality at which a flat drawing shows no fringes, and what is tried when that makes too large a file.
const QUALITIES: [u8; 3] = [85, 76, 64];

/// A picture may be so large, in bytes, with something in hand.
const LARGEST: usize = 190_000;

/// Steps of the grain before it repeats; a prime, so that no columns show.
const GRAIN: usize = 4093;

impl Sheet<'_> {
    /// Darker corners, as far as the mood and the medium want them, and haze for dreams.
    pub(super) fn finish(&mut self) {
        let (width, palette) = (self.width(), self.palette);
        if self.look.mood == Mood::Dreamy {
            let haze = palette.low.lit(0.05);
            self.canvas.wash(Ink::Fade((0.0, 30.0), (0.0, 100.0), (haze, 0.05), (haze, 0.22)));
        }
        let corner = match (self.look.material, self.look.mood) {
            (Material::Film, _) => 0.34,
            (_, Mood::Melancholy | Mood::Stern) => 0.26,
            _ if palette.lit => 0.3,
            _ => 0.12,
        };
        let ink = palette.shadow;
        self.canvas.wash(Ink::Glow(
            (width / 2.0, 48.0),
            width.max(100.0) * 0.78,
            (ink, -corner * 0.8),
            (ink, corner),
        ));
    }
}

/// The picture without its alpha, with a grain of so many steps.
pub(super) fn printed(width: u32, height: u32, pixels: Vec<u8>, grain: i16, seed: u64) -> RgbImage {
    let Some(pixels) = RgbaImage::from_raw(width, height, pixels) else {
        return RgbImage::new(width, height);
    };
    let mut picture = DynamicImage::ImageRgba8(pixels).to_rgb8();
    let steps: Vec<i16> = (0..GRAIN as u64)
        .map(|at| {
            let chance = mix(seed ^ at);
            // The sum of two throws: most grains hardly show.
            let sum = (chance % 64) as i16 + (chance >> 32) as i16 % 64 - 63;
            sum * grain / 64
        })
        .collect();
    let bytes: &mut [u8] = &mut picture;
    for row in bytes.chunks_mut(GRAIN * 3) {
        for (pixel, step) in row.chunks_exact_mut(3).zip(&steps) {
            for byte in pixel {
                *byte = (i16::from(*byte) + step).clamp(0, 255) as u8;
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
