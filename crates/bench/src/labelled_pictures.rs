//! Pictures with labels: how often those that look most alike have the same label, with and without weights, and how fast they are
//! encoded.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cli_output::say;
use embeddings::{Encoder, EncoderChoice};

use crate::Figure;

/// The file of the labels: a file, a tab and a label a line.
const LABELS: &str = "labels.tsv";
/// In the name of an encoder that has weights for pictures.
const PICTURE_MODEL: &str = "efficientnet";
// How figures name the encoders.
const BUILT_IN: &str = "built-in";
const WEIGHTS: &str = "weights";
/// The numbers of neighbours of which the share with the same label is measured, in ascending order.
const NEAREST: [usize; 2] = [5, 10];
/// The least share of the nearest five with weights.
const LEAST: f64 = 0.66;
/// The least pictures a second: 2,600 in 90 s.
const LEAST_PICTURES: f64 = 28.9;
/// The least cores with which that is the limit.
const CORES: usize = 2;

/// A picture, not yet read, and its label.
#[derive(Debug, PartialEq)]
pub struct Labelled {
    file: PathBuf,
    label: String,
}

/// Vectors with their labels.
type Encoded = Vec<(Vec<f32>, String)>;

/// Reads the labels of a folder, of its file `labels.tsv`.
///
/// # Errors
///
/// If there are none, or too few pictures.
pub fn read_labels(folder: &Path) -> Result<Vec<Labelled>> {
    let file = folder.join(LABELS);
    let text = std::fs::read_to_string(&file).with_context(|| {
        format!("{} cannot be read; name a folder of pictures that has it with --pictures", file.display())
    })?;
    let line = |(number, line): (usize, &str)| {
        let (name, label) = line.split_once('\t').with_context(|| {
            format!("line {number} of {} is not a file, a tab and a label", file.display())
        })?;
        Ok(Labelled { file: folder.join(name), label: label.to_owned() })
    };
    let labelled: Vec<Labelled> = (1..).zip(text.lines()).map(line).collect::<Result<_>>()?;
    let least = NEAREST[1] + 1;
    if labelled.len() < least {
        bail!("{} names {} pictures; at least {least} are needed", file.display(), labelled.len());
    }
    Ok(labelled)
}

/// Measures the built-in encoder, and the one with the weights of the folder `weights`, if it has weights for pictures.
///
/// # Errors
///
/// If the labels, a picture or the weights cannot be read.
pub async fn measure(weights: PathBuf, folder: &Path) -> Result<Vec<Figure>> {
    let labelled = read_labels(folder)?;
    tokio::task::spawn_blocking(move || {
        let built_in = Encoder::open(&EncoderChoice::BuiltIn)?;
        let (encoded, per_second) = encode(&built_in, &labelled)?;
        let mut figures = shares(BUILT_IN, &encoded);
        let encoder = Encoder::open(&EncoderChoice::Weights(weights.clone()))?;
        let (measured, per_second) = if encoder.name().contains(PICTURE_MODEL) {
            let (encoded, per_second) = encode(&encoder, &labelled)?;
            let mut with_weights = shares(WEIGHTS, &encoded).into_iter();
            figures.extend(with_weights.next().map(|nearest| nearest.at_least(LEAST)));
            figures.extend(with_weights);
            (WEIGHTS, per_second)
        } else {
            say(&format!(
                "there are no weights for pictures in {}, so only the built-in encoder is measured; bin/setup fetches them",
                weights.display()
            ));
            (BUILT_IN, per_second)
        };
        let rate = format!("{measured}: decoded and encoded on {} cores", cores());
        let rate = Figure::new(rate, per_second, "pictures/s");
        figures.push(if cores() >= CORES { rate.at_least(LEAST_PICTURES) } else { rate });
        Ok(figures)
    })
    .await?
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Encodes all pictures, on all cores. Returns them in their order, and the pictures a second.
fn encode(encoder: &Encoder, labelled: &[Labelled]) -> Result<(Encoded, f64)> {
    let began = Instant::now();
    let parts: Vec<Result<Encoded>> = std::thread::scope(|scope| {
        let encode = |part: &[Labelled]| part.iter().map(|one| encode_one(encoder, one)).collect();
        let parts = labelled.chunks(labelled.len().div_ceil(cores()));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || encode(part))).collect();
        running.into_iter().map(|part| part.join().unwrap_or_else(|_| bail!("an encoder panicked"))).collect()
    });
    let seconds = began.elapsed().as_secs_f64();
    let encoded: Vec<Encoded> = parts.into_iter().collect::<Result<_>>()?;
    Ok((encoded.concat(), labelled.len() as f64 / seconds))
}

fn encode_one(encoder: &Encoder, labelled: &Labelled) -> Result<(Vec<f32>, String)> {
    let Labelled { file, label } = labelled;
    let in_file = || format!("{} cannot be encoded", file.display());
    let bytes = std::fs::read(file).with_context(in_file)?;
    let decoded = pictures::decode(&bytes).with_context(in_file)?;
    Ok((encoder.visual(&decoded.pixels).with_context(in_file)?, label.clone()))
}

/// Returns the mean share of the nearest, for each number of them, that have the label of the picture to which they are near.
fn shares(encoder: &str, encoded: &Encoded) -> Vec<Figure> {
    let mut same = NEAREST.map(|_| 0);
    for (at, (vector, label)) in encoded.iter().enumerate() {
        let others = encoded.iter().enumerate().filter(|(other, _)| *other != at);
        let mut others: Vec<(f32, bool)> =
            others.map(|(_, (other, its))| (dot(vector, other), its == label)).collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (nearest, same) in NEAREST.into_iter().zip(&mut same) {
            *same += others.iter().take(nearest).filter(|(_, is_same)| *is_same).count();
        }
    }
    let figure = |(nearest, same): (usize, usize)| {
        let share = same as f64 / (nearest * encoded.len()) as f64;
        Figure::new(format!("{encoder}: same label among {nearest} in looks"), share, "share")
    };
    NEAREST.into_iter().zip(same).map(figure).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
