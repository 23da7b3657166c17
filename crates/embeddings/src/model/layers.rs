//! The layers that transformers of texts and of pictures share; ours and not candle's for the figures in ADR 29. Inputs are
//! tables `[tokens x hidden]`.

use ndarray::{Array1, Array2, Axis, Slice, Zip};
use serde::Deserialize;

use super::super::EncoderError;
use super::weights::Weights;

/// The curve between the two halves of a block's second part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Activation {
    Gelu,
    #[serde(alias = "gelu_pytorch_tanh")]
    GeluNew,
    QuickGelu,
    Relu,
}

/// Whether a block evens out its input before each part or the sum after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NormOrder {
    Before,
    After,
}

/// What all blocks of a model have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) hidden: usize,
    pub(super) heads: usize,
    pub(super) inner: usize,
    pub(super) epsilon: f32,
    pub(super) activation: Activation,
    pub(super) order: NormOrder,
}

/// What an architecture calls the tensors of a block.
pub(super) struct BlockNames {
    pub(super) query: &'static str,
    pub(super) key: &'static str,
    pub(super) value: &'static str,
    pub(super) attended: &'static str,
    pub(super) first_norm: &'static str,
    pub(super) up: &'static str,
    pub(super) down: &'static str,
    pub(super) second_norm: &'static str,
    /// What each part's result is multiplied by, where an architecture has that.
    pub(super) scales: Option<[&'static str; 2]>,
}

#[derive(Debug)]
struct Linear {
    /// One row an output.
    weight: Array2<f32>,
    bias: Array1<f32>,
}

impl Linear {
    fn load(
        weights: &Weights<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear, EncoderError> {
        let weight = weights.table(&format!("{name}.weight"), outputs, inputs)?;
        Ok(Linear { weight, bias: weights.row(&format!("{name}.bias"), outputs)? })
    }

    fn apply(&self, tokens: &Array2<f32>) -> Array2<f32> {
        tokens.dot(&self.weight.t()) + &self.bias
    }
}

/// Brings each token to mean 0 and variance 1, then stretches and shifts it.
#[derive(Debug)]
pub(super) struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Norm {
    pub(super) fn load(weights: &Weights<'_>, name: &str, shape: &Shape) -> Result<Norm, EncoderError> {
        Ok(Norm {
            weight: weights.row(&format!("{name}.weight"), shape.hidden)?,
            bias: weights.row(&format!("{name}.bias"), shape.hidden)?,
            epsilon: shape.epsilon,
        })
    }

    pub(super) fn apply(&self, mut tokens: Array2<f32>) -> Array2<f32> {
        for mut token in tokens.axis_iter_mut(Axis(0)) {
            let count = token.len() as f32;
            let mean = token.sum() / count;
            token -= mean;
            let variance = token.iter().map(|n| n * n).sum::<f32>() / count;
            token *= 1.0 / (variance + self.epsilon).sqrt();
            token *= &self.weight;
            token += &self.bias;
        }
        tokens
    }
}

/// One step of a transformer: every token looks at every other, then each is worked on for itself.
#[derive(Debug)]
pub(super) struct Block {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    first_norm: Norm,
    up: Linear,
    down: Linear,
    second_norm: Norm,
    scales: Option<[Array1<f32>; 2]>,
    shape: Shape,
}

impl Block {
    /// Takes a block whose tensors' names begin with `at`, for example `encoder.layer.0.`.
    pub(super) fn load(
        weights: &Weights<'_>,
        at: &str,
        names: &BlockNames,
        shape: Shape,
    ) -> Result<Block, EncoderError> {
        let linear = |name, inputs, outputs| Linear::load(weights, &format!("{at}{name}"), inputs, outputs);
        let norm = |name| Norm::load(weights, &format!("{at}{name}"), &shape);
        let scale = |name| weights.row(&format!("{at}{name}"), shape.hidden);
        let Shape { hidden, inner, .. } = shape;
        Ok(Block {
            query: linear(names.query, hidden, hidden)?,
            key: linear(names.key, hidden, hidden)?,
            value: linear(names.value, hidden, hidden)?,
            attended: linear(names.attended, hidden, hidden)?,
            first_norm: norm(names.first_norm)?,
            up: linear(names.up, hidden, inner)?,
            down: linear(names.down, inner, hidden)?,
            second_norm: norm(names.second_norm)?,
            scales: names
                .scales
                .map(|[one, two]| Ok::<_, EncoderError>([scale(one)?, scale(two)?]))
                .transpose()?,
            shape,
        })
    }

