//! Measures whether pictures with the same label are neighbours, on real labelled pictures.
#![expect(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::path::Path;

use embeddings::{Encoder, EncoderChoice};

const NEAREST: usize = 10;

/// Returns vector and label of each picture in `labels.tsv`, which has lines of file, tab, label.
fn labelled(folder: &Path, encoder: &Encoder) -> Vec<(Vec<f32>, String)> {
    let labels = std::fs::read_to_string(folder.join("labels.tsv")).unwrap();
    labels
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(file, label)| {
            let picture = image::open(folder.join(file)).unwrap().to_rgb8();
            (encoder.visual(&picture).unwrap(), label.to_owned())
        })
        .collect()
}

fn similarity(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Returns the share of pictures with the label of picture `at`: among its nearest neighbours, and among all others.
fn shares(pictures: &[(Vec<f32>, String)], at: usize) -> (f64, f64) {
    let (vector, label) = &pictures[at];
    let mut others: Vec<(f32, bool)> = pictures
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .map(|(_, (other, its))| (similarity(vector, other), its == label))
        .collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    let share =
        |others: &[(f32, bool)]| others.iter().filter(|(_, same)| *same).count() as f64 / others.len() as f64;
    (share(&others[..NEAREST]), share(&others))
}

/// Returns the share of pictures with the same label among the nearest and among all others; `None` without pictures.
fn measured(choice: &EncoderChoice) -> Option<(f64, f64)> {
    let folder = kit::shared_data()?.join("pictures");
    if !folder.is_dir() {
        kit::skipped(format_args!("there are no labelled pictures in {}", folder.display()));
        return None;
    }
    let pictures = labelled(&folder, &Encoder::open(choice).unwrap());
    assert!(pictures.len() > NEAREST, "only {} pictures", pictures.len());
    let sums = (0..pictures.len()).map(|at| shares(&pictures, at));
    let (found, chance) = sums.fold((0.0, 0.0), |sum, share| (sum.0 + share.0, sum.1 + share.1));
    Some((found / pictures.len() as f64, chance / pictures.len() as f64))
}

#[test]
fn neighbours_share_a_label_three_times_as_often_as_random_pictures() {
    let Some((found, chance)) = measured(&EncoderChoice::BuiltIn) else { return };
    assert!(found >= 3.0 * chance, "{found:.3} of the {NEAREST} nearest, {chance:.3} of random pictures");
}

#[test]
fn with_weights_four_of_five_neighbours_share_a_label() {
    let Some(weights) = kit::weights() else { return };
    let Some((found, _)) = measured(&EncoderChoice::Weights(weights)) else { return };
    assert!(found >= 0.8, "{found:.3} of the {NEAREST} nearest");
}
