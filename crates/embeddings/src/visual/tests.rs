use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};

use super::*;

/// A disc of one colour on a background of another.
fn disc(background: [u8; 3], colour: [u8; 3]) -> RgbImage {
    RgbImage::from_fn(120, 90, |x, y| {
        let (x, y) = (x as f32 - 60.0, y as f32 - 45.0);
        Rgb(if x * x + y * y < 900.0 { colour } else { background })
    })
}

fn stripes(vertical: bool) -> RgbImage {
    RgbImage::from_fn(120, 120, |x, y| {
        let at = if vertical { x } else { y };
        Rgb(if at / 12 % 2 == 0 { [230; 3] } else { [40; 3] })
    })
}

fn cosine(one: &RgbImage, other: &RgbImage) -> f32 {
    let (one, other) = (vector(one).unwrap(), vector(other).unwrap());
    one.iter().zip(&other).map(|(a, b)| a * b).sum()
}

const PAPER: [u8; 3] = [236, 228, 206];
const RED: [u8; 3] = [178, 40, 34];
const BLUE: [u8; 3] = [40, 60, 160];

#[test]
fn numbers_are_finite_and_of_unit_length() {
    let noise = RgbImage::from_fn(77, 31, |x, y| {
        Rgb([x.wrapping_mul(97) as u8 ^ y as u8, y.wrapping_mul(61) as u8, (x * y) as u8])
    });
    let flat = [RgbImage::new(1, 1), RgbImage::from_pixel(1, 900, Rgb([255; 3])), noise, disc(PAPER, RED)];
    for picture in &flat {
        let numbers = vector(picture).unwrap();
        assert_eq!(numbers.len(), DIMENSIONS);
        let length: f32 = numbers.iter().map(|n| n * n).sum();
        assert!(numbers.iter().all(|n| n.is_finite()) && (length - 1.0).abs() < 1e-5, "{length}");
    }
    assert!((128..=192).contains(&DIMENSIONS));
}

#[test]
fn a_picture_without_pixels_has_no_vector() {
    assert_eq!(vector(&RgbImage::new(0, 7)), None);
    assert_eq!(vector(&RgbImage::new(7, 0)), None);
}

#[test]
fn the_same_picture_has_the_same_vector() {
    assert_eq!(vector(&disc(PAPER, RED)), vector(&disc(PAPER, RED)));
}

#[test]
fn size_and_slight_darkening_change_little() {
    let picture = disc(PAPER, RED);
    let larger = imageops::resize(&picture, 480, 360, FilterType::Triangle);
    assert!(cosine(&picture, &larger) > 0.97, "{}", cosine(&picture, &larger));
    let dimmer = imageops::colorops::brighten(&picture, -12);
    assert!(cosine(&picture, &dimmer) > 0.95, "{}", cosine(&picture, &dimmer));
}

#[test]
fn colours_and_directions_distinguish_pictures() {
    let (red, blue) = (disc(PAPER, RED), disc(PAPER, BLUE));
    let dark = disc([224, 220, 200], [150, 30, 40]);
    assert!(cosine(&red, &dark) > cosine(&red, &blue) + 0.05);
    let turned = stripes(false);
    assert!(cosine(&stripes(true), &turned) < 0.8, "{}", cosine(&stripes(true), &turned));
}
