//! The built-in vector of a picture: a colour histogram, a histogram of oriented gradients, and the coarse layout.
//!
//! Each part is scaled to unit length and weighted, so that none outweighs another. Size and aspect ratio have no influence. On
//! labelled watercolours, colours and gradients together find far more neighbours of the same label than either alone.

mod descriptors;
mod pixels;

use image::RgbImage;

use self::pixels::Pixels;
use super::scale_to;

/// The length of the vector.
pub(super) const DIMENSIONS: usize =
    descriptors::COLOUR_BINS + descriptors::GRADIENT_BINS + descriptors::LAYOUT_TERMS;

// The weight of each part.
const COLOURS: f32 = 1.0;
const GRADIENTS: f32 = 1.0;
/// Low: a higher weight finds the same framing rather than the same kind of picture.
const LAYOUT: f32 = 0.4;

/// Returns the vector of a picture, [`DIMENSIONS`] finite numbers of unit length; `None` if it has no pixels.
pub(super) fn vector(picture: &RgbImage) -> Option<Vec<f32>> {
    let pixels = Pixels::of(picture)?;
    Some(joined([
        (descriptors::colour_histogram(&pixels), COLOURS),
        (descriptors::gradient_histogram(&pixels), GRADIENTS),
        (descriptors::layout_terms(&pixels), LAYOUT),
    ]))
}

/// Returns the parts that a network trained on shapes leaves out, of unit length; `None` if the picture has no pixels.
pub(super) fn colours_and_layout(picture: &RgbImage) -> Option<Vec<f32>> {
    let pixels = Pixels::of(picture)?;
    Some(joined([
        (descriptors::colour_histogram(&pixels), COLOURS),
        (descriptors::layout_terms(&pixels), LAYOUT),
    ]))
}

fn joined<const PARTS: usize>(parts: [(Vec<f32>, f32); PARTS]) -> Vec<f32> {
    let mut vector = Vec::with_capacity(DIMENSIONS);
    for (mut part, weight) in parts {
        scale_to(&mut part, weight);
        vector.append(&mut part);
    }
    scale_to(&mut vector, 1.0);
    vector
}

#[cfg(test)]
mod tests;
