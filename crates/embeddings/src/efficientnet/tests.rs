use std::collections::HashMap;

use image::Rgb;

use super::*;

/// Returns features that onnxruntime computed with graphs of its own, with padding `SAME_UPPER`: from the delivered file with batch
/// normalisations apart; from the converted file where the name ends so. The Python Imaging Library scaled `bands`.
fn golden(name: &str) -> Vec<f32> {
    let pictures: HashMap<String, Vec<f32>> = serde_json::from_str(include_str!("golden.json")).unwrap();
    pictures[name].clone()
}

fn pattern() -> RgbImage {
    RgbImage::from_fn(224, 224, |x, y| Rgb([(x * 2) as u8, (y * 2) as u8, (x ^ y) as u8]))
}

fn disc() -> RgbImage {
    RgbImage::from_fn(224, 224, |x, y| {
        let inside = x.abs_diff(112).pow(2) + y.abs_diff(90).pow(2) < 70 * 70;
        Rgb(if inside { [200 - x / 4, 90 + y / 4, 40] } else { [30, 60 + x / 2, 120 + y / 2] }
            .map(|n| n as u8))
    })
}

/// A picture that must be scaled.
fn bands() -> RgbImage {
    RgbImage::from_fn(300, 160, |x, y| {
        Rgb([x * y / 64 % 256, x / 20 % 2 * 180 + y % 60, 255 - y * 255 / 159].map(|n| n as u8))
    })
}

fn network() -> Option<EfficientNet> {
    Some(crate::weights::efficientnet(&kit::weights()?).unwrap().unwrap())
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Four digits: the largest feature is about 0.2.
fn assert_same(features: &[f32], golden: &[f32]) {
    assert_eq!(features.len(), golden.len());
    let differences = features.iter().zip(golden).map(|(a, b)| (a - b).abs());
    let largest = differences.fold(0.0, f32::max);
    assert!(largest < 1e-5, "a feature differs by {largest}");
}

#[test]
fn features_are_those_of_another_implementation() {
    let Some(network) = network() else { return };
    assert_same(&network.features(&pattern()), &golden("pattern converted"));
    assert_same(&network.features(&disc()), &golden("disc converted"));
}

/// What half precision and another program's scaling cost.
#[test]
fn converting_and_scaling_hardly_change_features() {
    let Some(network) = network() else { return };
    for (name, picture) in [("pattern", pattern()), ("disc", disc()), ("bands", bands())] {
        let cosine = cosine(&network.features(&picture), &golden(name));
        assert!(cosine > 0.9995, "{name}: {cosine}");
    }
}

/// The delivered files are removed once they are converted, so this runs where `bin/setup` has just been.
#[test]
fn the_delivered_file_has_the_features_of_another_implementation() {
    let Some(file) = kit::weights().map(|folder| folder.join("download/efficientnet-lite0-57934424.pth"))
    else {
        return;
    };
    let Ok(file) = std::fs::read(&file) else {
        kit::skipped(format_args!("there is no {}", file.display()));
        return;
    };
    let network = EfficientNet::new(convert(&file).unwrap().into_iter()).unwrap();
    assert_same(&network.features(&pattern()), &golden("pattern"));
    assert_same(&network.features(&disc()), &golden("disc"));
}

#[test]
fn every_shape_of_picture_has_features() {
    let Some(network) = network() else { return };
    for (width, height) in [(1, 1), (8_000, 10), (10, 8_000)] {
        let picture = RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, 90]));
        let features = network.features(&picture);
        assert_eq!(features.len(), FEATURES);
        let length = cosine(&features, &features);
        assert!((length - 1.0).abs() < 1e-5, "{width} x {height}: {length}");
    }
}

#[test]
fn padding_is_that_of_tensorflow() {
    let window = |side, kernel, stride| Window { side, kernel, stride };
    let first_and_last = |window: &Window| (window.at(0), window.at(window.outputs() - 1));
    assert_eq!(
        first_and_last(&window(224, 3, 2)),
        ((0..3, 0), (0..2, 222)),
        "a column after the input, none before"
    );
    assert_eq!(first_and_last(&window(56, 5, 2)), ((1..5, 0), (0..3, 53)), "one before, two after");
    assert_eq!(first_and_last(&window(7, 5, 1)), ((2..5, 0), (0..3, 4)));
    assert_eq!(window(7, 5, 1).at(3), (0..5, 1));
}

#[test]
fn weights_of_another_length_are_no_network() {
    let count = layer_shapes().iter().map(|[rows, columns]| (rows + 1) * columns).sum::<usize>();
    assert_eq!(count, 3_350_000);
    assert!(EfficientNet::new(vec![0.0; count - 1].into_iter()).is_none());
    assert!(EfficientNet::new(vec![0.0; count + 1].into_iter()).is_none());
    assert!(convert(&[0; 100_000]).is_none());
}
