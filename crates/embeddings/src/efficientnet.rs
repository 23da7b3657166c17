//! EfficientNet-Lite0 (Tan and Le 2019, without squeeze-and-excitation; Apache-2.0): features of a picture, learned from ImageNet.
//!
//! Activations are `[side x side x channels]`: a 1 x 1 convolution is then one product of matrices, and a depthwise convolution
//! runs over adjacent channels.

mod delivered;

use std::ops::Range;

use image::RgbImage;
use image::imageops::{self, FilterType};
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

pub(super) use self::delivered::convert;
use super::scale_to;

/// The length of the features.
pub(super) const FEATURES: usize = 1280;

/// Pixels per side of the input.
const SIDE: usize = 224;
/// Red, green and blue.
const COLOURS: usize = 3;
/// The weights were trained on levels of -0.992 to 1; with the usual mean and deviation of ImageNet they find fewer neighbours.
const MIDDLE_LEVEL: f32 = 127.0;
const LEVEL_SCALE: f32 = 128.0;

/// The side of the kernel of the first convolution, and its outputs.
const STEM_KERNEL: usize = 3;
const STEM_OUTPUTS: usize = 32;
const STEM_STRIDE: usize = 2;

/// Outputs that are computed at once: they and their inputs stay in the cache.
const OUTPUTS_AT_ONCE: usize = 1 << 15;
/// Channels of a depthwise convolution that are summed in registers; it divides the channels of every block.
const LANES: usize = 16;

/// A stage of inverted residual blocks; the stride and the number of inputs are those of its first block.
struct Stage {
    blocks: usize,
    kernel: usize,
    stride: usize,
    expansion: usize,
    inputs: usize,
    outputs: usize,
}

const STAGES: [Stage; 7] = [
    Stage { blocks: 1, kernel: 3, stride: 1, expansion: 1, inputs: 32, outputs: 16 },
    Stage { blocks: 2, kernel: 3, stride: 2, expansion: 6, inputs: 16, outputs: 24 },
    Stage { blocks: 2, kernel: 5, stride: 2, expansion: 6, inputs: 24, outputs: 40 },
    Stage { blocks: 3, kernel: 3, stride: 2, expansion: 6, inputs: 40, outputs: 80 },
    Stage { blocks: 3, kernel: 5, stride: 1, expansion: 6, inputs: 80, outputs: 112 },
    Stage { blocks: 4, kernel: 5, stride: 2, expansion: 6, inputs: 112, outputs: 192 },
    Stage { blocks: 1, kernel: 3, stride: 1, expansion: 6, inputs: 192, outputs: 320 },
];

/// A convolution with its batch normalisation folded in.
#[derive(Debug)]
struct Layer {
    /// `[inputs x outputs]`; for a depthwise convolution `[kernel * kernel x channels]`.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

/// An inverted residual block: 1 x 1 expansion, depthwise convolution, 1 x 1 projection.
#[derive(Debug)]
struct Block {
    expand: Option<Layer>,
    depthwise: Layer,
    kernel: usize,
    stride: usize,
    project: Layer,
    /// Whether the input is added to the output.
    has_residual: bool,
}

/// The network up to the mean over all places; the classifier is left out.
#[derive(Debug)]
pub(super) struct EfficientNet {
    stem: Layer,
    blocks: Vec<Block>,
    head: Layer,
}

/// A square of activations, `[side x side x channels]`.
struct Activations {
    side: usize,
    values: Vec<f32>,
}

/// Returns rows and columns of the weights of each layer, in the order of the network.
fn layer_shapes() -> Vec<[usize; 2]> {
    let mut shapes = vec![[STEM_KERNEL * STEM_KERNEL * COLOURS, STEM_OUTPUTS]];
    for stage in STAGES {
        for block in 0..stage.blocks {
            let inputs = if block == 0 { stage.inputs } else { stage.outputs };
            let hidden = inputs * stage.expansion;
            shapes.extend((stage.expansion > 1).then_some([inputs, hidden]));
            shapes.extend([[stage.kernel * stage.kernel, hidden], [hidden, stage.outputs]]);
        }
    }
    shapes.extend(STAGES.last().map(|stage| [stage.outputs, FEATURES]));
    shapes
}

impl EfficientNet {
    /// Builds the network from the weights and biases of each layer in order; `None` if there are fewer or more numbers.
    pub(super) fn new(mut numbers: impl ExactSizeIterator<Item = f32>) -> Option<EfficientNet> {
        let shapes = layer_shapes();
        let expected: usize = shapes.iter().map(|[rows, columns]| (rows + 1) * columns).sum();
        if numbers.len() != expected {
            return None;
        }
        let mut layers = shapes.iter().map(|[rows, columns]| Layer {
            weights: numbers.by_ref().take(rows * columns).collect(),
            bias: numbers.by_ref().take(*columns).collect(),
        });
        let stem = layers.next()?;
        let mut blocks = Vec::new();
        for stage in STAGES {
            for block in 0..stage.blocks {
                blocks.push(Block {
                    expand: if stage.expansion > 1 { Some(layers.next()?) } else { None },
                    depthwise: layers.next()?,
                    kernel: stage.kernel,
                    stride: if block == 0 { stage.stride } else { 1 },
                    project: layers.next()?,
                    has_residual: block > 0,
                });
            }
        }
        Some(EfficientNet { stem, blocks, head: layers.next()? })
    }