    pub(super) fn apply(&self, tokens: Array2<f32>) -> Array2<f32> {
        match self.shape.order {
            NormOrder::After => {
                let attended = self.attend(&tokens);
                let tokens = self.first_norm.apply(tokens + attended);
                let worked = self.work(&tokens);
                self.second_norm.apply(tokens + worked)
            }
            NormOrder::Before => {
                let attended = self.attend(&self.first_norm.apply(tokens.clone()));
                let tokens = tokens + self.scaled(attended, 0);
                let worked = self.work(&self.second_norm.apply(tokens.clone()));
                tokens + self.scaled(worked, 1)
            }
        }
    }

    fn attend(&self, tokens: &Array2<f32>) -> Array2<f32> {
        let (query, key, value) =
            (self.query.apply(tokens), self.key.apply(tokens), self.value.apply(tokens));
        let width = self.shape.hidden / self.shape.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut seen = Array2::zeros(tokens.raw_dim());
        for head in 0..self.shape.heads {
            let own = Slice::from(head * width..(head + 1) * width);
            let mut shares = query.slice_axis(Axis(1), own).dot(&key.slice_axis(Axis(1), own).t()) * scale;
            shares.axis_iter_mut(Axis(0)).for_each(|mut row| {
                let highest = row.fold(f32::NEG_INFINITY, |highest, n| highest.max(*n));
                row.mapv_inplace(|n| (n - highest).exp());
                row /= row.sum();
            });
            seen.slice_axis_mut(Axis(1), own).assign(&shares.dot(&value.slice_axis(Axis(1), own)));
        }
        self.attended.apply(&seen)
    }

    fn work(&self, tokens: &Array2<f32>) -> Array2<f32> {
        let mut inner = self.up.apply(tokens);
        let activation = self.shape.activation;
        Zip::from(&mut inner).for_each(|n| *n = activation.at(*n));
        self.down.apply(&inner)
    }

    fn scaled(&self, tokens: Array2<f32>, part: usize) -> Array2<f32> {
        match &self.scales {
            Some(scales) => tokens * &scales[part],
            None => tokens,
        }
    }
}

impl Activation {
    fn at(self, n: f32) -> f32 {
        match self {
            Activation::Gelu => 0.5 * n * (1.0 + error_function(n * std::f32::consts::FRAC_1_SQRT_2)),
            Activation::GeluNew => 0.5 * n * (1.0 + (0.797_884_6 * (n + 0.044_715 * n * n * n)).tanh()),
            Activation::QuickGelu => n / (1.0 + (-1.702 * n).exp()),
            Activation::Relu => n.max(0.0),
        }
    }
}

/// Abramowitz and Stegun 7.1.26, within 1.5e-7 of erf: as near as 32-bit floats can tell.
fn error_function(n: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * n.abs());
    let series = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_72, 0.254_829_6];
    let sum = series.into_iter().fold(0.0, |sum, factor| sum * t + factor);
    (1.0 - sum * t * (-n * n).exp()).copysign(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_pass_through_their_known_points() {
        for (n, erf) in
            [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (-1.0, -0.842_700_8), (3.0, 0.999_978)]
        {
            assert!((error_function(n) - erf).abs() < 1e-6, "erf({n}) is {}", error_function(n));
        }
        let at_one = [
            (Activation::Gelu, 0.841_345),
            (Activation::GeluNew, 0.841_192),
            (Activation::QuickGelu, 0.845_796),
            (Activation::Relu, 1.0),
        ];
        for (activation, value) in at_one {
            assert!((activation.at(1.0) - value).abs() < 1e-4, "{activation:?} {}", activation.at(1.0));
        }
    }
}
