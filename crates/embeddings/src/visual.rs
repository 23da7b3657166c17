//! What a picture looks like, without a model: its colours, the directions of its edges, and where its light lies.
//!
//! Each part is made of unit length and weighted, so that none drowns another; a picture's size and its shape do not
//! count. Measured on labelled watercolours, colours and edges together find far more of a kind than either alone.

mod colours;
mod gradients;
mod layout;
mod pixels;

use image::RgbImage;

use self::pixels::Pixels;
use super::length::weigh;

/// How many numbers [`numbers`] gives.
pub(super) const DIMENSIONS: usize = colours::BINS + gradients::BINS + layout::TERMS;

const COLOURS: f32 = 1.0;
const GRADIENTS: f32 = 1.0;
/// A hint of where things stand; more of it would find the same framing rather than the same kind.
const LAYOUT: f32 = 0.4;

/// Describes a picture in [`DIMENSIONS`] finite numbers of unit length; `None` for a picture without a pixel.
pub(super) fn numbers(picture: &RgbImage) -> Option<Vec<f32>> {
    let pixels = Pixels::of(picture)?;
    let mut numbers = Vec::with_capacity(DIMENSIONS);
    let mut part = |mut part: Vec<f32>, weight| {
        weigh(&mut part, weight);
        numbers.append(&mut part);
    };
    part(colours::histogram(&pixels), COLOURS);
    part(gradients::histogram(&pixels), GRADIENTS);
    part(layout::terms(&pixels), LAYOUT);
    weigh(&mut numbers, 1.0);
    Some(numbers)
}

#[cfg(test)]
mod tests;
