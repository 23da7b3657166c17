//! Image encoders of the ViT, DINOv2 and CLIP families: patches, transformer, and the class token.

mod architecture;
mod positions;
mod preprocessing;

use image::RgbImage;
use ndarray::{Array1, Array2, Axis, Slice};

use self::architecture::{Architecture, Sizes};
use self::preprocessing::Preprocessor;
use super::super::EncoderError;
use super::files::{Digest, ModelFolder, malformed};
use super::layers::{Block, LayerNorm};
use super::weights::{Weights, WeightsFile};

/// Red, green and blue.
const CHANNELS: usize = 3;

/// An image encoder in memory.
#[derive(Debug)]
pub(super) struct ImageEncoder {
    preprocessor: Preprocessor,
    /// Pixels per side of a patch.
    patch: usize,
    /// `[hidden x (channel, row, column of a patch)]`.
    patch_embedding: Array2<f32>,
    /// `[tokens x hidden]`, added to the tokens: class token and its position first, then bias and position of each patch.
    input_bias: Array2<f32>,
    first_norm: Option<LayerNorm>,
    blocks: Vec<Block>,
    last_norm: LayerNorm,
    /// The projection of a CLIP model into the space of its text encoder.
    projection: Option<Array2<f32>>,
}

impl ImageEncoder {
    pub(super) fn open(folder: &ModelFolder, digest: &mut Digest) -> Result<ImageEncoder, EncoderError> {
        let (architecture, sizes) = Architecture::read(folder, digest)?;
        let preprocessor = Preprocessor::read(folder, digest)?;
        let grid = preprocessor.grid(sizes.patch);
        if grid.contains(&0) {
            let reason = format!("makes pictures smaller than a patch of {} pixels", sizes.patch);
            return Err(malformed(&folder.file(preprocessing::FILE), reason));
        }
        let file = WeightsFile::read(folder, digest)?;
        let weights = file.weights(architecture.prefixes, architecture.positions)?;
        let Sizes { shape, patch, .. } = sizes;
        let patch_shape = [shape.hidden, CHANNELS, patch, patch];
        let input_bias = input_bias(&weights, architecture, &sizes, grid)?;
        let norm = |name| LayerNorm::load(&weights, name, &shape);
        let block =
            |at| Block::load(&weights, &format!("{}{at}.", architecture.blocks), &architecture.block, shape);
        let projection = architecture.projection.filter(|name| weights.has(name));
        Ok(ImageEncoder {
            preprocessor,
            patch,
            patch_embedding: weights.matrix_of(
                &format!("{}.weight", architecture.patches),
                &patch_shape,
                shape.hidden,
            )?,
            input_bias,
            first_norm: architecture.first_norm.map(norm).transpose()?,
            blocks: (0..sizes.layers).map(block).collect::<Result<_, _>>()?,
            last_norm: norm(architecture.last_norm)?,
            projection: projection
                .map(|name| weights.matrix(name, sizes.projected, shape.hidden))
                .transpose()?,
        })
    }

    /// Returns the vector of a picture that has pixels, not normalised.
    pub(super) fn encode(&self, picture: &RgbImage) -> Vec<f32> {
        let pixels = self.preprocessor.pixels(picture);
        let mut tokens = self.input_bias.clone();
        let mut patches = tokens.slice_axis_mut(Axis(0), Slice::from(1..));
        patches += &split(&pixels, self.patch).dot(&self.patch_embedding.t());
        if let Some(norm) = &self.first_norm {
            tokens = norm.apply(tokens);
        }
        let tokens = self.blocks.iter().fold(tokens, |tokens, block| block.apply(tokens));
        let class = self.last_norm.apply(tokens.slice_axis(Axis(0), Slice::from(..1)).to_owned());
        match &self.projection {
            Some(projection) => projection.dot(&class.row(0)).to_vec(),
            None => class.row(0).to_vec(),
        }
    }
}

/// Computes [`ImageEncoder::input_bias`], which does not depend on the picture.
fn input_bias(
    weights: &Weights<'_>,
    architecture: &Architecture,
    sizes: &Sizes,
    grid: [usize; 2],
) -> Result<Array2<f32>, EncoderError> {
    let hidden = sizes.shape.hidden;
    let side = sizes.image / sizes.patch;
    let (class, positions) = if architecture.batched {
        (vec![1, 1, hidden], vec![1, side * side + 1, hidden])
    } else {
        (vec![hidden], vec![side * side + 1, hidden])
    };
    let class = Array1::from_vec(weights.tensor(architecture.class, &class)?);
    let learned = weights.matrix_of(architecture.positions, &positions, side * side + 1)?;
    let mut input_bias = positions::interpolate(learned, side, grid);
    let mut first = input_bias.row_mut(0);
    first += &class;
    if architecture.patch_bias {
        let bias = weights.vector(&format!("{}.bias", architecture.patches), hidden)?;
        let mut rest = input_bias.slice_axis_mut(Axis(0), Slice::from(1..));
        rest += &bias;
    }
    Ok(input_bias)
}

/// Splits a picture into patches, one per row, left to right and top to bottom; incomplete patches are dropped.
fn split(pixels: &[Array2<f32>; CHANNELS], patch: usize) -> Array2<f32> {
    let (rows, columns) = (pixels[0].nrows() / patch, pixels[0].ncols() / patch);
    let mut patches = Array2::zeros((rows * columns, CHANNELS * patch * patch));
    for (at, mut row) in patches.outer_iter_mut().enumerate() {
        let (top, left) = (at / columns * patch, at % columns * patch);
        let numbers = pixels.iter().flat_map(|channel| {
            (top..top + patch).flat_map(move |y| (left..left + patch).map(move |x| channel[[y, x]]))
        });
        row.iter_mut().zip(numbers).for_each(|(to, from)| *to = from);
    }
    patches
}
