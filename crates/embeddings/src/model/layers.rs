//! The transformer layers that sentence and image encoders share; written here and not taken from candle for the figures in
//! ADR 29. Inputs and outputs are matrices `[tokens x hidden]`.

use ndarray::{Array1, Array2, Axis, Slice, Zip};
use serde::Deserialize;

use super::super::EncoderError;
use super::weights::Weights;

/// The activation function of the feed-forward network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Activation {
    Gelu,
    #[serde(alias = "gelu_pytorch_tanh")]
    GeluNew,
    QuickGelu,
    Relu,
}

/// Whether layer norm is applied before attention and feed-forward (pre-norm) or after each residual sum (post-norm).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NormOrder {
    Before,
    After,
}

/// The configuration of all blocks of a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) hidden: usize,
    pub(super) heads: usize,
    /// The width of the feed-forward network.
    pub(super) intermediate: usize,
    pub(super) epsilon: f32,
    pub(super) activation: Activation,
    pub(super) order: NormOrder,
}

/// The names that an architecture gives to the tensors of a block.
pub(super) struct BlockNames {
    pub(super) query: &'static str,
    pub(super) key: &'static str,
    pub(super) value: &'static str,
    pub(super) attention_output: &'static str,
    pub(super) first_norm: &'static str,
    /// The first layer of the feed-forward network.
    pub(super) up: &'static str,
    /// The second layer of the feed-forward network.
    pub(super) down: &'static str,
    pub(super) second_norm: &'static str,
    /// The layer scale of attention and feed-forward, if the architecture has it.
    pub(super) scales: Option<[&'static str; 2]>,
}

#[derive(Debug)]
struct Linear {
    /// `[outputs x inputs]`.
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
        let weight = weights.matrix(&format!("{name}.weight"), outputs, inputs)?;
        Ok(Linear { weight, bias: weights.vector(&format!("{name}.bias"), outputs)? })
    }

    fn apply(&self, tokens: &Array2<f32>) -> Array2<f32> {
        tokens.dot(&self.weight.t()) + &self.bias
    }
}

/// Layer normalisation: each token is scaled to mean 0 and variance 1, then multiplied by a weight and shifted by a bias.
#[derive(Debug)]
pub(super) struct LayerNorm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl LayerNorm {
    pub(super) fn load(weights: &Weights<'_>, name: &str, shape: &Shape) -> Result<LayerNorm, EncoderError> {
        Ok(LayerNorm {
            weight: weights.vector(&format!("{name}.weight"), shape.hidden)?,
            bias: weights.vector(&format!("{name}.bias"), shape.hidden)?,
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

/// A transformer block: multi-head self-attention, then a feed-forward network.
#[derive(Debug)]
pub(super) struct Block {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    first_norm: LayerNorm,
    up: Linear,
    down: Linear,
    second_norm: LayerNorm,
    scales: Option<[Array1<f32>; 2]>,
    shape: Shape,
}

impl Block {
    /// Loads the block whose tensor names start with `at`, for example `encoder.layer.0.`.
    pub(super) fn load(
        weights: &Weights<'_>,
        at: &str,
        names: &BlockNames,
        shape: Shape,
    ) -> Result<Block, EncoderError> {
        let linear = |name, inputs, outputs| Linear::load(weights, &format!("{at}{name}"), inputs, outputs);
        let norm = |name| LayerNorm::load(weights, &format!("{at}{name}"), &shape);
        let scale = |name| weights.vector(&format!("{at}{name}"), shape.hidden);
        let Shape { hidden, intermediate, .. } = shape;
        Ok(Block {
            query: linear(names.query, hidden, hidden)?,
            key: linear(names.key, hidden, hidden)?,
            value: linear(names.value, hidden, hidden)?,
            attention_output: linear(names.attention_output, hidden, hidden)?,
            first_norm: norm(names.first_norm)?,
            up: linear(names.up, hidden, intermediate)?,
            down: linear(names.down, intermediate, hidden)?,
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
                let fed_forward = self.feed_forward(&tokens);
                self.second_norm.apply(tokens + fed_forward)
            }
            NormOrder::Before => {
                let attended = self.attend(&self.first_norm.apply(tokens.clone()));
                let tokens = tokens + self.scaled(attended, 0);
                let fed_forward = self.feed_forward(&self.second_norm.apply(tokens.clone()));
                tokens + self.scaled(fed_forward, 1)
            }
        }
    }

    /// Multi-head self-attention: softmax(Q Kᵀ / √width) V per head.
    fn attend(&self, tokens: &Array2<f32>) -> Array2<f32> {
        let (query, key, value) =
            (self.query.apply(tokens), self.key.apply(tokens), self.value.apply(tokens));
        let width = self.shape.hidden / self.shape.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut heads = Array2::zeros(tokens.raw_dim());
        for head in 0..self.shape.heads {
            let columns = Slice::from(head * width..(head + 1) * width);
            let mut weights =
                query.slice_axis(Axis(1), columns).dot(&key.slice_axis(Axis(1), columns).t()) * scale;
            weights.axis_iter_mut(Axis(0)).for_each(|mut row| {
                let highest = row.fold(f32::NEG_INFINITY, |highest, n| highest.max(*n));
                row.mapv_inplace(|n| (n - highest).exp());
                row /= row.sum();
            });
            heads.slice_axis_mut(Axis(1), columns).assign(&weights.dot(&value.slice_axis(Axis(1), columns)));
        }
        self.attention_output.apply(&heads)
    }

    fn feed_forward(&self, tokens: &Array2<f32>) -> Array2<f32> {
        let mut intermediate = self.up.apply(tokens);
        let activation = self.shape.activation;
        Zip::from(&mut intermediate).for_each(|n| *n = activation.apply(*n));
        self.down.apply(&intermediate)
    }

    fn scaled(&self, tokens: Array2<f32>, part: usize) -> Array2<f32> {
        match &self.scales {
            Some(scales) => tokens * &scales[part],
            None => tokens,
        }
    }
}

impl Activation {
    fn apply(self, n: f32) -> f32 {
        match self {
            Activation::Gelu => 0.5 * n * (1.0 + erf(n * std::f32::consts::FRAC_1_SQRT_2)),
            Activation::GeluNew => 0.5 * n * (1.0 + (0.797_884_6 * (n + 0.044_715 * n * n * n)).tanh()),
            Activation::QuickGelu => n / (1.0 + (-1.702 * n).exp()),
            Activation::Relu => n.max(0.0),
        }
    }
}

/// The error function by Abramowitz and Stegun 7.1.26, with an error below 1.5e-7: about the precision of `f32`.
fn erf(n: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * n.abs());
    let series = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_72, 0.254_829_6];
    let sum = series.into_iter().fold(0.0, |sum, factor| sum * t + factor);
    (1.0 - sum * t * (-n * n).exp()).copysign(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_have_their_known_values() {
        for (n, expected) in
            [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (-1.0, -0.842_700_8), (3.0, 0.999_978)]
        {
            assert!((erf(n) - expected).abs() < 1e-6, "erf({n}) is {}", erf(n));
        }
        let at_one = [
            (Activation::Gelu, 0.841_345),
            (Activation::GeluNew, 0.841_192),
            (Activation::QuickGelu, 0.845_796),
            (Activation::Relu, 1.0),
        ];
        for (activation, value) in at_one {
            assert!((activation.apply(1.0) - value).abs() < 1e-4, "{activation:?} {}", activation.apply(1.0));
        }
    }
}
