//! Image encoders of the ViT, DINOv2 and CLIP families: patches, a transformer, and the token that sums the picture up.

mod architecture;
mod positions;
mod preparation;

use image::RgbImage;
use ndarray::{Array1, Array2, Axis, Slice};

use self::architecture::{Architecture, Sizes};
use self::preparation::Preparation;
use super::super::EncoderError;
use super::files::{Digest, ModelFolder, malformed};
use super::layers::{Block, Norm};
use super::weights::Bytes;

/// Red, green and blue.
const CHANNELS: usize = 3;

/// An image encoder in memory.
#[derive(Debug)]
pub(super) struct PictureModel {
    preparation: Preparation,
    /// Pixels on a side of a patch.
    patch: usize,
    /// One row an output; the inputs are the reds of a patch row by row, then the greens, then the blues.
    patches: Array2<f32>,
    /// What is added to each token: the class token and its position first, then bias and position of each patch.
    places: Array2<f32>,
    first_norm: Option<Norm>,
    blocks: Vec<Block>,
    last_norm: Norm,
    /// Into the space that a CLIP model shares with its texts.
    projection: Option<Array2<f32>>,
}

impl PictureModel {
    pub(super) fn open(folder: &ModelFolder, digest: &mut Digest) -> Result<PictureModel, EncoderError> {
        let (architecture, sizes) = Architecture::read(folder, digest)?;
        let preparation = Preparation::read(folder, digest)?;
        let grid = preparation.grid(sizes.patch);
        if grid.contains(&0) {
            let reason = format!("makes pictures smaller than a patch of {} pixels", sizes.patch);
            return Err(malformed(&folder.file(preparation::FILE), reason));
        }
        let bytes = Bytes::read(folder, digest)?;
        let weights = bytes.weights(architecture.prefixes, architecture.positions)?;
        let Sizes { shape, patch, .. } = sizes;
        let table = [shape.hidden, CHANNELS, patch, patch];
        let places = places(&weights, architecture, &sizes, grid)?;
        let norm = |name| Norm::load(&weights, name, &shape);
        let block =
            |at| Block::load(&weights, &format!("{}{at}.", architecture.blocks), &architecture.block, shape);
        let projected = architecture.projection.filter(|name| weights.has(name));
        Ok(PictureModel {
            preparation,
            patch,
            patches: weights.table_of(&format!("{}.weight", architecture.patches), &table, shape.hidden)?,
            places,
            first_norm: architecture.first_norm.map(norm).transpose()?,
            blocks: (0..sizes.layers).map(block).collect::<Result<_, _>>()?,
            last_norm: norm(architecture.last_norm)?,
            projection: projected
                .map(|name| weights.table(name, sizes.projected, shape.hidden))
                .transpose()?,
        })
    }

    /// As many numbers as the model gives, of any length. The picture has pixels.
    pub(super) fn encode(&self, picture: &RgbImage) -> Vec<f32> {
        let pixels = self.preparation.pixels(picture);
        let mut tokens = self.places.clone();
        let mut seen = tokens.slice_axis_mut(Axis(0), Slice::from(1..));
        seen += &cut(&pixels, self.patch).dot(&self.patches.t());
        if let Some(norm) = &self.first_norm {
            tokens = norm.apply(tokens);
        }
        let tokens = self.blocks.iter().fold(tokens, |tokens, block| block.apply(tokens));
        let summed = self.last_norm.apply(tokens.slice_axis(Axis(0), Slice::from(..1)).to_owned());
        match &self.projection {
            Some(projection) => projection.dot(&summed.row(0)).to_vec(),
            None => summed.row(0).to_vec(),
        }
    }
}

/// What does not depend on the picture: see [`PictureModel::places`].
fn places(
    weights: &super::weights::Weights<'_>,
    architecture: &Architecture,
    sizes: &Sizes,
    grid: [usize; 2],
) -> Result<Array2<f32>, EncoderError> {
    let hidden = sizes.shape.hidden;
    let own = sizes.image / sizes.patch;
    let (class, positions) = if architecture.batched {
        (vec![1, 1, hidden], vec![1, own * own + 1, hidden])
    } else {
        (vec![hidden], vec![own * own + 1, hidden])
    };
    let class = Array1::from_vec(weights.numbers(architecture.class, &class)?);
    let learned = weights.table_of(architecture.positions, &positions, own * own + 1)?;
    let mut places = positions::stretched(learned, own, grid);
    let mut first = places.row_mut(0);
    first += &class;
    if architecture.patch_bias {
        let bias = weights.row(&format!("{}.bias", architecture.patches), hidden)?;
        let mut rest = places.slice_axis_mut(Axis(0), Slice::from(1..));
        rest += &bias;
    }
    Ok(places)
}

/// Cuts a picture into patches, one a row, left to right and top to bottom; what is left over at the end is dropped.
fn cut(pixels: &[Array2<f32>; CHANNELS], patch: usize) -> Array2<f32> {
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