    /// Returns the features of a picture that has pixels: [`FEATURES`] numbers of unit length. The aspect ratio is not kept.
    pub(super) fn features(&self, picture: &RgbImage) -> Vec<f32> {
        let mut activations = self.stem.first(&scaled(picture));
        for block in &self.blocks {
            activations = block.apply(activations);
        }
        let activations = self.head.pointwise(&activations, true);
        let mut features = vec![0.0; FEATURES];
        for place in activations.values.chunks_exact(FEATURES) {
            features.iter_mut().zip(place).for_each(|(sum, value)| *sum += value);
        }
        scale_to(&mut features, 1.0);
        features
    }
}

/// Returns the levels of a picture scaled to the input of the network, `[SIDE x SIDE x COLOURS]`.
fn scaled(picture: &RgbImage) -> Vec<f32> {
    let scaled = imageops::resize(picture, SIDE as u32, SIDE as u32, FilterType::CatmullRom);
    scaled.as_raw().iter().map(|level| (f32::from(*level) - MIDDLE_LEVEL) / LEVEL_SCALE).collect()
}

impl Block {
    fn apply(&self, input: Activations) -> Activations {
        let expanded = self.expand.as_ref().map(|expand| expand.pointwise(&input, true));
        let convolved =
            self.depthwise.depthwise(expanded.as_ref().unwrap_or(&input), self.kernel, self.stride);
        let mut output = self.project.pointwise(&convolved, false);
        if self.has_residual {
            output.values.iter_mut().zip(&input.values).for_each(|(value, input)| *value += input);
        }
        output
    }
}

/// How a kernel moves over rows or columns. The padding is that of TensorFlow's `SAME`: if it is odd, there is more after the input.
struct Window {
    side: usize,
    kernel: usize,
    stride: usize,
}

impl Window {
    fn outputs(&self) -> usize {
        self.side.div_ceil(self.stride)
    }

    /// Returns the part of the kernel that lies inside the input for an output, and the place of its first element there.
    fn at(&self, output: usize) -> (Range<usize>, usize) {
        let padding = ((self.outputs() - 1) * self.stride + self.kernel).saturating_sub(self.side) / 2;
        let first = output * self.stride;
        let from = padding.saturating_sub(first);
        (from..self.kernel.min(self.side + padding - first), first + from - padding)
    }
}

fn relu6(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.clamp(0.0, 6.0));
}

impl Layer {
    /// The first convolution, of all colours.
    fn first(&self, levels: &[f32]) -> Activations {
        let window = Window { side: SIDE, kernel: STEM_KERNEL, stride: STEM_STRIDE };
        let side = window.outputs();
        let patch = STEM_KERNEL * STEM_KERNEL * COLOURS;
        let mut patches = vec![0.0; side * side * patch];
        for (at, patch) in patches.chunks_exact_mut(patch).enumerate() {
            let (rows, top) = window.at(at / side);
            let (columns, left) = window.at(at % side);
            for (row, kernel_row) in rows.enumerate() {
                let source = ((top + row) * SIDE + left) * COLOURS;
                let target = (kernel_row * STEM_KERNEL + columns.start) * COLOURS;
                let length = columns.len() * COLOURS;
                patch[target..target + length].copy_from_slice(&levels[source..source + length]);
            }
        }
        self.pointwise(&Activations { side, values: patches }, true)
    }

    /// A 1 x 1 convolution.
    fn pointwise(&self, input: &Activations, is_activated: bool) -> Activations {
        let outputs = self.bias.len();
        let inputs = self.weights.len() / outputs;
        let mut values = vec![0.0; input.side * input.side * outputs];
        let rows = (OUTPUTS_AT_ONCE / outputs).max(1);
        for (part, inputs_of_part) in
            values.chunks_mut(rows * outputs).zip(input.values.chunks(rows * inputs))
        {
            let rows = part.len() / outputs;
            part.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(&self.bias));
            multiply(inputs_of_part, &self.weights, part, [rows, inputs, outputs]);
            if is_activated {
                relu6(part);
            }
        }
        Activations { side: input.side, values }
    }

    /// A convolution of each channel alone.
    fn depthwise(&self, input: &Activations, kernel: usize, stride: usize) -> Activations {
        let channels = self.bias.len();
        let window = Window { side: input.side, kernel, stride };
        let side = window.outputs();
        let mut values = vec![0.0; side * side * channels];
        for (row, outputs) in values.chunks_exact_mut(side * channels).enumerate() {
            let (rows, top) = window.at(row);
            for channel in (0..channels).step_by(LANES) {
                for (column, output) in outputs.chunks_exact_mut(channels).enumerate() {
                    let (columns, left) = window.at(column);
                    let mut sums = lanes(&self.bias, channel);
                    for (down, kernel_row) in rows.clone().enumerate() {
                        let source = ((top + down) * input.side + left) * channels + channel;
                        let weights = (kernel_row * kernel + columns.start) * channels + channel;
                        for across in 0..columns.len() {
                            let values = lanes(&input.values, source + across * channels);
                            let weights = lanes(&self.weights, weights + across * channels);
                            for lane in 0..LANES {
                                sums[lane] += values[lane] * weights[lane];
                            }
                        }
                    }
                    relu6(&mut sums);
                    output[channel..channel + LANES].copy_from_slice(&sums);
                }
            }
        }
        Activations { side, values }
    }
}

fn lanes(values: &[f32], at: usize) -> [f32; LANES] {
    values[at..].first_chunk().copied().unwrap_or_default()
}

/// Adds the product of `left`, `[rows x inner]`, and `right`, `[inner x columns]`, to `sums`.
fn multiply(left: &[f32], right: &[f32], sums: &mut [f32], [rows, inner, columns]: [usize; 3]) {
    let shapes = (
        ArrayView2::from_shape((rows, inner), left),
        ArrayView2::from_shape((inner, columns), right),
        ArrayViewMut2::from_shape((rows, columns), sums),
    );
    if let (Ok(left), Ok(right), Ok(mut sums)) = shapes {
        general_mat_mul(1.0, &left, &right, 1.0, &mut sums);
    }
}

#[cfg(test)]
mod tests;
